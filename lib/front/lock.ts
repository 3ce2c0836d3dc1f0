/**
 * One server per data folder and per registry: an exclusive SQLite transaction on a file of its own, and a lock on the
 * folder (or the registry's file) itself, which nobody can remove beside a server that runs. The kernel lets both go
 * when the process is gone, however it went. What a server keeps in its folder is for its own user's eyes. Knows
 * nothing of what that is but its names.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../base/config.ts';
import { chmodFileNow, makeFolderNow } from '../base/effects.ts';

/** What servers make at the top of a data folder. */
const OURS =
  /^(?:archive|auth\.secret|blueprints|bundles|cache|cold|expanded|live|lock\.sqlite|orphans|registry\.sqlite.*|snapshots|spill|staging|.*\.key)$/;
const OWNER_ONLY = 0o700;
/** Part of util-linux: takes a lock on a descriptor that it inherits, which is then held by whoever opened that. */
const FLOCK = '/usr/bin/flock';
/** What it ends with when another holds the lock. */
const HELD = 75;

/**
 * Takes the folder (made when missing) and closes what lies in it of ours to other users of the machine, however it was
 * made. Returns the release. Throws when another server holds it.
 */
export function lockFolder(folder: string): () => void {
  const unlock = lockBoth(
    folder,
    join(folder, 'lock.sqlite'),
    `Another Winterdock uses the data folder ${folder}. Stop it, or set WB_DATA to another folder.`,
  );
  for (const name of readdirSync(folder)) if (OURS.test(name)) close(join(folder, name));
  return unlock;
}

/**
 * Takes what a server writes to: its data folder, and its registry where that lies elsewhere, so that two with folders
 * of their own never settle each other's sandboxes. Returns the release. Throws when another server holds either.
 */
export function lockStores({ dataFolder, registryPath }: Pick<Config, 'dataFolder' | 'registryPath'>): () => void {
  const unlock = lockFolder(dataFolder);
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

/** Locks `thing` itself and the lock file at `path`. Returns the release. */
function lockBoth(thing: string, path: string, taken: string): () => void {
  const unlock = lockFile(path, taken);
  try {
    const release = lockItself(thing, taken);
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
 * Locks a folder or file by its inode. Where the system has no such locks, or the thing is not there yet, the lock file
 * is all there is. A registry's descriptor is closed after SQLite's own: with the first that is closed a process loses
 * its locks on a file.
 */
function lockItself(thing: string, taken: string): () => void {
  if (!existsSync(FLOCK) || !existsSync(thing)) return () => {};
  const descriptor = openSync(thing, 'r');
  const { status } = spawnSync(FLOCK, ['--exclusive', '--nonblock', '--conflict-exit-code', `${HELD}`, '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  let held = true;
  const release = () => {
    if (held) closeSync(descriptor);
    held = false;
  };
  if (status !== HELD) return release;
  release();
  throw new Error(taken);
}

function lockFile(path: string, taken: string): () => void {
  makeFolderNow(dirname(path));
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) {
      throw new Error(taken);
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

function close(path: string): void {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) chmodFileNow(path, mode & OWNER_ONLY);
  } catch {
    // Another user's, or gone meanwhile: who owns it decides who may read it.
  }
}
