/** `git log`, `show` and `reflog`. */
import { changesBetween, type TreeChange, withRenames } from '../changes.ts';
import { combinedText } from '../combined-diff.ts';
import { parseCommandLine } from '../command-line.ts';
import { commitFilter, FILTER_OPTIONS, givenNumber, givenSeconds } from '../commit-filter.ts';
import { DIFF_OPTIONS, type DiffStyle, diffStyle, diffText, readObjects } from '../diff-output.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, unsupported } from '../git-error.ts';
import { commitsFrom } from '../history.ts';
import { decorations, formattedCommit, LOG_FORMATS, type LogFormat, logFormat, tagText } from '../log-format.ts';
import { type CommitObject, parseTag, parseTree } from '../objects.ts';
import { isBinaryContent } from '../patch-text.ts';
import type { Pathspec } from '../pathspec.ts';
import { type Repository, TREE_MODE } from '../repository.ts';
import { logLines, requireRevision, short } from '../revisions.ts';
import { splitArguments } from './diff.ts';
import { revisionRange } from './inspect.ts';

const LOG_OPTIONS = {
  ...DIFF_OPTIONS,
  ...LOG_FORMATS,
  ...FILTER_OPTIONS,
  'n,max-count': 'value',
  skip: 'value',
  all: 'flag',
  branches: 'flag',
  reverse: 'flag',
  'first-parent': 'flag',
  follow: 'flag',
} as const;

export async function log(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, LOG_OPTIONS);
  const repository = await context.repository();
  const { names, paths } = await splitArguments(context, repository, line.operands, line.paths);
  const spec = await context.pathspec(paths);
  const { from, without } = await revisionRange(context, names, line.has('all') || line.has('branches'));
  if (names.length === 0 && from.length === 0) {
    const head = await repository.headCommit();
    if (head === null)
      throw fatal(`your current branch '${await repository.currentBranch()}' does not have any commits yet`);
    from.push(head);
  }
  const style = diffStyle(line, []);
  const format = logFormat(line);
  const most = givenNumber(line, 'max-count') ?? Number.POSITIVE_INFINITY;
  const skip = givenNumber(line, 'skip') ?? 0;
  const matches = commitFilter(line);
  const chosen: { commit: CommitObject; changes: TreeChange[] | null }[] = [];
  let skipped = 0;
  let follows = line.has('follow') ? (spec.plain[0]?.path ?? null) : null;
  if (most > 0) {
    const since = givenSeconds(line, 'since');
    for await (const commit of commitsFrom(repository, from, {
      without,
      since,
      firstParent: line.has('first-parent'),
    })) {
      if (!matches(commit)) continue;
      let changes: TreeChange[] | null = null;
      if (!spec.isEmpty) {
        changes = await changesOf(repository, commit, spec, follows);
        if (changes.length === 0) continue;
        const renamed: TreeChange | undefined = changes.find(({ path, status }) => path === follows && status === 'R');
        if (renamed !== undefined) follows = renamed.from;
      }
      skipped += 1;
      if (skipped <= skip) continue;
      chosen.push({ commit, changes });
      if (chosen.length >= most) break;
    }
  }
  if (line.has('reverse')) chosen.reverse();
  const names2 = format.decorates ? await decorations(repository) : new Map<string, string[]>();
  for (const [at, { commit, changes }] of chosen.entries()) {
    await printCommit(context, repository, commit, {
      format,
      style,
      isFirst: at === 0,
      refs: names2.get(commit.oid) ?? [],
      changes,
    });
  }
  return 0;
}

/** What a commit changed from its first parent, of the paths that are wanted. */
async function changesOf(
  repository: Repository,
  commit: CommitObject,
  spec: Pathspec,
  follows: string | null,
): Promise<TreeChange[]> {
  const after = await repository.treeFiles(commit.oid);
  const plain = changesBetween(await repository.treeFiles(commit.parents[0] ?? null), after);
  // A merge that took a path from one of its parents is not listed for it.
  if (commit.parents.length > 1) {
    if (follows !== null) return [];
    for (const parent of commit.parents) {
      const changes = changesBetween(await repository.treeFiles(parent), after);
      if (!changes.some(({ path }) => spec.matches(path))) return [];
    }
  }
  if (follows === null) return plain.filter(({ path }) => spec.matches(path));
  return (await withRenames(plain, readObjects(repository))).filter(({ path }) => path === follows);
}

async function printCommit(
  context: GitContext,
  repository: Repository,
  commit: CommitObject,
  {
    format,
    style,
    isFirst,
    refs,
    changes,
    showsMerges = false,
  }: {
    format: LogFormat;
    style: DiffStyle;
    isFirst: boolean;
    refs: string[];
    changes: TreeChange[] | null;
    showsMerges?: boolean;
  },
): Promise<void> {
  const { out } = context;
  if (!isFirst) out.text(format.between);
  out.text(formattedCommit(commit, format, refs));
  if (style.kinds.length === 0 || (commit.parents.length > 1 && !showsMerges)) return;
  const all =
    changes ??
    changesBetween(await repository.treeFiles(commit.parents[0] ?? null), await repository.treeFiles(commit.oid));
  const text = await diffText(all, readObjects(repository), style);
  if (text === '') return;
  const isTogether = style.kinds.includes('patch') && style.kinds.length > 1;
  if (format.separates && format.template !== '') out.line();
  if (isTogether) out.text('---\n');
  else if (!format.isBrief && !format.separates && format.template !== '') out.line();
  out.bytes(text);
}

export async function show(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { ...DIFF_OPTIONS, ...LOG_FORMATS, 'n,max-count': 'value', 'no-walk': 'flag' });
  if (Number(line.value('max-count') ?? 1) !== 1) throw unsupported('git show of a number of commits is');
  const repository = await context.repository();
  const { names, paths } = await splitArguments(context, repository, line.operands, line.paths);
  const spec = await context.pathspec(paths);
  const style = diffStyle(line, ['patch']);
  const format = logFormat(line);
  const refs = format.decorates ? await decorations(repository) : new Map<string, string[]>();
  let isFirst = true;
  for (const name of names.length > 0 ? names : ['HEAD']) {
    if (names.length === 0 && (await repository.headCommit()) === null)
      throw fatal(`your current branch '${await repository.currentBranch()}' does not have any commits yet`);
    let oid = await requireRevision(repository, name);
    let object = await repository.object(oid);
    while (object.type === 'tag') {
      const found = parseTag(object.content);
      if (!isFirst) context.out.line();
      context.out.text(tagText(found, format));
      oid = found.object;
      object = await repository.object(oid);
    }
    if (object.type === 'blob') context.out.bytes(object.content.toString('latin1'));
    else if (object.type === 'tree') {
      context.out.line(`tree ${name}\n`);
      for (const entry of parseTree(object.content))
        context.out.line(`${entry.name}${entry.mode === TREE_MODE ? '/' : ''}`);
    } else {
      const commit = await repository.commit(oid);
      const all = changesBetween(
        await repository.treeFiles(commit.parents[0] ?? null),
        await repository.treeFiles(oid),
      );
      await printCommit(context, repository, commit, {
        format,
        style,
        isFirst,
        refs: refs.get(oid) ?? [],
        changes: all.filter(({ path }) => spec.matches(path)),
        showsMerges: !style.kinds.includes('patch'),
      });
      if (commit.parents.length > 1 && style.kinds.includes('patch')) {
        const text = await combinedChanges(repository, commit, spec);
        if (text !== '') context.out.bytes(`\n${text}`);
      }
    }
    isFirst = false;
  }
  return 0;
}

/** What a merge of two made of files that both sides have otherwise, as bytes (one char each). */
async function combinedChanges(repository: Repository, commit: CommitObject, spec: Pathspec): Promise<string> {
  const [first, second, ...more] = commit.parents;
  if (first === undefined || second === undefined || more.length > 0) return '';
  const [ours, theirs, result] = [
    await repository.treeFiles(first),
    await repository.treeFiles(second),
    await repository.treeFiles(commit.oid),
  ];
  const parts: string[] = [];
  for (const [path, file] of result) {
    const [mine, yours] = [ours.get(path), theirs.get(path)];
    if (!spec.matches(path) || !mine || !yours || mine.oid === file.oid || yours.oid === file.oid) continue;
    const contents = await Promise.all([mine, yours, file].map(({ oid }) => repository.blob(oid)));
    if (contents.some(isBinaryContent)) continue;
    const [left = '', right = '', made = ''] = contents.map((content) => content.toString('latin1'));
    const sides = { ours: { content: left, oid: mine.oid }, theirs: { content: right, oid: yours.oid } };
    parts.push(combinedText({ path, ...sides, result: { content: made, oid: file.oid } }));
  }
  return parts.join('');
}

export async function reflog(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { 'n,max-count': 'value', 'no-abbrev': 'flag', oneline: 'flag' });
  const [first, ...more] = line.operands;
  if (['expire', 'delete', 'exists'].includes(first ?? '')) throw unsupported(`git reflog ${first} is`);
  const name = (first === 'show' ? more[0] : first) ?? 'HEAD';
  const repository = await context.repository();
  const full = name === 'HEAD' ? 'HEAD' : name === 'stash' ? 'refs/stash' : `refs/heads/${name}`;
  const lines = (await logLines(repository, full))
    .toReversed()
    .slice(0, Number(line.value('max-count') ?? Number.POSITIVE_INFINITY));
  for (const [at, text] of lines.entries()) {
    const oid = text.split(' ')[1] ?? '';
    context.out.line(`${short(oid)} ${name}@{${at}}: ${text.slice(text.indexOf('\t') + 1)}`);
  }
  return 0;
}
