/**
 * Files that a stranger may have put where they are: below a live folder or the folder of spill files anything may lie
 * in the place of a file. Looks at them without following links, opens them without waiting for the other end of a
 * pipe, and removes trees of them beside the thread. Part of the seam for effects; knows nothing of what a file is for.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  type ReadStream,
  type Stats,
  writeSync,
} from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { performing, performingNow, removeTree } from './effects.ts';
import { WinterdockError } from './errors.ts';
import { leadsNowhere } from './is-there.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;
/** Below these folders of a data folder workers write. */
const STRANGERS = /\/(?:live\/[^/]+|spill)\/[^/]+$/;
/** A tenth of the processor that others get. */
const LOW_PRIORITY = 10;

/** Whether a path (absolute) is in a folder that workers write into. */
export function isStrangers(path: string): boolean {
  return STRANGERS.test(path);
}

/** What is at the path itself; null when there is nothing, or nothing can be. */
export function lookAtNow(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (leadsNowhere(error)) return null;
    throw error;
  }
}

/** The bytes of what is at the path itself; 0 when there is nothing. */
export function bytesAtNow(path: string): number {
  return Number(lookAtNow(path)?.size ?? 0);
}

/** Whether there is anything at the path, a link included that leads nowhere. */
export function isThereNow(path: string): boolean {
  return lookAtNow(path) !== null;
}

/** Throws what the system says when this process may not write a file or folder. */
export function requireWritableNow(path: string): void {
  accessSync(path, constants.W_OK);
}

/**
 * Opens a regular file for reading. Where a stranger may have put it, or with `follow` false, a link is not followed.
 * Throws the system's error, ENOENT among them, and `corrupt` at once when there is anything but a regular file.
 */
export async function openRegular(path: string, follow = !isStrangers(path)): Promise<FileHandle> {
  const handle = await open(path, O_RDONLY | O_NONBLOCK | (follow ? 0 : O_NOFOLLOW)).catch((error) => {
    throw error.code !== 'ENOENT' && (leadsNowhere(error) || error.code === 'ENXIO') ? noRegularFile(error) : error;
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw noRegularFile();
}

/** A socket gives ENXIO. */
function noRegularFile(cause?: unknown): WinterdockError {
  return new WinterdockError('corrupt', 'A link, a folder, a pipe or a socket lies where a file should be.', { cause });
}

/** What the system says where there is nothing to append to, or something that is not followed or overwritten. */
const NOTHING_TO_APPEND_TO = new Set(['ENOENT', 'ELOOP', 'EISDIR', 'ENXIO', 'EEXIST', 'ENOTDIR']);

/**
 * Opens what is at the path itself for reading and appending; `isNew` makes it, for its owner alone. Null when there is
 * nothing, a link, a folder or a socket there, and, with `isNew`, anything. The caller looks at whether it is a file of
 * one name, and closes it.
 */
export async function openToAppend(path: string, isNew: boolean): Promise<FileHandle | null> {
  const flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  try {
    if (!isNew) return await open(path, flags);
    return await performing({ kind: 'create', path }, () => open(path, flags | O_CREAT | O_EXCL, 0o600));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (NOTHING_TO_APPEND_TO.has(code)) return null;
    throw error;
  }
}

/** Appends to what was opened so. Nothing is synced. Throws what the system says; then some bytes may be there. */
export async function appendToOpen(handle: FileHandle, path: string, bytes: Buffer): Promise<void> {
  await performing({ kind: 'write', path }, () => handle.appendFile(bytes));
}

/** A stream of the bytes of such a file. It closes what it has opened. */
export async function readRegular(path: string, highWaterMark?: number): Promise<ReadStream> {
  return (await openRegular(path)).createReadStream(highWaterMark === undefined ? {} : { highWaterMark });
}

/** Copies such a file, as `copyFile` does. `accept`: throws when what was opened is not to be copied. */
export async function copyRegular(
  path: string,
  to: string,
  mode = 0,
  accept: (stat: Stats) => void = () => {},
): Promise<void> {
  const handle = await openRegular(path);
  try {
    accept(await handle.stat());
    // By its descriptor, where the system has names for those: another file may be at the path by now.
    const opened = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
    await performing({ kind: 'copy', path, to }, () => copyFile(opened, to, mode));
  } finally {
    await handle.close();
  }
}

/**
 * Opens a folder itself and runs `work` on its descriptor. Null when there is no folder at the path: nothing, a link,
 * a file.
 */
export function inFolderNow<T>(path: string, work: (descriptor: number, stat: Stats) => T): T | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (leadsNowhere(error)) return null;
    throw error;
  }
  try {
    return work(descriptor, fstatSync(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Gives what is open to a user and a group, by their ids, with these permissions. To root it takes a folder from its
 * owner: from then on only root makes, moves and removes names in it. The kernel changes the owner under the lock that
 * every change of a name takes, so none is under way afterwards. The permissions come second: they also cut down what
 * the owner gave to others by an access list.
 */
export function giveOpenNow(descriptor: number, path: string, [user, group]: readonly [number, number], mode: number) {
  performingNow({ kind: 'owner', path }, () => fchownSync(descriptor, user, group));
  performingNow({ kind: 'mode', path }, () => fchmodSync(descriptor, mode));
}

/**
 * Makes a file that is written by its descriptor from then on, for its owner alone: what a stranger puts in its place
 * later is not followed. Throws EEXIST. The caller closes what it is given.
 */
export function makeOpenNow(path: string): number {
  return performingNow({ kind: 'create', path }, () => openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
}

/** Writes the beginning of such a file in one call. */
export function writeOverNow(descriptor: number, path: string, text: string): void {
  performingNow({ kind: 'write', path }, () => writeSync(descriptor, text, 0, 'latin1'));
}

/**
 * Removes trees that a stranger made, in a process of its own that gives way: `rm` goes from folder to
 * folder by their descriptors and follows nothing, however large or deep a tree is. A missing one is no error. Ends
 * early, without an error, when `signal` is aborted. Throws when something could not be removed.
 */
export async function removeStrangersTrees(paths: readonly [string, ...string[]], signal?: AbortSignal): Promise<void> {
  let isMissing = false;
  await performing({ kind: 'remove_tree', path: paths[0] }, async () => {
    const child = spawn('/bin/rm', ['-rf', '--', ...paths], { stdio: 'ignore', env: { NODE_ENV: 'production' } });
    child.unref();
    const kill = () => void child.kill('SIGKILL');
    signal?.addEventListener('abort', kill, { once: true });
    try {
      if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY);
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== null && code !== 0) throw new Error(`${paths[0]} could not be removed whole`);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
      isMissing = true;
    } finally {
      signal?.removeEventListener('abort', kill);
    }
  });
  // A system without that program has no walls either.
  if (isMissing) for (const path of paths) await removeTree(path);
}
