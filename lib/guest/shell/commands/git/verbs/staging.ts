/** `git add`, `reset` and `restore`: what is in the index. */
import { changesBetween } from '../changes.ts';
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { failure, fatal, GitError } from '../git-error.ts';
import type { IndexEntry } from '../index-file.ts';
import type { Pathspec } from '../pathspec.ts';
import { quotedPath } from '../quoted-path.ts';
import { noteHead } from '../reference-log.ts';
import { indexFiles, type Repository, type TreeFile } from '../repository.ts';
import { requireCommit, requireRevision, revision, short } from '../revisions.ts';
import { checkOutTree } from '../tree-switch.ts';
import {
  ignores,
  indexEntryOf,
  modeOf,
  removeWorkFile,
  trackedStates,
  untrackedPaths,
  workContent,
  writeWorkFile,
} from '../work-tree.ts';

const IGNORED = (paths: readonly string[]) =>
  `The following paths are ignored by one of your .gitignore files:\n${paths.join('\n')}\nhint: Use -f if you really want to add them.\nhint: Turn this message off by running\nhint: "git config advice.addIgnoredFile false"`;

export async function add(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'A,all': 'flag',
    'u,update': 'flag',
    'f,force': 'flag',
    'n,dry-run': 'flag',
    'v,verbose': 'flag',
    'no-all': 'flag',
    'ignore-removal': 'flag',
  });
  const repository = await context.repository();
  const given = [...line.operands, ...(line.paths ?? [])];
  if (given.length === 0 && !line.has('all') && !line.has('update')) {
    context.out.errorLine(
      'Nothing specified, nothing added.\nhint: Maybe you wanted to say \'git add .\'?\nhint: Turn this message off by running\nhint: "git config advice.addEmptyPathspec false"',
    );
    return 0;
  }
  const spec = await context.pathspec(given);
  const entries = await repository.index();
  const forced = line.has('force');
  const fresh = line.has('update')
    ? []
    : await untrackedPaths(repository, entries, {
        folders: false,
        mayMatchBelow: (folder) => spec.mayMatchBelow(folder),
      });
  const added = fresh.filter((path) => !path.endsWith('/') && spec.matches(path));
  const ignored = line.has('update') ? [] : await givenIgnored(context, repository, spec, entries);
  if (forced) added.push(...(await forcedPaths(context, repository, ignored)));
  await requireMatches(context, repository, spec, [...entries.map(({ path }) => path), ...added, ...ignored]);
  await stage(context, repository, entries, added, (path) => spec.matches(path), {
    verbose: line.has('verbose') || line.has('dry-run'),
    dry: line.has('dry-run'),
    removals: !line.has('no-all') && !line.has('ignore-removal'),
  });
  if (ignored.length > 0 && !forced) throw new GitError(IGNORED(ignored), 1);
  return 0;
}

/** Ignored paths that were given by name. */
async function givenIgnored(
  context: GitContext,
  repository: Repository,
  spec: Pathspec,
  entries: readonly IndexEntry[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { path } of spec.plain) {
    if (path === '') continue;
    const stat = await context.files.lstatOrNull(`${repository.workTree}/${path}`);
    const isTracked = entries.some((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
    if (stat !== null && !isTracked && (await isIgnoredAnywhere(repository, path, stat.isDirectory())))
      found.push(path);
  }
  return found;
}

async function isIgnoredAnywhere(repository: Repository, path: string, isFolder: boolean): Promise<boolean> {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    if (await ignores(repository, path.slice(0, slash), true)) return true;
  }
  return ignores(repository, path, isFolder);
}

async function forcedPaths(context: GitContext, repository: Repository, ignored: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const open = [...ignored];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const full = `${repository.workTree}/${path}`;
    if (!(await context.files.lstatOrNull(full))?.isDirectory()) found.push(path);
    else for (const name of await context.files.names(full)) if (name !== '.git') open.push(`${path}/${name}`);
  }
  return found;
}

async function requireMatches(
  context: GitContext,
  repository: Repository,
  spec: Pathspec,
  paths: readonly string[],
): Promise<void> {
  const missing = spec.unmatched(paths);
  if (missing === null) return;
  const path = spec.plain.find(({ given }) => given === missing)?.path;
  // An empty folder matches, and adds nothing.
  if (path !== undefined && (await context.files.isDirectory(`${repository.workTree}/${path}`))) return;
  throw fatal(`pathspec '${missing}' did not match any files`);
}

/** Brings the index to the work tree, for tracked files that match and for `added`. */
export async function stage(
  context: GitContext,
  repository: Repository,
  entries: readonly IndexEntry[],
  added: readonly string[],
  matches: (path: string) => boolean,
  { verbose = false, dry = false, removals = true } = {},
): Promise<void> {
  const index = new Map(entries.filter(({ stage: number }) => number === 0).map((entry) => [entry.path, entry]));
  const conflicted = new Set(
    entries.filter(({ stage: number, path }) => number > 0 && matches(path)).map(({ path }) => path),
  );
  const kept = entries.filter(({ stage: number, path }) => number > 0 && !conflicted.has(path));
  const changed = (await trackedStates(repository, entries, matches)).filter(
    ({ entry, file }) => file === null || file.oid !== entry.oid || file.mode !== entry.mode,
  );
  const say = (what: string, path: string) => {
    if (verbose) context.out.line(`${what} '${path}'`);
  };
  for (const { entry, file } of changed) {
    if (file === null && !removals) continue;
    say(file === null ? 'remove' : 'add', entry.path);
    if (file === null) index.delete(entry.path);
    else index.set(entry.path, await stagedEntry(repository, entry.path));
  }
  for (const path of [...added, ...conflicted]) {
    const stat = await context.files.lstatOrNull(`${repository.workTree}/${path}`);
    if (stat === null || stat.isDirectory()) continue;
    say('add', path);
    for (const other of index.keys())
      if (path.startsWith(`${other}/`) || other.startsWith(`${path}/`)) index.delete(other);
    index.set(path, await stagedEntry(repository, path));
  }
  if (!dry) await repository.saveIndex([...index.values(), ...kept]);
}

async function stagedEntry(repository: Repository, path: string): Promise<IndexEntry> {
  const content = await workContent(repository, path);
  const mode = modeOf(await repository.files.lstat(`${repository.workTree}/${path}`));
  return indexEntryOf(repository, path, { mode, oid: await repository.writeBlob(content) });
}

export async function reset(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    soft: 'flag',
    mixed: 'flag',
    hard: 'flag',
    'q,quiet': 'flag',
  });
  const repository = await context.repository();
  let [name, ...rest] = line.operands;
  const named = name === undefined ? null : await revision(repository, name);
  if (name !== undefined && named === null) {
    rest = [name, ...rest];
    name = undefined;
  }
  const paths = [...rest, ...(line.paths ?? [])];
  const head = await repository.headCommit();
  if (paths.length > 0) {
    if (line.has('hard') || line.has('soft'))
      throw fatal(`Cannot do ${line.has('hard') ? 'hard' : 'soft'} reset with paths.`);
    await resetPaths(context, repository, named ?? head, paths, name === undefined && line.paths === null);
    if (!line.has('quiet')) await reportUnstaged(context, repository);
    return 0;
  }
  const target = name === undefined ? head : await requireCommit(repository, name);
  if (line.has('hard')) await checkOutTree(context, head, target, { force: true });
  else if (!line.has('soft')) await resetPaths(context, repository, target, [], false);
  for (const name of ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'])
    await context.files.remove(`${repository.gitdir}/${name}`);
  await context.files.removeTree(`${repository.gitdir}/sequencer`);
  await context.files.remove(`${repository.gitdir}/MERGE_MSG`);
  if (target !== null) {
    if (head !== null) await repository.setReference('ORIG_HEAD', head);
    await moveHead(context, target, `reset: moving to ${name ?? 'HEAD'}`);
    if (line.has('hard') && !line.has('quiet'))
      context.out.line(`HEAD is now at ${short(target)} ${(await repository.commit(target)).message.split('\n')[0]}`);
  }
  if (!line.has('hard') && !line.has('soft') && !line.has('quiet')) await reportUnstaged(context, repository);
  return 0;
}

/** Points the current branch, or a detached HEAD, at a commit. */
export async function moveHead(context: GitContext, target: string, message: string): Promise<void> {
  const repository = await context.repository();
  const before = await repository.headCommit();
  const reference = await repository.headReference();
  if (reference === null) await repository.setHead(target);
  else await repository.setReference(reference, target);
  await noteHead(context, before, target, message, { branch: before !== target });
}

/** Brings paths of the index (all, for an empty list) to a tree. */
async function resetPaths(
  context: GitContext,
  repository: Repository,
  tree: string | null,
  paths: readonly string[],
  mustMatch: boolean,
): Promise<void> {
  const spec = await context.pathspec(paths);
  const entries = await repository.index();
  const target = await repository.treeFiles(tree);
  const missing = mustMatch ? spec.unmatched([...entries.map(({ path }) => path), ...target.keys()]) : null;
  if (missing !== null) {
    throw fatal(
      `ambiguous argument '${missing}': unknown revision or path not in the working tree.\nUse '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'`,
    );
  }
  const known = new Map(entries.filter(({ stage: number }) => number === 0).map((entry) => [entry.path, entry]));
  const fresh: IndexEntry[] = [];
  for (const [path, file] of target) {
    if (!spec.matches(path)) continue;
    const entry = known.get(path);
    fresh.push(entry?.oid === file.oid && entry.mode === file.mode ? entry : unreadEntry(path, file));
  }
  await repository.saveIndex([...entries.filter(({ path }) => !spec.matches(path)), ...fresh]);
}

/** An entry without the status of a file: the next comparison reads the file. */
function unreadEntry(path: string, file: TreeFile): IndexEntry {
  return { path, ...file, stage: 0, size: 0, mtimeSeconds: 0 };
}

async function reportUnstaged(context: GitContext, repository: Repository): Promise<void> {
  const entries = await repository.index();
  const states = await trackedStates(repository, entries);
  const work = new Map(states.flatMap(({ entry, file }) => (file === null ? [] : [[entry.path, file] as const])));
  const changes = changesBetween(indexFiles(entries), work);
  if (changes.length > 0) context.out.line('Unstaged changes after reset:');
  for (const { status, path } of changes) context.out.line(`${status}\t${quotedPath(path)}`);
}

export async function restoreVerb(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'S,staged': 'flag',
    'W,worktree': 'flag',
    's,source': 'value',
    'q,quiet': 'flag',
  });
  const repository = await context.repository();
  const given = [...line.operands, ...(line.paths ?? [])];
  if (given.length === 0) throw fatal('you must specify path(s) to restore');
  const staged = line.has('staged');
  const source = line.value('source');
  const tree =
    source !== undefined ? await requireRevision(repository, source) : staged ? await repository.headCommit() : null;
  await restorePaths(context, given, {
    tree,
    fromIndex: source === undefined && !staged,
    index: staged,
    work: line.has('worktree') || !staged,
  });
  return 0;
}

/** Brings paths of the index, of the work tree, or of both to a tree or to the index. Returns how many there are. */
export async function restorePaths(
  context: GitContext,
  given: readonly string[],
  {
    tree,
    fromIndex,
    index: toIndex,
    work,
    overlay = false,
  }: { tree: string | null; fromIndex: boolean; index: boolean; work: boolean; overlay?: boolean },
): Promise<number> {
  const repository = await context.repository();
  const spec = await context.pathspec(given);
  const entries = await repository.index();
  const source = fromIndex ? indexFiles(entries) : await repository.treeFiles(tree);
  const known = overlay || fromIndex ? [...source.keys()] : [...source.keys(), ...entries.map(({ path }) => path)];
  const missing = spec.unmatched(known);
  if (missing !== null) throw failure(`pathspec '${missing}' did not match any file(s) known to git`);
  const conflicted = fromIndex
    ? entries.find(({ stage: number, path }) => number > 0 && spec.matches(path))
    : undefined;
  if (conflicted !== undefined) throw failure(`path '${conflicted.path}' is unmerged`);
  const index = new Map(
    entries
      .filter(({ stage: number, path }) => number === 0 || !spec.matches(path))
      .map((entry) => [`${entry.stage}:${entry.path}`, entry]),
  );
  repository.hooks.add('post-checkout');
  let count = 0;
  for (const [path, file] of source) {
    if (!spec.matches(path)) continue;
    const current = index.get(`0:${path}`);
    const [state] = current === undefined || !work ? [] : await trackedStates(repository, [current]);
    const isThere = state?.file?.oid === file.oid && state.file.mode === file.mode;
    if (work && !isThere) {
      count += 1;
      const written = await writeWorkFile(repository, path, file);
      if (toIndex || current?.oid === file.oid) index.set(`0:${path}`, written);
    } else if (toIndex && (current?.oid !== file.oid || current.mode !== file.mode)) {
      count += work ? 0 : 1;
      index.set(`0:${path}`, work ? await indexEntryOf(repository, path, file) : unreadEntry(path, file));
    }
  }
  if (!overlay && !fromIndex) {
    for (const { path } of entries) {
      if (source.has(path) || !spec.matches(path)) continue;
      if (toIndex) index.delete(`0:${path}`);
      if (work) await removeWorkFile(repository, path, context.cwd);
    }
  }
  await repository.saveIndex([...index.values()]);
  return count;
}
