/** `git status`: what is staged, what is not, what is not tracked – and its three formats. */
import { changesBetween, type TreeChange, withRenames } from './changes.ts';
import type { IndexEntry } from './index-file.ts';
import { comparePaths } from './index-file.ts';
import { quotedPath, relativePath } from './quoted-path.ts';
import { indexFiles, type Repository } from './repository.ts';
import { short } from './revisions.ts';
import { type Tracking, trackingOf, trackingShort, trackingText } from './tracking.ts';
import { trackedStates, untrackedPaths, workContent, workFiles } from './work-tree.ts';

export interface RepositoryStatus {
  branch: string | null;
  head: string | null;
  tracking: Tracking | null;
  /** What `cherry-pick` or `revert` stopped at; null when none did. */
  picking: { verb: 'cherry-pick' | 'revert'; oid: string } | null;
  isMerging: boolean;
  staged: TreeChange[];
  unstaged: TreeChange[];
  /** Two letters by path: which sides of a merge have it. */
  conflicts: Map<string, string>;
  untracked: string[];
  ignored: string[];
}

export interface StatusOptions {
  untracked: 'no' | 'normal' | 'all';
  ignored: boolean;
  matches: (path: string) => boolean;
  renames: boolean;
}

/** Letters by the stages that a path has: bits 1 (base), 2 (ours), 4 (theirs). */
const CONFLICTS = ['', 'DD', 'AU', 'UD', 'UA', 'DU', 'AA', 'UU'];
const CONFLICT_WORDS: Readonly<Record<string, string>> = {
  DD: 'both deleted',
  AU: 'added by us',
  UD: 'deleted by them',
  UA: 'added by them',
  DU: 'deleted by us',
  AA: 'both added',
  UU: 'both modified',
};
const CHANGE_WORDS: Readonly<Record<string, string>> = {
  A: 'new file',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  T: 'typechange',
};
const LABEL_WIDTH = 12;
const CONFLICT_LABEL_WIDTH = 17;

export async function repositoryStatus(repository: Repository, options: StatusOptions): Promise<RepositoryStatus> {
  const entries = await repository.index();
  const head = await repository.headCommit();
  const conflicts = conflictsOf(entries);
  const wanted = (changes: TreeChange[]) =>
    changes.filter(({ path, from }) => options.matches(path) || options.matches(from));
  const inIndex = indexFiles(entries);
  const stagedPlain = changesBetween(await repository.treeFiles(head), inIndex).filter(
    ({ path }) => !conflicts.has(path),
  );
  const staged = options.renames ? await withRenames(stagedPlain, (file) => repository.blob(file.oid)) : stagedPlain;
  const states = await trackedStates(repository, entries, options.matches);
  const unstaged = changesBetween(indexFiles(states.map(({ entry }) => entry)), workFiles(states));
  const folders = options.untracked === 'normal';
  const untracked =
    options.untracked === 'no' ? [] : (await untrackedPaths(repository, entries, { folders })).filter(options.matches);
  const ignored = options.ignored
    ? (await untrackedPaths(repository, entries, { folders, ignored: true, inIgnored: !folders })).filter(
        options.matches,
      )
    : [];
  const branch = await repository.currentBranch();
  return {
    branch,
    head,
    tracking: branch === null || head === null ? null : await trackingOf(repository, branch),
    picking: await pickedOf(repository),
    isMerging: await repository.files.exists(`${repository.gitdir}/MERGE_HEAD`),
    staged: wanted(staged),
    unstaged,
    conflicts: new Map([...conflicts].filter(([path]) => options.matches(path))),
    untracked,
    ignored,
  };
}

/** Reads either side of what is not staged. */
export function readUnstaged(repository: Repository) {
  return async (file: { oid: string }, path: string, side: 'before' | 'after') =>
    side === 'after' ? workContent(repository, path) : repository.blob(file.oid);
}

async function pickedOf(repository: Repository): Promise<RepositoryStatus['picking']> {
  for (const [verb, name] of [
    ['cherry-pick', 'CHERRY_PICK_HEAD'],
    ['revert', 'REVERT_HEAD'],
  ] as const) {
    const oid = await repository.files.text(`${repository.gitdir}/${name}`);
    if (oid !== null) return { verb, oid: oid.trim() };
  }
  return null;
}

export function conflictsOf(entries: readonly IndexEntry[]): Map<string, string> {
  const stages = new Map<string, number>();
  for (const { path, stage } of entries) if (stage > 0) stages.set(path, (stages.get(path) ?? 0) | (1 << (stage - 1)));
  return new Map([...stages].map(([path, bits]) => [path, CONFLICTS[bits] ?? 'UU']));
}

/** `-s` and `--porcelain`: `XY path`. `from` is the directory that paths are shown from; '' for the root. */
export function shortStatus(
  status: RepositoryStatus,
  { from, branch, nul }: { from: string; branch: boolean; nul: boolean },
): string {
  const letters = new Map<string, { xy: string; source: string | null }>();
  for (const [path, xy] of status.conflicts) letters.set(path, { xy, source: null });
  for (const change of status.staged)
    letters.set(change.path, { xy: `${change.status} `, source: change.status === 'R' ? change.from : null });
  for (const { path, status: letter } of status.unstaged) {
    const known = letters.get(path);
    if (!status.conflicts.has(path))
      letters.set(path, { xy: `${known?.xy[0] ?? ' '}${letter}`, source: known?.source ?? null });
  }
  const shown = (path: string) => (nul ? path : quotedPath(relativePath(path, from), { spaces: true }));
  const lines = [...letters]
    .sort(([a], [b]) => comparePaths(a, b))
    .map(([path, { xy, source }]) => {
      if (nul) return source === null ? `${xy} ${path}` : `${xy} ${path}\0${source}`;
      return source === null ? `${xy} ${shown(path)}` : `${xy} ${shown(source)} -> ${shown(path)}`;
    });
  lines.push(
    ...status.untracked.map((path) => `?? ${shown(path)}`),
    ...status.ignored.map((path) => `!! ${shown(path)}`),
  );
  if (branch) lines.unshift(branchLine(status));
  const end = nul ? '\0' : '\n';
  return lines.map((line) => line + end).join('');
}

function branchLine({ branch, head, tracking }: RepositoryStatus): string {
  if (branch === null) return '## HEAD (no branch)';
  return head === null
    ? `## No commits yet on ${branch}`
    : `## ${branch}${tracking === null ? '' : trackingShort(tracking)}`;
}

/** The long format. `commits`: as `git commit` prints it, `amends`: as `git commit --amend` does. */
export function longStatus(
  status: RepositoryStatus,
  {
    from,
    showsUntracked,
    commits = false,
    amends = false,
  }: { from: string; showsUntracked: boolean; commits?: boolean; amends?: boolean },
): string {
  const { branch, head, staged, unstaged, conflicts, untracked, ignored, isMerging } = status;
  const lines = [branch === null ? `HEAD detached at ${short(head ?? '')}` : `On branch ${branch}`];
  if (status.tracking !== null) lines.push(...trackingText(status.tracking), '');
  if (head === null) lines.push('', commits ? 'Initial commit' : 'No commits yet', '');
  if (isMerging) {
    if (conflicts.size > 0)
      lines.push(
        'You have unmerged paths.',
        '  (fix conflicts and run "git commit")',
        '  (use "git merge --abort" to abort the merge)',
        '',
      );
    else lines.push('All conflicts fixed but you are still merging.', '  (use "git commit" to conclude merge)', '');
  }
  if (status.picking !== null) lines.push(...pickingText(status.picking, conflicts.size > 0));
  const shown = (path: string) => quotedPath(relativePath(path, from));
  const isPicking = status.picking?.verb === 'cherry-pick';
  const unstage =
    head === null
      ? '  (use "git rm --cached <file>..." to unstage)'
      : '  (use "git restore --staged <file>..." to unstage)';
  if (staged.length > 0) {
    lines.push('Changes to be committed:');
    if ((!isMerging && !isPicking) || head === null) lines.push(unstage);
    lines.push(...staged.map((change) => changeLine(change, shown)), '');
  }
  if (conflicts.size > 0) {
    lines.push('Unmerged paths:');
    if (!isMerging && !isPicking) lines.push(unstage);
    const removed = [...conflicts.values()].some((xy) => xy.includes('D'));
    lines.push(
      removed
        ? '  (use "git add/rm <file>..." as appropriate to mark resolution)'
        : '  (use "git add <file>..." to mark resolution)',
    );
    for (const [path, xy] of conflicts)
      lines.push(`\t${`${CONFLICT_WORDS[xy]}:`.padEnd(CONFLICT_LABEL_WIDTH)}${shown(path)}`);
    lines.push('');
  }
  const notStaged = unstaged.filter(({ path }) => !conflicts.has(path));
  if (notStaged.length > 0) {
    const removes = notStaged.some(({ status: letter }) => letter === 'D');
    lines.push(
      'Changes not staged for commit:',
      `  (use "git add${removes ? '/rm' : ''} <file>..." to update what will be committed)`,
      '  (use "git restore <file>..." to discard changes in working directory)',
      ...notStaged.map((change) => changeLine(change, shown)),
      '',
    );
  }
  if (untracked.length > 0)
    lines.push(
      'Untracked files:',
      '  (use "git add <file>..." to include in what will be committed)',
      ...untracked.map((path) => `\t${shown(path)}`),
      '',
    );
  if (ignored.length > 0)
    lines.push(
      'Ignored files:',
      '  (use "git add -f <file>..." to include in what will be committed)',
      ...ignored.map((path) => `\t${shown(path)}`),
      '',
    );
  const last = amends ? 'No changes' : lastLine(status, notStaged.length, showsUntracked);
  if (last !== null) lines.push(last);
  return lines.map((line) => `${line}\n`).join('');
}

function pickingText({ verb, oid }: NonNullable<RepositoryStatus['picking']>, hasConflicts: boolean): string[] {
  return [
    `You are currently ${verb === 'revert' ? 'reverting' : 'cherry-picking'} commit ${short(oid)}.`,
    hasConflicts
      ? `  (fix conflicts and run "git ${verb} --continue")`
      : `  (all conflicts fixed: run "git ${verb} --continue")`,
    `  (use "git ${verb} --skip" to skip this patch)`,
    `  (use "git ${verb} --abort" to cancel the ${verb} operation)`,
    '',
  ];
}

function changeLine({ status, path, from }: TreeChange, shown: (path: string) => string): string {
  const what = status === 'R' ? `${shown(from)} -> ${shown(path)}` : shown(path);
  return `\t${`${CHANGE_WORDS[status]}:`.padEnd(LABEL_WIDTH)}${what}`;
}

function lastLine(status: RepositoryStatus, notStaged: number, showsUntracked: boolean): string | null {
  if (status.staged.length > 0) {
    return showsUntracked ? null : 'Untracked files not listed (use -u option to show untracked files)';
  }
  if (notStaged > 0 || status.conflicts.size > 0)
    return 'no changes added to commit (use "git add" and/or "git commit -a")';
  if (status.isMerging) return null;
  if (status.untracked.length > 0)
    return 'nothing added to commit but untracked files present (use "git add" to track)';
  if (status.head === null) return 'nothing to commit (create/copy files and use "git add" to track)';
  return showsUntracked
    ? 'nothing to commit, working tree clean'
    : 'nothing to commit (use -u to show untracked files)';
}
