/**
 * Exclusive locks between processes. Two each: an SQLite transaction on a lock file, and `flock` on the target itself,
 * which stays when somebody removes the lock file and which a hard link has too. The kernel releases both when the
 * process ends, however it ends. Knows nothing of what is locked.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createFileNow, makeFolderNow } from './effects.ts';
import { giveMadeToOwner } from './folder-owner.ts';

/** Part of util-linux. It locks a descriptor that it inherits; the lock then belongs to the process that opened it. */
const FLOCK = '/usr/bin/flock';
/** The exit code that we tell it to use when another process holds the lock. */
const CONFLICT_EXIT = 75;
/**
 * How long a lock file that is held is tried again, in milliseconds. Two that begin at the same moment each find the
 * other reading it, and without a second try both would be refused.
 */
const TIE_MS = 250;
const DENIED = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * The inodes that this process holds, lock files and targets. Closing any descriptor of a file drops the locks that the
 * process has on it by `fcntl`, as SQLite takes them: what is in here is not opened a second time.
 */
const held = new Set<string>();

export interface HeldLock {
  /**
   * Locks the target's inode too, where the target was made or replaced since. Throws when another process holds that;
   * what this process has open of it is to be closed before the release.
   */
  cover(): void;
  /** Releases everything. Idempotent. What this process has open of the target is closed before. */
  release(): void;
}

interface LockNames {
  /** Of the lock file, which is made. */
  path: string;
  /** Of the error when another holds the lock. */
  message: string;
  /** Another lock protects the target's name: the lock file is needed only where inodes cannot be locked. */
  nameIsHeld?: boolean;
}

/** Locks a folder or a file, which need not be there yet, by a lock file and by its inode. */
export function holdLock(target: string, { path, message, nameIsHeld = false }: LockNames): HeldLock {
  const releases: (() => unknown)[] = [];
  let covered: string | null = null;
  let hasFile = false;
  const holdName = () => {
    if (!hasFile) releases.push(holdLockFile(path, message));
    hasFile = true;
  };
  const lock: HeldLock = {
    cover() {
      const inode = inodeOf(target);
      if (inode === null || inode === covered) return;
      if (held.has(inode)) throw new Error(message);
      const descriptor = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
      // Also where it is another's: it is closed at the release, when nobody in this process has the target open.
      releases.push(() => closeSync(descriptor));
      const outcome = lockInode(descriptor);
      if (outcome === 'taken') throw new Error(message);
      if (outcome === 'impossible') holdName();
      held.add(inode);
      releases.push(() => held.delete(inode));
      covered = inode;
    },
    release() {
      for (const release of releases.splice(0).reverse()) release();
    },
  };
  try {
    if (!nameIsHeld) holdName();
    lock.cover();
  } catch (error) {
    lock.release();
    throw error;
  }
  return lock;
}

/**
 * Takes several locks in the order given, none of which waits. When one cannot be had, those before it are released.
 * Returns the release of all, in reverse; idempotent.
 */
export function holdInOrder(takes: readonly (() => () => void)[]): () => void {
  const releases: (() => void)[] = [];
  const release = () => {
    for (const one of releases.splice(0).reverse()) one();
  };
  try {
    for (const take of takes) releases.push(take());
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/**
 * Whether another process has locked a file or a folder by its inode. Makes nothing. False also where that cannot be
 * told: inodes cannot be locked there, or nothing is at the path.
 */
export function isHeldElsewhere(target: string): boolean {
  let descriptor: number | null = null;
  try {
    const inode = inodeOf(target);
    if (inode === null || held.has(inode)) return false;
    descriptor = openSync(target, constants.O_RDONLY | constants.O_NONBLOCK);
    return lockInode(descriptor) === 'taken';
  } catch {
    // What cannot be looked at cannot be told to be locked; whoever opens it is told why.
    return false;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** Identifies the file or folder that a path leads to; null when there is none. */
function inodeOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/** Locks what a descriptor is of. Impossible: the machine has no `flock`, or the file system does not lock. */
function lockInode(descriptor: number): 'held' | 'taken' | 'impossible' {
  if (!existsSync(FLOCK)) return 'impossible';
  const { status } = spawnSync(FLOCK, ['--exclusive', '--nonblock', '--conflict-exit-code', `${CONFLICT_EXIT}`, '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status === CONFLICT_EXIT) return 'taken';
  return status === 0 ? 'held' : 'impossible';
}

function holdLockFile(path: string, message: string): () => void {
  makeFolderNow(dirname(path));
  const database = openLockFile(path, message);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) throw new Error(message);
    if (error instanceof Error && /not a database|malformed/i.test(error.message)) {
      throw new Error(`The lock file ${path} is damaged. It holds nothing: remove it and start again.`);
    }
    throw error;
  }
  const inode = inodeOf(path);
  if (inode !== null) held.add(inode);
  return () => {
    if (inode !== null) held.delete(inode);
    database.close();
  };
}

/** Makes the file, where it is missing, and gives it to the owner of the folder: once it is locked, nobody opens it. */
function openLockFile(path: string, message: string): DatabaseSync {
  try {
    if (inodeOf(path) === null) createFileNow(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (DENIED.has(code)) throw unusable(path);
    // Otherwise another process made it at the same moment.
    if (code !== 'EEXIST') throw error;
  }
  const inode = inodeOf(path);
  if (inode !== null && held.has(inode)) throw new Error(message);
  giveMadeToOwner(path);
  try {
    return new DatabaseSync(path, { timeout: TIE_MS });
  } catch {
    throw unusable(path);
  }
}

function unusable(path: string): Error {
  return new Error(`${path} cannot be opened: the server’s user has to be able to write to its folder.`);
}
