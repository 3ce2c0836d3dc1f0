/** `git cherry-pick` and `revert`: the change of a commit, or its reverse, made again on HEAD. */
import { type CommandLine, parseCommandLine } from '../command-line.ts';
import { identity } from '../configuration.ts';
import type { GitContext } from '../git-context.ts';
import { failure, fatal, GitError } from '../git-error.ts';
import { commitsFrom } from '../history.ts';
import { subjectOf } from '../log-format.ts';
import { mergedTrees } from '../merged-trees.ts';
import { type CommitObject, formatCommit } from '../objects.ts';
import { indexFiles, type Repository } from '../repository.ts';
import { requireCommit, revision, short } from '../revisions.ts';
import { longStatus, repositoryStatus } from '../status.ts';
import { checkOutTree } from '../tree-switch.ts';
import { commit as commitVerb, report, requireMerged } from './commit.ts';
import { revisionRange } from './inspect.ts';
import { moveHead } from './staging.ts';

type Verb = 'cherry-pick' | 'revert';

/** Where the commit is named whose replay stopped. */
const HEADS = { 'cherry-pick': 'CHERRY_PICK_HEAD', revert: 'REVERT_HEAD' } as const;
const OPTIONS = {
  'n,no-commit': 'flag',
  'm,mainline': 'value',
  'no-edit': 'flag',
  x: 'flag',
  's,signoff': 'flag',
  'allow-empty': 'flag',
  abort: 'flag',
  continue: 'flag',
  skip: 'flag',
  quit: 'flag',
} as const;
type Line = CommandLine<keyof typeof OPTIONS | 'no-commit' | 'mainline' | 'signoff'>;

export function cherryPick(context: GitContext, args: string[]): Promise<number> {
  return replay(context, 'cherry-pick', parseCommandLine(args, OPTIONS));
}

export function revert(context: GitContext, args: string[]): Promise<number> {
  const { x: _, 'allow-empty': __, ...options } = OPTIONS;
  return replay(context, 'revert', parseCommandLine(args, options) as Line);
}

async function replay(context: GitContext, verb: Verb, line: Line): Promise<number> {
  const repository = await context.repository();
  if (line.has('abort')) return abort(context, repository, verb);
  if (line.has('continue')) return resume(context, repository, verb, line);
  if (line.has('skip')) return skip(context, repository, verb, line);
  if (line.has('quit')) {
    await forgetReplay(repository);
    return 0;
  }
  if (line.operands.length === 0) throw new GitError(`usage: git ${verb} [<options>] <commit-ish>...`, 129);
  const chosen = await chosenCommits(context, repository, line.operands, verb);
  const head = await repository.headCommit();
  if (head === null)
    throw fatal(`your current branch '${await repository.currentBranch()}' does not have any commits yet`);
  if ((await inProgress(repository)) !== null)
    throw fatal(
      `a cherry-pick or revert is in progress: conclude it with --continue, --skip or --abort\nfatal: ${verb} failed`,
    );
  if (chosen.length > 1) await context.files.write(`${repository.gitdir}/sequencer/head`, `${head}\n`);
  return replayAll(context, repository, verb, chosen, line);
}

/** The oldest first of a range, otherwise as they are given. */
async function chosenCommits(
  context: GitContext,
  repository: Repository,
  names: readonly string[],
  verb: Verb,
): Promise<CommitObject[]> {
  if (!names.some((name) => name.includes('..') || name.startsWith('^')))
    return Promise.all(
      names.map(async (name) => {
        if ((await revision(repository, name)) === null) throw fatal(`bad revision '${name}'`);
        return repository.commit(await requireCommit(repository, name));
      }),
    );
  const { from, without } = await revisionRange(context, names);
  const found: CommitObject[] = [];
  for await (const commit of commitsFrom(repository, from, { without })) found.push(commit);
  if (found.length === 0) throw failure(`empty commit set passed\nfatal: ${verb} failed`);
  return verb === 'revert' ? found : found.reverse();
}

async function replayAll(
  context: GitContext,
  repository: Repository,
  verb: Verb,
  commits: readonly CommitObject[],
  line: Line,
): Promise<number> {
  for (const [at, commit] of commits.entries()) {
    const exitCode = await replayOne(context, repository, verb, commit, line);
    if (exitCode === 0) continue;
    if (await context.files.exists(`${repository.gitdir}/sequencer/head`)) {
      const word = verb === 'revert' ? 'revert' : 'pick';
      const open = commits.slice(at).map((one) => `${word} ${short(one.oid)} ${subjectOf(one)}\n`);
      await context.files.write(`${repository.gitdir}/sequencer/todo`, open.join(''));
    }
    return exitCode;
  }
  await context.files.removeTree(`${repository.gitdir}/sequencer`);
  return 0;
}

async function replayOne(
  context: GitContext,
  repository: Repository,
  verb: Verb,
  commit: CommitObject,
  line: Line,
): Promise<number> {
  const parent = parentOf(commit, line.value('mainline'), verb);
  const head = (await repository.headCommit()) ?? '';
  const entries = await repository.index();
  requireMerged(context, entries, verb === 'revert' ? 'Reverting' : 'Cherry-picking');
  const staged = await repository.writeTree(indexFiles(entries));
  if (!line.has('no-commit') && staged !== (await repository.commit(head)).tree)
    throw new GitError(
      `error: your local changes would be overwritten by ${verb}.\nhint: commit your changes or stash them to proceed.\nfatal: ${verb} failed`,
      128,
    );
  const name = `${short(commit.oid)} (${subjectOf(commit)})`;
  const [base, theirs] = verb === 'revert' ? [commit.oid, parent] : [parent, commit.oid];
  const merged = await mergedTrees(
    repository,
    { base, ours: staged, theirs },
    { ours: 'HEAD', theirs: verb === 'revert' ? `parent of ${name}` : name },
  );
  const tree = await repository.writeTree(merged.files);
  try {
    await checkOutTree(context, staged, tree, { what: 'merge' });
  } catch (error) {
    throw error instanceof GitError && error.exitCode === 1
      ? new GitError(`${error.message}\nfatal: ${verb} failed`, 128)
      : error;
  }
  for (const text of merged.messages) context.out.line(text);
  const message = await messageOf(context, commit, parent, verb, line);
  if (merged.conflicts.length > 0) {
    const paths = new Set(merged.conflicts.map(({ path }) => path));
    const kept = (await repository.index()).filter(({ path }) => !paths.has(path));
    await repository.saveIndex([...kept, ...merged.conflicts]);
    const listed = [...paths].map((path) => `#\t${path}\n`).join('');
    await context.files.write(`${repository.gitdir}/MERGE_MSG`, `${message}\n# Conflicts:\n${listed}`);
    if (!line.has('no-commit')) await context.files.write(`${repository.gitdir}/${HEADS[verb]}`, `${commit.oid}\n`);
    context.out.errorLine(
      `error: could not ${verb === 'revert' ? 'revert' : 'apply'} ${short(commit.oid)}... ${subjectOf(commit)}\n${hint(verb, line.has('no-commit'))}`,
    );
    return 1;
  }
  if (line.has('no-commit')) {
    await context.files.write(`${repository.gitdir}/MERGE_MSG`, message);
    return 0;
  }
  if (tree === staged && !isEmptyAllowed(line, commit, await parentTree(repository, parent), verb))
    return stopAtEmpty(context, repository, verb, commit, message);
  const committer = await identity(context, 'COMMITTER');
  const author = verb === 'revert' ? await identity(context, 'AUTHOR') : commit.author;
  const made = { tree, parents: [head], author, committer, message };
  for (const hook of ['prepare-commit-msg', 'post-commit']) repository.hooks.add(hook);
  const oid = await repository.writeRaw('commit', formatCommit(made));
  await moveHead(context, oid, `${verb}: ${subjectOf({ message })}`);
  await report(context, repository, { ...made, oid }, { isAmended: true });
  return 0;
}

async function parentTree(repository: Repository, parent: string | null): Promise<string | null> {
  return parent === null ? null : (await repository.commit(parent)).tree;
}

/** A commit that changed nothing itself is picked only where that is allowed. */
function isEmptyAllowed(line: Line, commit: CommitObject, before: string | null, verb: Verb): boolean {
  return verb === 'cherry-pick' && line.has('allow-empty') && commit.tree === before;
}

/** The side that a change is seen from. Throws where a merge is named without one. */
function parentOf(commit: CommitObject, given: string | undefined, verb: Verb): string | null {
  const { oid, parents } = commit;
  if (given === undefined) {
    if (parents.length > 1) throw failureOf(verb, `commit ${oid} is a merge but no -m option was given.`);
    return parents[0] ?? null;
  }
  const number = Number(given);
  if (!Number.isInteger(number) || number < 1)
    throw new GitError("error: option `mainline' expects a number greater than zero", 129);
  const parent = parents[number - 1];
  if (parent === undefined) throw failureOf(verb, `commit ${oid} does not have parent ${number}`);
  return parent;
}

function failureOf(verb: Verb, message: string): GitError {
  return new GitError(`error: ${message}\nfatal: ${verb} failed`, 128);
}

async function messageOf(
  context: GitContext,
  commit: CommitObject,
  parent: string | null,
  verb: Verb,
  line: Line,
): Promise<string> {
  let { message } = commit;
  if (verb === 'revert') {
    const from = commit.parents.length > 1 ? `, reversing\nchanges made to ${parent}` : '';
    message = `Revert "${subjectOf(commit)}"\n\nThis reverts commit ${commit.oid}${from}.\n`;
  } else if (line.has('x')) message = withTrailer(message, `(cherry picked from commit ${commit.oid})`);
  if (!line.has('signoff')) return message;
  const { name, email } = await identity(context, 'COMMITTER');
  return withTrailer(message, `Signed-off-by: ${name} <${email}>`);
}

/** A trailer follows others directly, and a text after a blank line. */
function withTrailer(message: string, trailer: string): string {
  const text = message.trimEnd();
  const paragraphs = text.split(/\n\s*\n/);
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? '') : '';
  const hasTrailers =
    last !== '' && last.split('\n').every((one) => /^(?:[A-Za-z0-9-]+: |\(cherry picked from )/.test(one));
  return `${text}${hasTrailers ? '\n' : '\n\n'}${trailer}\n`;
}

function hint(verb: Verb, staysOpen: boolean): string {
  const resolve =
    "hint: after resolving the conflicts, mark the corrected paths\nhint: with 'git add <paths>' or 'git rm <paths>'";
  if (staysOpen) return resolve;
  return `hint: After resolving the conflicts, mark them with
hint: "git add/rm <pathspec>", then run
hint: "git ${verb} --continue".
hint: You can instead skip this commit with "git ${verb} --skip".
hint: To abort and get back to the state before "git ${verb}",
hint: run "git ${verb} --abort".`;
}

async function stopAtEmpty(
  context: GitContext,
  repository: Repository,
  verb: Verb,
  commit: CommitObject,
  message: string,
): Promise<number> {
  if (verb === 'cherry-pick') {
    await context.files.write(`${repository.gitdir}/CHERRY_PICK_HEAD`, `${commit.oid}\n`);
    await context.files.write(`${repository.gitdir}/MERGE_MSG`, message);
    context.out.errorLine(
      "The previous cherry-pick is now empty, possibly due to conflict resolution.\nIf you wish to commit it anyway, use:\n\n    git commit --allow-empty\n\nOtherwise, please use 'git cherry-pick --skip'",
    );
  }
  const all = { untracked: 'normal', ignored: false, matches: () => true, renames: true } as const;
  const status = await repositoryStatus(repository, all);
  context.out.text(longStatus(status, { from: await context.prefix(), showsUntracked: true, commits: true }));
  return 1;
}

async function inProgress(repository: Repository): Promise<Verb | null> {
  for (const verb of ['cherry-pick', 'revert'] as const)
    if (await repository.files.exists(`${repository.gitdir}/${HEADS[verb]}`)) return verb;
  return null;
}

/** Leaves the files of the work tree and of the index as they are. */
async function forgetReplay(repository: Repository): Promise<void> {
  for (const name of Object.values(HEADS)) await repository.files.remove(`${repository.gitdir}/${name}`);
  await repository.files.removeTree(`${repository.gitdir}/sequencer`);
}

async function requireProgress(repository: Repository, verb: Verb): Promise<void> {
  const isOpen = (await repository.files.text(`${repository.gitdir}/sequencer/todo`)) !== null;
  if (!isOpen && (await inProgress(repository)) === null) throw failureOf(verb, 'no cherry-pick or revert in progress');
}

async function abort(context: GitContext, repository: Repository, verb: Verb): Promise<number> {
  await requireProgress(repository, verb);
  const head = await repository.headCommit();
  const before = (await context.files.text(`${repository.gitdir}/sequencer/head`))?.trim() ?? head;
  await checkOutTree(context, head, before, { force: true });
  if (before !== null && before !== head) await moveHead(context, before, `reset: moving to ${before}`);
  await context.files.remove(`${repository.gitdir}/MERGE_MSG`);
  await forgetReplay(repository);
  return 0;
}

async function resume(context: GitContext, repository: Repository, verb: Verb, line: Line): Promise<number> {
  await requireProgress(repository, verb);
  const open = await openCommits(repository);
  if ((await inProgress(repository)) !== null) {
    // As an editor leaves it: without the lines that begin with `#`.
    const path = `${repository.gitdir}/MERGE_MSG`;
    await context.files.write(path, ((await context.files.text(path)) ?? '').replaceAll(/^#.*\n?/gm, ''));
    const exitCode = await commitVerb(context, ['--no-edit']);
    if (exitCode !== 0) return exitCode;
  }
  return replayAll(context, repository, verb, open, line);
}

async function skip(context: GitContext, repository: Repository, verb: Verb, line: Line): Promise<number> {
  await requireProgress(repository, verb);
  const open = await openCommits(repository);
  const head = await repository.headCommit();
  await checkOutTree(context, head, head, { force: true });
  for (const name of ['MERGE_MSG', HEADS[verb]]) await context.files.remove(`${repository.gitdir}/${name}`);
  return replayAll(context, repository, verb, open, line);
}

/** What is still to be replayed after the commit that it stopped at. */
async function openCommits(repository: Repository): Promise<CommitObject[]> {
  const todo = (await repository.files.text(`${repository.gitdir}/sequencer/todo`)) ?? '';
  const names = todo.split('\n').flatMap((line) => /^(?:pick|revert) ([0-9a-f]+)/.exec(line)?.[1] ?? []);
  return Promise.all(names.slice(1).map(async (name) => repository.commit(await requireCommit(repository, name))));
}
