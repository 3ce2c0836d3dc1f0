/** The files of the work tree beside the index: what changed, what is not tracked, and how a file is written there. */
import { createHash } from 'node:crypto';
import git from 'isomorphic-git';
import type { GitStat } from './file-access.ts';
import { GitError } from './git-error.ts';
import type { IndexEntry } from './index-file.ts';
import { type FileMap, GIT_LINK_MODE, type Repository, SUBMODULE_MODE, type TreeFile } from './repository.ts';

const REGULAR_MODE = 0o100644;
const EXECUTABLE_MODE = 0o100755;
const OWNER_EXECUTES = 0o100;

/** A tracked file in the work tree; null where it is gone. */
export interface TrackedState {
  entry: IndexEntry;
  file: TreeFile | null;
}

export function hashBlob(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

export function modeOf(stat: GitStat): number {
  if (stat.isSymbolicLink()) return GIT_LINK_MODE;
  return (stat.permissions & OWNER_EXECUTES) === 0 ? REGULAR_MODE : EXECUTABLE_MODE;
}

/** The content of a file of the work tree as git stores it: of a link, its target. */
export async function workContent(repository: Repository, path: string): Promise<Buffer> {
  const full = `${repository.workTree}/${path}`;
  const stat = await repository.files.lstat(full);
  return stat.isSymbolicLink() ? Buffer.from(await repository.files.readLink(full)) : repository.files.read(full);
}

/**
 * The state of every tracked file. A file whose size and time are the index's is not read, unless it is as young as the
 * index.
 */
export async function trackedStates(
  repository: Repository,
  entries: readonly IndexEntry[],
  isWanted: (path: string) => boolean = () => true,
): Promise<TrackedState[]> {
  const indexSeconds = await repository.indexSeconds();
  const states: TrackedState[] = [];
  for (const entry of entries) {
    if (entry.stage !== 0 || !isWanted(entry.path)) continue;
    states.push({ entry, file: await stateOf(repository, entry, indexSeconds) });
  }
  return states;
}

async function stateOf(repository: Repository, entry: IndexEntry, indexSeconds: number): Promise<TreeFile | null> {
  const stat = await trackedStat(repository, entry.path);
  if (entry.mode === SUBMODULE_MODE) return stat?.isDirectory() ? { mode: entry.mode, oid: entry.oid } : null;
  if (stat === null || stat.isDirectory()) return null;
  const mode = modeOf(stat);
  const isUnchanged =
    stat.size === entry.size && stat.mtimeSeconds === entry.mtimeSeconds && entry.mtimeSeconds < indexSeconds;
  if (isUnchanged) return { mode, oid: entry.oid };
  return { mode, oid: hashBlob(await workContent(repository, entry.path)) };
}

/** A file below a link is not the tracked one. */
export async function trackedStat(repository: Repository, path: string): Promise<GitStat | null> {
  const { files, workTree } = repository;
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = await files.lstatOrNull(`${workTree}/${path.slice(0, slash)}`);
    if (above === null || !above.isDirectory()) return null;
  }
  return files.lstatOrNull(`${workTree}/${path}`);
}

/** The files of the work tree that the index names, as they are. */
export function workFiles(states: readonly TrackedState[]): FileMap {
  return new Map(states.flatMap(({ entry, file }) => (file === null ? [] : [[entry.path, file]])));
}

export interface UntrackedOptions {
  /** Whether a folder without a tracked file is listed as one entry, `folder/`. */
  folders: boolean;
  /** Whether ignored files are listed instead of the others. */
  ignored?: boolean;
  /** Whether an ignored folder is listed file by file. */
  inIgnored?: boolean;
  /** Whether ignored files are listed like the others. */
  everything?: boolean;
  mayMatchBelow?: (folder: string) => boolean;
}

/** Untracked files, ignored ones left out, in git's order. */
export async function untrackedPaths(
  repository: Repository,
  entries: readonly IndexEntry[],
  options: UntrackedOptions,
): Promise<string[]> {
  const tracked = new Set<string>();
  const folders = new Set<string>(['']);
  for (const { path } of entries) {
    tracked.add(path);
    for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
      folders.add(path.slice(0, slash));
  }
  const found: string[] = [];
  await listUntracked(repository, '', { tracked, folders, options, found });
  return found;
}

interface Search {
  tracked: ReadonlySet<string>;
  folders: ReadonlySet<string>;
  options: UntrackedOptions;
  found: string[];
}

async function listUntracked(repository: Repository, folder: string, search: Search): Promise<void> {
  const { files, workTree } = repository;
  const { tracked, folders, options, found } = search;
  for (const name of (await files.names(`${workTree}${folder === '' ? '' : `/${folder}`}`)).sort()) {
    if (name === '.git') continue;
    const path = folder === '' ? name : `${folder}/${name}`;
    if (tracked.has(path)) continue;
    const stat = await files.lstatOrNull(`${workTree}/${path}`);
    if (stat === null) continue;
    const isFolder = stat.isDirectory();
    if (isFolder && options.mayMatchBelow?.(path) === false) continue;
    if (isFolder && folders.has(path)) {
      await listUntracked(repository, path, search);
      continue;
    }
    const isIgnored = options.everything ? false : await ignores(repository, path, isFolder);
    if (isIgnored && !options.ignored) continue;
    if (!isFolder) {
      if (isIgnored === (options.ignored ?? false)) found.push(path);
    } else if (isIgnored && options.inIgnored) {
      await listUntracked(repository, path, { ...search, options: { folders: false, everything: true } });
    } else if (isIgnored) found.push(`${path}/`);
    else if (await files.exists(`${workTree}/${path}/.git`)) {
      if (!options.ignored) found.push(`${path}/`);
    } else if (options.ignored && options.folders && !(await hasFile(repository, path))) {
      // Everything in it is ignored.
      if (await holdsOthers(repository, path, new Set())) found.push(`${path}/`);
    } else if (!options.folders || options.ignored) await listUntracked(repository, path, search);
    else if (await hasFile(repository, path)) found.push(`${path}/`);
  }
}

export async function ignores(repository: Repository, path: string, isFolder: boolean): Promise<boolean> {
  const filepath = isFolder ? `${path}/` : path;
  return git.isIgnored({ ...repository.iso, dir: repository.workTree, filepath });
}

/** Whether there is a file below a folder that is not ignored. */
async function hasFile(repository: Repository, folder: string): Promise<boolean> {
  for (const name of await repository.files.names(`${repository.workTree}/${folder}`)) {
    const path = `${folder}/${name}`;
    const isFolder = (await repository.files.lstatOrNull(`${repository.workTree}/${path}`))?.isDirectory() ?? false;
    if (await ignores(repository, path, isFolder)) continue;
    if (!isFolder || (await hasFile(repository, path))) return true;
  }
  return false;
}

/** Whether a folder holds other files than those that go. */
export async function holdsOthers(
  repository: Repository,
  folder: string,
  going: ReadonlySet<string>,
): Promise<boolean> {
  const { files, workTree } = repository;
  if (!(await files.lstatOrNull(`${workTree}/${folder}`))?.isDirectory()) return false;
  for (const name of await files.names(`${workTree}/${folder}`)) {
    const path = `${folder}/${name}`;
    const isFolder = (await files.lstatOrNull(`${workTree}/${path}`))?.isDirectory() ?? false;
    if (isFolder ? await holdsOthers(repository, path, going) : !going.has(path)) return true;
  }
  return false;
}

/** Writes a content as a file, or as a link, of the work tree. */
export async function writeContent(
  repository: Repository,
  path: string,
  { mode, content }: { mode: number; content: Buffer },
): Promise<void> {
  const { files, workTree } = repository;
  const full = `${workTree}/${path}`;
  await clearWay(repository, path);
  if (mode === GIT_LINK_MODE) await files.link(content.toString('utf8'), full);
  else {
    await files.write(full, content);
    await files.setExecutable(full, mode === EXECUTABLE_MODE);
  }
}

/** Writes a file of the work tree and returns its entry for the index. */
export async function writeWorkFile(repository: Repository, path: string, file: TreeFile): Promise<IndexEntry> {
  const { files, workTree } = repository;
  if (file.mode === SUBMODULE_MODE) {
    await files.makeDirectory(`${workTree}/${path}`);
    return { path, ...file, stage: 0, size: 0, mtimeSeconds: 0 };
  }
  await writeContent(repository, path, { mode: file.mode, content: await repository.blob(file.oid) });
  return indexEntryOf(repository, path, file);
}

/** A file that is in the way of a folder goes, and so does what is at the path and is no plain file. */
async function clearWay(repository: Repository, path: string): Promise<void> {
  const { files, workTree } = repository;
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = await files.lstatOrNull(`${workTree}/${path.slice(0, slash)}`);
    if (above !== null && !above.isDirectory()) await files.remove(`${workTree}/${path.slice(0, slash)}`);
  }
  const there = await files.lstatOrNull(`${workTree}/${path}`);
  if (there === null || there.isFile()) return;
  if (there.isSymbolicLink()) return files.remove(`${workTree}/${path}`);
  try {
    await files.promises.rmdir(`${workTree}/${path}`);
  } catch {
    throw new GitError(`error: the folder '${path}' is in the way of a file`, 1);
  }
}

/** The entry of the index for a file as it is in the work tree. */
export async function indexEntryOf(repository: Repository, path: string, file: TreeFile): Promise<IndexEntry> {
  const stat = await repository.files.lstat(`${repository.workTree}/${path}`);
  return { path, ...file, stage: 0, size: stat.size, mtimeSeconds: stat.mtimeSeconds };
}

/** Removes a file and the folders that it leaves empty, but for the root and the current directory. */
export async function removeWorkFile(repository: Repository, path: string, keep: string): Promise<void> {
  const { files, workTree } = repository;
  // A folder that has taken the place of the file is not the file.
  const there = await trackedStat(repository, path);
  if (there !== null && !there.isDirectory()) await files.remove(`${workTree}/${path}`);
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    const full = `${workTree}/${folder}`;
    const isFolder = (await files.lstatOrNull(full))?.isDirectory() ?? false;
    if (full === keep || !isFolder || (await files.names(full)).length > 0) return;
    await files.removeTree(full);
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
