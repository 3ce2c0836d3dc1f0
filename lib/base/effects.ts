/**
 * The one seam for effects: every change of the disk and every commit of the registry goes through this module, so that
 * tests can count effects, make them fail, kill the process beside them and cut the power after them. SQLite writes its
 * own files: of its work only the registry's commits pass here. Knows nothing of what is written.
 */
import type { BufferEncodingOption } from 'node:fs';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  createWriteStream,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  close as nodeClose,
  open as nodeOpen,
  write as nodeWrite,
  writev as nodeWritev,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  utimesSync,
  type WriteStream,
  writeFileSync,
} from 'node:fs';
import {
  chmod,
  copyFile as copy,
  type FileHandle,
  mkdir,
  rename as move,
  open,
  rm,
  rmdir,
  writeFile as write,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Effect, EffectKind } from './effect-kinds.ts';
import { giveMadeToOwner } from './folder-owner.ts';

export type { Effect } from './effect-kinds.ts';

export interface EffectObserver {
  /** Called before an effect. When it throws, the effect does not happen and fails with that error. */
  before?(effect: Effect): void;
  /** Called once an effect has happened. */
  after?(effect: Effect): void;
}

let observer: EffectObserver | null = null;

/**
 * Sets the observer of every effect of this process, replacing the previous one; null removes it. For tests only.
 */
export function observeEffects(next: EffectObserver | null): void {
  observer = next;
}

/** Runs `work`, which is one effect. Throws what it throws. */
export async function performing<T>(effect: Effect, work: () => Promise<T>): Promise<T> {
  observer?.before?.(effect);
  const result = await work();
  happened(effect);
  return result;
}

/** The same for synchronous work. */
export function performingNow<T>(effect: Effect, work: () => T): T {
  observer?.before?.(effect);
  const result = work();
  happened(effect);
  return result;
}

/** After these there is something new. What was renamed may have been made by another of our processes. */
const MAKING: ReadonlySet<EffectKind> = new Set(['create', 'copy', 'delegate', 'make_folder', 'rename']);

function happened(effect: Effect): void {
  if (MAKING.has(effect.kind)) giveMadeToOwner(effect.to ?? effect.path);
  observer?.after?.(effect);
}

/** Renames a file or folder, replacing a file. */
export function renameFile(path: string, to: string): Promise<void> {
  return performing({ kind: 'rename', path, to }, () => move(path, to));
}

/** The same, synchronously. */
export function renameFileNow(path: string, to: string): void {
  performingNow({ kind: 'rename', path, to }, () => renameSync(path, to));
}

/** Gives a file a second name; EEXIST when that is taken. */
export function linkFileNow(path: string, to: string): void {
  performingNow({ kind: 'link', path, to }, () => linkSync(path, to));
}

/** Copies a file as `mode` (of `fs.constants`) says. On disk only after `syncFile`. */
export function copyFile(path: string, to: string, mode = 0): Promise<void> {
  return performing({ kind: 'copy', path, to }, () => copy(path, to, mode));
}

/** The same, synchronously. */
export function copyFileNow(path: string, to: string): void {
  performingNow({ kind: 'copy', path, to }, () => copyFileSync(path, to));
}

/** Makes the bytes of a file durable; its name is durable with `syncFolder`. */
export function syncFile(path: string): Promise<void> {
  return synced('sync', path);
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): Promise<void> {
  return synced('sync_folder', path);
}

async function synced(kind: 'sync' | 'sync_folder', path: string): Promise<void> {
  await performing({ kind, path }, async () => {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
}

/** `syncFile`, synchronously. */
export function syncFileNow(path: string): void {
  syncedNow('sync', path);
}

/** `syncFolder`, synchronously. */
export function syncFolderNow(path: string): void {
  syncedNow('sync_folder', path);
}

function syncedNow(kind: 'sync' | 'sync_folder', path: string): void {
  performingNow({ kind, path }, () => {
    const descriptor = openSync(path, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Removes a file. A missing one is no error. */
export function unlinkFile(path: string): Promise<void> {
  return performing({ kind: 'remove', path }, () => rm(path, { force: true }));
}

/** The same, synchronously. */
export function unlinkFileNow(path: string): void {
  performingNow({ kind: 'remove', path }, () => removeOneNow(path));
}

/** Removes a folder with its contents. A missing one is no error. */
export function removeTree(path: string): Promise<void> {
  return performing({ kind: 'remove_tree', path }, () => rm(path, { recursive: true, force: true }));
}

/** The same, synchronously. */
export function removeTreeNow(path: string): void {
  performingNow({ kind: 'remove_tree', path }, () => removeDeepNow(path));
}

/** Node's `rmSync` tells most errors of a disk as unknown ones, without their code. */
function removeDeepNow(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) removeOneNow(path);
  else {
    for (const name of readdirSync(path)) removeDeepNow(join(path, name));
    rmdirSync(path);
  }
}

function removeOneNow(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Removes an empty folder. Throws ENOENT, ENOTEMPTY. */
export function removeFolder(path: string): Promise<void> {
  return performing({ kind: 'remove_folder', path }, () => rmdir(path));
}

/**
 * Makes a folder that only its owner can use, and missing folders above it. On a read-only disk Node's recursive
 * `mkdir` fails with ENOENT; the plain one gives the real cause.
 */
export async function makeFolder(path: string): Promise<void> {
  await performing({ kind: 'make_folder', path }, async () => {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!isMissing(error)) throw error;
      await mkdir(path, { mode: 0o700 });
    }
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The same, synchronously. */
export function makeFolderNow(path: string): void {
  performingNow({ kind: 'make_folder', path }, () => {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (!isMissing(error)) throw error;
      mkdirSync(path, { mode: 0o700 });
    }
  });
}

/** Makes a new folder. Throws EEXIST. */
export async function makeNewFolder(path: string): Promise<void> {
  await performing({ kind: 'make_folder', path }, () => mkdir(path, { mode: 0o700 }));
}

/** Sets the permissions of a file or folder. */
export function chmodFile(path: string, mode: number): Promise<void> {
  return performing({ kind: 'mode', path }, () => chmod(path, mode));
}

/** The same, synchronously. */
export function chmodFileNow(path: string, mode: number): void {
  performingNow({ kind: 'mode', path }, () => chmodSync(path, mode));
}

/** Gives a file or folder to a user and a group, by their ids. Of a link: the link itself. */
export function giveToNow(path: string, user: number, group: number): void {
  performingNow({ kind: 'owner', path }, () => lchownSync(path, user, group));
}

/** Sets the times of a file or folder, in epoch seconds. */
export function setTimesNow(path: string, seconds: number): void {
  performingNow({ kind: 'mode', path }, () => utimesSync(path, seconds, seconds));
}

/**
 * Writes a whole file, for its owner alone unless `mode` says otherwise; `flag` as of `fs.open`, `w` by default. On
 * disk only after `syncFile`.
 */
export function writeFile(
  path: string,
  data: string | Uint8Array,
  { mode = 0o600, flag = 'w' }: { mode?: number; flag?: string } = {},
): Promise<void> {
  return performing({ kind: 'create', path }, () => write(path, data, { mode, flag }));
}

/** Makes a new file with these bytes and has it on disk; its name is durable with `syncFolderNow`. Throws EEXIST. */
export function writeNewFileNow(path: string, data: string | Uint8Array, mode = 0o600): void {
  performingNow({ kind: 'create', path }, () => writeFileSync(path, data, { mode, flag: 'wx' }));
  syncFileNow(path);
}

/** Opens a file for writing, as `flags` of `fs.open` say, for its owner alone unless `mode` says otherwise. */
export function createFile(path: string, flags = 'wx', mode = 0o600): Promise<FileHandle> {
  return performing({ kind: 'create', path }, () => open(path, flags, mode));
}

/** Makes an empty new file. Throws EEXIST. */
export function createFileNow(path: string, mode = 0o600): void {
  performingNow({ kind: 'create', path }, () => closeSync(openSync(path, 'wx', mode)));
}

/**
 * Control groups of the kernel look like folders and files, and are on no disk: their changes are no effects.
 */
export function makeControlGroupNow(path: string): void {
  mkdirSync(path, { recursive: true });
}

/** Removes an empty control group. False when it is not there or not empty. */
export function removeControlGroupNow(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Tells the kernel something through a control file. Throws what it says. */
export function writeControlFileNow(path: string, text: string): void {
  writeFileSync(path, text);
}

/** The same beside the thread: the kernel takes milliseconds to move a process. */
export function writeControlFile(path: string, text: string): Promise<void> {
  return write(path, text);
}

type Options = Exclude<Parameters<typeof createWriteStream>[1], BufferEncodingOption | string | null | undefined>;

/**
 * A stream into a file that only its owner can read, unless `mode` says otherwise. On disk only after `syncFile`.
 * Creating the file is one effect, writing the first bytes another.
 */
export function writeStream(
  path: string,
  { flags = 'w', mode = 0o600 }: { flags?: string; mode?: number } = {},
): WriteStream {
  let begun = false;
  /** Reports the first bytes to the observer; false when it made them fail. */
  const begins = (refused: (error: NodeJS.ErrnoException, written: number) => void): boolean => {
    if (begun) return true;
    try {
      observer?.before?.({ kind: 'write', path });
    } catch (error) {
      refused(error as NodeJS.ErrnoException, 0);
      return false;
    }
    begun = true;
    return true;
  };
  const observed = <T extends unknown[]>(first: boolean, done: (...args: T) => void) =>
    first
      ? (...args: T) => {
          if (args[0] === null) observer?.after?.({ kind: 'write', path });
          done(...args);
        }
      : done;
  const through = {
    open(at: string, openFlags: string, openMode: number, done: (error: Error | null, descriptor?: number) => void) {
      try {
        observer?.before?.({ kind: 'create', path });
      } catch (error) {
        return process.nextTick(done, error as Error);
      }
      nodeOpen(at, openFlags, openMode, (error, descriptor) => {
        if (error === null) happened({ kind: 'create', path });
        done(error, descriptor);
      });
    },
    write(
      descriptor: number,
      bytes: Uint8Array,
      offset: number,
      length: number,
      position: number | null,
      done: (error: NodeJS.ErrnoException | null, written: number, buffer: Uint8Array) => void,
    ) {
      const first = !begun;
      if (begins((error) => process.nextTick(done, error, 0, bytes))) {
        nodeWrite(descriptor, bytes, offset, length, position, observed(first, done));
      }
    },
    writev(
      descriptor: number,
      pieces: Uint8Array[],
      position: number | null,
      done: (error: NodeJS.ErrnoException | null, written: number, buffers: NodeJS.ArrayBufferView[]) => void,
    ) {
      const first = !begun;
      if (begins((error) => process.nextTick(done, error, 0, pieces))) {
        nodeWritev(descriptor, pieces, position, observed(first, done));
      }
    },
    close: nodeClose,
  };
  return createWriteStream(path, { flags, mode, fs: through } as unknown as Options);
}
