/** `git commit`. */
import { changesBetween, withRenames } from '../changes.ts';
import { parseCommandLine } from '../command-line.ts';
import { identity, parseDate } from '../configuration.ts';
import { contentsOf, readObjects } from '../diff-output.ts';
import { shortStatText, summaryText } from '../diffstat.ts';
import type { GitContext } from '../git-context.ts';
import { fatal, GitError } from '../git-error.ts';
import { requireNoHook } from '../hooks.ts';
import type { IndexEntry } from '../index-file.ts';
import { type CommitObject, formatCommit, parsePerson } from '../objects.ts';
import { noteHead } from '../reference-log.ts';
import { indexFiles, type Repository } from '../repository.ts';
import { requireCommit, short } from '../revisions.ts';
import { longStatus, repositoryStatus } from '../status.ts';
import { untrackedPaths } from '../work-tree.ts';
import { stage } from './staging.ts';

export async function commit(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'm,message': 'value',
    'F,file': 'value',
    'a,all': 'flag',
    amend: 'flag',
    'no-edit': 'flag',
    'allow-empty': 'flag',
    'allow-empty-message': 'flag',
    'q,quiet': 'flag',
    author: 'value',
    date: 'value',
    'n,no-verify': 'flag',
    's,signoff': 'flag',
    'C,reuse-message': 'value',
    'no-gpg-sign': 'flag',
    'reset-author': 'flag',
    'o,only': 'flag',
    'i,include': 'flag',
  });
  const repository = await context.repository();
  const head = await repository.headCommit();
  const amended = line.has('amend') ? await requireHead(repository, head) : null;
  const given = [...line.operands, ...(line.paths ?? [])];
  const before = await repository.index();
  if (line.has('all')) await stage(context, repository, before, [], () => true);
  else if (given.length > 0) await stageGiven(context, repository, given);
  const entries = await repository.index();
  requireMerged(context, entries, 'Committing');
  if (!line.has('no-verify')) await requireNoHook(context, ['pre-commit', 'commit-msg']);
  const mergeHead = (await context.files.text(`${repository.gitdir}/MERGE_HEAD`))?.trim() ?? null;
  const files =
    given.length > 0 && !line.has('include')
      ? await onlyGiven(context, repository, given, amended?.parents[0] ?? head)
      : indexFiles(entries);
  const tree = await repository.writeTree(files);
  const parents = amended?.parents ?? [...(head === null ? [] : [head]), ...(mergeHead === null ? [] : [mergeHead])];
  const parentTree = parents[0] === undefined ? null : (await repository.commit(parents[0])).tree;
  const isEmpty = parentTree === null ? files.size === 0 : tree === parentTree;
  if (isEmpty && !line.has('allow-empty') && mergeHead === null && (amended?.parents.length ?? 0) < 2) {
    const status = await repositoryStatus(repository, {
      untracked: 'normal',
      ignored: false,
      matches: () => true,
      renames: true,
    });
    const from = await context.prefix();
    if (amended === null) context.out.text(longStatus(status, { from, showsUntracked: true, commits: true }));
    else {
      const shown = { ...status, staged: [], head: amended.parents.length === 0 ? null : status.head };
      context.out.text(longStatus(shown, { from, showsUntracked: true, commits: true, amends: true }));
      context.out.errorLine(EMPTY_AMENDED);
    }
    return 1;
  }
  const pickedHead = await context.files.text(`${repository.gitdir}/CHERRY_PICK_HEAD`);
  const picked = pickedHead === null ? null : await repository.commit(pickedHead.trim());
  const author = await authorOf(
    context,
    line.value('author'),
    line.value('date'),
    line.has('reset-author') ? null : (amended ?? picked),
  );
  const committer = await identity(context, 'COMMITTER');
  const reused = line.value('reuse-message');
  let message = await messageOf(
    context,
    repository,
    line,
    amended,
    reused === undefined ? null : await repository.commit(await requireCommit(repository, reused)),
  );
  if (line.has('signoff')) message = `${message.trimEnd()}\n\nSigned-off-by: ${committer.name} <${committer.email}>\n`;
  if (message.trim() === '' && !line.has('allow-empty-message'))
    throw new GitError('Aborting commit due to empty commit message.', 1);
  const made = { tree, parents, author, committer, message };
  repository.hooks.add('prepare-commit-msg');
  const oid = await repository.writeRaw('commit', formatCommit(made));
  const reference = await repository.headReference();
  if (reference === null) await repository.setHead(oid);
  else await repository.setReference(reference, oid);
  const kind =
    amended !== null
      ? ' (amend)'
      : picked !== null
        ? ' (cherry-pick)'
        : mergeHead !== null
          ? ' (merge)'
          : head === null
            ? ' (initial)'
            : '';
  await noteHead(context, head, oid, `commit${kind}: ${message}`);
  for (const hook of ['post-commit', ...(amended === null ? [] : ['post-rewrite'])]) repository.hooks.add(hook);
  await context.files.remove(`${repository.gitdir}/MERGE_HEAD`);
  await context.files.remove(`${repository.gitdir}/MERGE_MSG`);
  for (const name of ['CHERRY_PICK_HEAD', 'REVERT_HEAD']) await context.files.remove(`${repository.gitdir}/${name}`);
  // The last one of a row of picks ends it; the others are still to come.
  const open = await context.files.text(`${repository.gitdir}/sequencer/todo`);
  if (open !== null && open.trim().split('\n').length < 2)
    await context.files.removeTree(`${repository.gitdir}/sequencer`);
  if (!line.has('quiet'))
    await report(context, repository, { ...made, oid }, { isAmended: amended !== null || picked !== null });
  return 0;
}

/** Throws git's words while there are conflicts. `what`: the work that they are in the way of. */
export function requireMerged(context: GitContext, entries: readonly IndexEntry[], what: string): void {
  const unmerged = new Set(entries.filter(({ stage: number }) => number > 0).map(({ path }) => path));
  if (unmerged.size === 0) return;
  for (const path of unmerged) context.out.line(`U\t${path}`);
  throw new GitError(
    `error: ${what} is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\nhint: as appropriate to mark resolution and make a commit.\nfatal: Exiting because of an unresolved conflict.`,
    128,
  );
}

const EMPTY_AMENDED = `You asked to amend the most recent commit, but doing so would make
it empty. You can repeat your command with --allow-empty, or you can
remove the commit entirely with "git reset HEAD^".`;

async function requireHead(repository: Repository, head: string | null): Promise<CommitObject> {
  if (head === null) throw fatal('You have nothing to amend.');
  return repository.commit(head);
}

async function stageGiven(context: GitContext, repository: Repository, given: readonly string[]): Promise<void> {
  const spec = await context.pathspec(given);
  const entries = await repository.index();
  const missing = spec.unmatched(entries.map(({ path }) => path));
  if (missing !== null) {
    const untracked = await untrackedPaths(repository, entries, { folders: false });
    if (untracked.length >= 0)
      throw new GitError(`error: pathspec '${missing}' did not match any file(s) known to git`, 1);
  }
  await stage(context, repository, entries, [], (path) => spec.matches(path));
}

/** The files of the commit with the given paths as they are in the index. */
async function onlyGiven(context: GitContext, repository: Repository, given: readonly string[], parent: string | null) {
  const spec = await context.pathspec(given);
  const files = await repository.treeFiles(parent);
  const index = indexFiles(await repository.index());
  for (const path of files.keys()) if (spec.matches(path) && !index.has(path)) files.delete(path);
  for (const [path, file] of index) if (spec.matches(path)) files.set(path, file);
  return files;
}

async function authorOf(
  context: GitContext,
  given: string | undefined,
  date: string | undefined,
  amended: CommitObject | null,
) {
  const author = amended?.author ?? (await identity(context, 'AUTHOR'));
  if (given !== undefined && !/^[^<]*<[^>]*>$/.test(given))
    throw fatal(`--author '${given}' is not 'Name <email>' and matches no existing author`);
  const { name, email } = given === undefined ? author : parsePerson(given);
  return { ...author, name, email, ...(date === undefined ? {} : parseDate(date)) };
}

async function messageOf(
  context: GitContext,
  repository: Repository,
  line: ReturnType<typeof parseCommandLine>,
  amended: CommitObject | null,
  reused: CommitObject | null,
): Promise<string> {
  const file = line.value('file');
  if (line.has('message')) return cleaned(line.values('message').join('\n\n'));
  if (file !== undefined) {
    const text =
      file === '-'
        ? Buffer.from(context.stdin, 'latin1').toString('utf8')
        : await context.files.text(context.absolute(file));
    if (text === null) throw fatal(`could not read log file '${file}': No such file or directory`);
    return cleaned(text);
  }
  if (reused !== null) return reused.message;
  if (amended !== null) return amended.message;
  const merging = await context.files.text(`${repository.gitdir}/MERGE_MSG`);
  if (merging !== null) return cleaned(merging);
  throw new GitError(
    'error: there is no editor in this sandbox; give the message with -m or -F.\nAborting commit due to empty commit message.',
    1,
  );
}

/** Without blank lines at either end, trailing spaces, or more than one blank line in a row. */
function cleaned(text: string): string {
  const body = text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '')
    .trimEnd();
  return body === '' ? '' : `${body}\n`;
}

/** What a commit prints of itself. `isAmended`: with the date of its author in any case. */
export async function report(
  context: GitContext,
  repository: Repository,
  made: CommitObject,
  { isAmended }: { isAmended: boolean },
): Promise<void> {
  const branch = (await repository.currentBranch()) ?? 'detached HEAD';
  const subject = made.message.split('\n\n')[0]?.replaceAll('\n', ' ').trim() ?? '';
  context.out.line(
    `[${branch}${made.parents.length === 0 && !isAmended ? ' (root-commit)' : ''} ${short(made.oid)}] ${subject}`,
  );
  if (made.author.name !== made.committer.name || made.author.email !== made.committer.email)
    context.out.line(` Author: ${made.author.name} <${made.author.email}>`);
  if (isAmended || made.author.seconds !== made.committer.seconds)
    context.out.line(` Date: ${dateText(made.author.seconds, made.author.zone)}`);
  if (made.parents.length > 1) return;
  const plain = changesBetween(
    await repository.treeFiles(made.parents[0] ?? null),
    await repository.treeFiles(made.oid),
  );
  const changes = await withRenames(plain, readObjects(repository));
  const contents = await contentsOf(changes, readObjects(repository));
  context.out.text(shortStatText(contents) + summaryText(changes));
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Mon Jan 1 00:00:00 2024 +0000`, in the zone that it was written in. */
export function dateText(seconds: number, zone: string): string {
  const at = zonedDate(seconds, zone);
  const two = (number: number) => String(number).padStart(2, '0');
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  return `${DAYS[at.getUTCDay()]} ${MONTHS[at.getUTCMonth()]} ${at.getUTCDate()} ${time} ${at.getUTCFullYear()} ${zone}`;
}

/** A date whose UTC fields are those of the zone. */
export function zonedDate(seconds: number, zone: string): Date {
  const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d{2})(\d{2})$/.exec(zone) ?? [];
  const offset = (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1);
  return new Date((seconds + offset) * 1000);
}
