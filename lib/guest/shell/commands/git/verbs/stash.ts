/** `git stash`: changes put aside as commits below `refs/stash`. */
import { changesBetween } from '../changes.ts';
import { parseCommandLine } from '../command-line.ts';
import { identity } from '../configuration.ts';
import { DIFF_OPTIONS, diffStyle, diffText, readObjects } from '../diff-output.ts';
import type { GitContext } from '../git-context.ts';
import { GitError, unsupported } from '../git-error.ts';
import { mergedTrees } from '../merged-trees.ts';
import { formatCommit } from '../objects.ts';
import { noteHead, noteReference } from '../reference-log.ts';
import { type FileMap, indexFiles, type Repository } from '../repository.ts';
import { logLines, short } from '../revisions.ts';
import { longStatus, repositoryStatus } from '../status.ts';
import { checkOutTree } from '../tree-switch.ts';
import { modeOf, removeWorkFile, trackedStates, untrackedPaths, workContent, writeWorkFile } from '../work-tree.ts';

const REFERENCE = 'refs/stash';
const NOTHING = 'No local changes to save';

export async function stash(context: GitContext, args: string[]): Promise<number> {
  const [verb = 'push', ...rest] = args[0]?.startsWith('-') ? ['push', ...args] : args;
  switch (verb) {
    case 'push':
    case 'save':
      return push(context, rest, verb === 'save');
    case 'list':
      return list(context);
    case 'show':
      return show(context, rest);
    case 'pop':
    case 'apply':
      return apply(context, rest, verb === 'pop');
    case 'drop':
      return drop(context, rest);
    case 'clear':
      await save(context, []);
      return 0;
    default:
      throw unsupported(`git stash ${verb} is`);
  }
}

async function push(context: GitContext, args: string[], isSave: boolean): Promise<number> {
  const line = parseCommandLine(args, {
    'm,message': 'value',
    'u,include-untracked': 'flag',
    'q,quiet': 'flag',
    'no-keep-index': 'flag',
  });
  if (!isSave && (line.operands.length > 0 || (line.paths ?? []).length > 0))
    throw unsupported('git stash of single paths is');
  const repository = await context.repository();
  const head = await repository.headCommit();
  if (head === null) throw new GitError('You do not have the initial commit yet', 1);
  const entries = await repository.index();
  if (entries.some(({ stage }) => stage > 0)) throw new GitError('error: could not write index', 1);
  const index = indexFiles(entries);
  const work: FileMap = new Map();
  for (const { entry, file } of await trackedStates(repository, entries)) {
    if (file !== null)
      work.set(
        entry.path,
        file.oid === entry.oid
          ? file
          : { ...file, oid: await repository.writeBlob(await workContent(repository, entry.path)) },
      );
  }
  const fresh = line.has('include-untracked')
    ? (await untrackedPaths(repository, entries, { folders: false })).filter((path) => !path.endsWith('/'))
    : [];
  const committed = await repository.treeFiles(head);
  if (fresh.length === 0 && changesBetween(committed, index).length === 0 && changesBetween(index, work).length === 0) {
    if (!line.has('quiet')) context.out.line(NOTHING);
    return 0;
  }
  const person = await identity(context, 'COMMITTER');
  const branch = (await repository.currentBranch()) ?? '(no branch)';
  const subject = `${branch}: ${short(head)} ${(await repository.commit(head)).message.split('\n')[0]}`;
  const given = line.value('message') ?? (isSave && line.operands.length > 0 ? line.operands.join(' ') : undefined);
  const message = given === undefined ? `WIP on ${subject}` : `On ${branch}: ${given}`;
  const write = async (files: FileMap, parents: string[], text: string) =>
    repository.writeRaw(
      'commit',
      formatCommit({
        tree: await repository.writeTree(files),
        parents,
        author: person,
        committer: person,
        message: text,
      }),
    );
  const parents = [head, await write(index, [head], `index on ${subject}\n`)];
  if (line.has('include-untracked'))
    parents.push(await write(await freshFiles(repository, fresh), [], `untracked files on ${subject}\n`));
  const oid = await write(work, parents, message);
  const before = await repository.reference(REFERENCE);
  await repository.setReference(REFERENCE, oid);
  await noteReference(context, REFERENCE, before, oid, message);
  await checkOutTree(context, head, head, { force: true });
  await noteHead(context, head, head, 'reset: moving to HEAD', { branch: false });
  for (const path of fresh) await removeWorkFile(repository, path, context.cwd);
  if (!line.has('quiet')) context.out.line(`Saved working directory and index state ${message}`);
  return 0;
}

async function freshFiles(repository: Repository, paths: readonly string[]): Promise<FileMap> {
  const files: FileMap = new Map();
  for (const path of paths) {
    const mode = modeOf(await repository.files.lstat(`${repository.workTree}/${path}`));
    files.set(path, { mode, oid: await repository.writeBlob(await workContent(repository, path)) });
  }
  return files;
}

interface StashEntry {
  number: number;
  oid: string;
  /** Its line in the log. */
  line: string;
  message: string;
}

/** The latest first. */
async function stashes(repository: Repository): Promise<StashEntry[]> {
  const lines = (await logLines(repository, REFERENCE)).toReversed();
  return lines.map((line, number) => ({
    number,
    oid: line.split(' ')[1] ?? '',
    line,
    message: line.slice(line.indexOf('\t') + 1),
  }));
}

async function list(context: GitContext): Promise<number> {
  for (const { number, message } of await stashes(await context.repository()))
    context.out.line(`stash@{${number}}: ${message}`);
  return 0;
}

async function chosen(context: GitContext, name: string | undefined): Promise<StashEntry> {
  const all = await stashes(await context.repository());
  if (all.length === 0) throw new GitError('No stash entries found.', 1);
  const number = Number(/^(?:stash@\{)?(\d+)\}?$/.exec(name ?? '0')?.[1] ?? Number.NaN);
  const entry = all[number];
  if (entry === undefined) throw new GitError(`error: ${name} is not a valid reference`, 1);
  return entry;
}

async function show(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, DIFF_OPTIONS);
  const repository = await context.repository();
  const { oid } = await chosen(context, line.operands[0]);
  const { parents } = await repository.commit(oid);
  const changes = changesBetween(await repository.treeFiles(parents[0] ?? null), await repository.treeFiles(oid));
  context.out.bytes(await diffText(changes, readObjects(repository), diffStyle(line, ['stat'])));
  return 0;
}

async function apply(context: GitContext, args: string[], drops: boolean): Promise<number> {
  const line = parseCommandLine(args, { index: 'flag', 'q,quiet': 'flag' });
  const repository = await context.repository();
  const entry = await chosen(context, line.operands[0]);
  const commit = await repository.commit(entry.oid);
  const [base = null, stagedCommit, freshCommit] = commit.parents;
  const head = await repository.headCommit();
  const entries = await repository.index();
  const current = await repository.writeTree(indexFiles(entries));
  const merged = await mergedTrees(
    repository,
    { base, ours: current, theirs: entry.oid },
    { ours: 'Updated upstream', theirs: 'Stashed changes' },
  );
  // Git says it where the work tree had no changes but new files, also with `-q`.
  if (base !== null && (await repository.commit(base)).tree === commit.tree) context.out.line('Already up to date.');
  const fresh = freshCommit === undefined ? new Map() : await repository.treeFiles(freshCommit);
  for (const path of fresh.keys()) {
    if ((await context.files.lstatOrNull(`${repository.workTree}/${path}`)) !== null)
      throw new GitError(`${path} already exists, no checkout\nerror: could not restore untracked files from stash`, 1);
  }
  const tree = await repository.writeTree(merged.files);
  await checkOutTree(context, current, tree, { what: 'merge' });
  for (const [path, file] of fresh) await writeWorkFile(repository, path, file);
  for (const text of merged.messages) context.out.line(text);
  await restage(repository, {
    head,
    current,
    merged: merged.files,
    conflicts: merged.conflicts,
    staged: line.has('index') && stagedCommit !== undefined ? await repository.treeFiles(stagedCommit) : null,
  });
  if (!line.has('quiet')) {
    const status = await repositoryStatus(repository, {
      untracked: 'normal',
      ignored: false,
      matches: () => true,
      renames: true,
    });
    context.out.text(longStatus(status, { from: await context.prefix(), showsUntracked: true }));
  }
  if (merged.conflicts.length > 0) {
    if (drops) context.out.line('The stash entry is kept in case you need it again.');
    return 1;
  }
  if (drops) await remove(context, entry, line.has('quiet'));
  return 0;
}

/** The index as it was, with what the stash added; with `staged`, what was staged then. */
async function restage(
  repository: Repository,
  {
    current,
    merged,
    conflicts,
    staged,
  }: {
    head: string | null;
    current: string;
    merged: FileMap;
    conflicts: Awaited<ReturnType<typeof mergedTrees>>['conflicts'];
    staged: FileMap | null;
  },
): Promise<void> {
  const before = await repository.treeFiles(current);
  const files: FileMap = new Map(staged ?? before);
  if (staged === null) for (const [path, file] of merged) if (!before.has(path)) files.set(path, file);
  const inConflict = new Set(conflicts.map(({ path }) => path));
  const known = new Map((await repository.index()).map((entry) => [entry.path, entry]));
  const entries = [...files]
    .filter(([path]) => !inConflict.has(path))
    .map(([path, file]) => {
      const entry = known.get(path);
      return entry?.oid === file.oid && entry.mode === file.mode
        ? entry
        : { path, ...file, stage: 0, size: 0, mtimeSeconds: 0 };
    });
  await repository.saveIndex([...entries, ...conflicts]);
}

async function drop(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, { 'q,quiet': 'flag' });
  await remove(context, await chosen(context, line.operands[0]), line.has('quiet'));
  return 0;
}

async function remove(context: GitContext, entry: StashEntry, quiet: boolean): Promise<void> {
  const rest = (await stashes(await context.repository())).filter(({ number }) => number !== entry.number);
  await save(context, rest.toReversed());
  if (!quiet)
    context.out.line(`Dropped ${entry.number === 0 ? `refs/stash@{0}` : `stash@{${entry.number}}`} (${entry.oid})`);
}

/** Writes the log anew, the oldest first. */
async function save(context: GitContext, entries: readonly StashEntry[]): Promise<void> {
  const repository = await context.repository();
  const latest = entries.at(-1);
  if (latest === undefined) {
    if ((await repository.reference(REFERENCE)) !== null) await repository.deleteReference(REFERENCE);
    await context.files.remove(`${repository.gitdir}/logs/${REFERENCE}`);
    return;
  }
  await repository.setReference(REFERENCE, latest.oid);
  await context.files.write(`${repository.gitdir}/logs/${REFERENCE}`, entries.map(({ line }) => `${line}\n`).join(''));
}
