/**
 * One server per data folder and per registry. Two locks each: an exclusive SQLite transaction on a lock file, and
 * `flock` on the folder or registry itself, which stays even when somebody removes the lock file. The kernel releases
 * both when the process ends, however it ends. Also closes the data folder to other users. Knows only the names in it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../base/config.ts';
import { chmodFileNow, makeFolderNow } from '../base/effects.ts';
import { giveMadeToOwner, leaveToOwner } from '../base/folder-owner.ts';

/** The names that a server creates at the top of its data folder. */
const OWN_NAMES =
  /^(?:archive|auth\.secret|blueprints|bundles|cache|cold|expanded|live|lock\.sqlite|orphans|registry\.sqlite.*|snapshots|spill|staging|.*\.key)$/;
const OF_OTHERS = 0o077;
const OTHERS_MAY_WRITE = 0o002;
const PERMISSIONS = 0o7777;
/** Part of util-linux. It locks a descriptor that it inherits; the lock then belongs to the process that opened it. */
const FLOCK = '/usr/bin/flock';
/** The exit code that we tell it to use when another process holds the lock. */
const CONFLICT_EXIT = 75;

/**
 * Locks a data folder (made when missing) and takes the rights of other users from everything that a server created in
 * it, and the right to put something else in its place. What root makes in the folder of another user from then on is
 * that user's. Returns the release. Throws when another server holds the lock.
 */
export function lockDataFolder(folder: string): () => void {
  const unlock = lockBoth(
    folder,
    join(folder, 'lock.sqlite'),
    `Another Winterdock uses the data folder ${folder}. Stop it, or set WB_DATA to another folder.`,
  );
  const keepFromNowOn = leaveToOwner(folder);
  takeRights(folder, OTHERS_MAY_WRITE);
  for (const name of readdirSync(folder)) {
    if (!OWN_NAMES.test(name)) continue;
    takeRights(join(folder, name), OF_OTHERS);
    giveMadeToOwner(join(folder, name));
  }
  return () => {
    keepFromNowOn();
    unlock();
  };
}

/**
 * Locks the data folder, and the registry when it is elsewhere: two servers with folders of their own but one registry
 * would each reconcile the other's sandboxes. Returns the release. Throws when another server holds a lock.
 */
export function lockStores({ dataFolder, registryPath }: Pick<Config, 'dataFolder' | 'registryPath'>): () => void {
  const unlock = lockDataFolder(dataFolder);
  if (registryPath === ':memory:' || dirname(registryPath) === dataFolder) return unlock;
  try {
    const release = lockBoth(
      registryPath,
      `${registryPath}.lock`,
      `Another Winterdock uses the registry ${registryPath}. Stop it, or set WB_REGISTRY to another file.`,
    );
    return () => {
      release();
      unlock();
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Locks `target` itself and the lock file at `path`. `message`: the error when either is taken. */
function lockBoth(target: string, path: string, message: string): () => void {
  const unlock = lockFile(path, message);
  try {
    const release = lockTarget(target, message);
    return () => {
      release();
      unlock();
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Locks a folder or file by its inode. Without `flock`, or when the target does not exist yet, only the lock file
 * protects it. A registry's descriptor must be closed after SQLite's own: closing any descriptor of a file drops all
 * locks that the process has on it.
 */
function lockTarget(target: string, message: string): () => void {
  if (!existsSync(FLOCK) || !existsSync(target)) return () => {};
  const descriptor = openSync(target, 'r');
  const { status } = spawnSync(FLOCK, ['--exclusive', '--nonblock', '--conflict-exit-code', `${CONFLICT_EXIT}`, '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  let isOpen = true;
  const release = () => {
    if (isOpen) closeSync(descriptor);
    isOpen = false;
  };
  if (status !== CONFLICT_EXIT) return release;
  release();
  throw new Error(message);
}

function lockFile(path: string, message: string): () => void {
  makeFolderNow(dirname(path));
  const database = openLock(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) {
      throw new Error(message);
    }
    if (error instanceof Error && /not a database|malformed/i.test(error.message)) {
      throw new Error(`The lock file ${path} is damaged. It holds nothing: remove it and start again.`);
    }
    throw error;
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (cause) {
    throw new Error(`${path} cannot be opened: the server’s user has to be able to write to its folder.`, { cause });
  }
}

function takeRights(path: string, rights: number): void {
  try {
    const { mode } = statSync(path);
    if ((mode & rights) !== 0) chmodFileNow(path, mode & PERMISSIONS & ~rights);
  } catch {
    // It belongs to another user, who decides who may read it, or is gone by now.
  }
}
