/**
 * One server per data folder and per registry: an exclusive SQLite transaction on a file of its own, which the kernel lets go when the process is
 * gone, however it went. What a server keeps in it is for its own user's eyes. Knows nothing of what that is but its names.
 */

import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Config } from '../config.ts';
import { chmodFileNow, makeFolderNow } from '../storage/effects.ts';

/** What servers make at the top of a data folder. */
const OURS =
  /^(?:archive|auth\.secret|blueprints|bundles|cache|cold|expanded|live|lock\.sqlite|orphans|registry\.sqlite.*|snapshots|staging|.*\.key)$/;
const OWNER_ONLY = 0o700;

/**
 * Takes the folder (made when missing) and closes what lies in it of ours to other users of the machine, however it was made. Returns the
 * release. Throws when another server holds it.
 */
export function lockFolder(folder: string): () => void {
  const unlock = lockFile(
    join(folder, 'lock.sqlite'),
    `Another Winterdock uses the data folder ${folder}. Stop it, or set WB_DATA to another folder.`,
  );
  for (const name of readdirSync(folder)) if (OURS.test(name)) close(join(folder, name));
  return unlock;
}

/**
 * Takes what a server writes to: its data folder, and its registry where that lies elsewhere, so that two with folders of their own never settle
 * each other's sandboxes. Returns the release. Throws when another server holds either.
 */
export function lockStores({ dataFolder, registryPath }: Pick<Config, 'dataFolder' | 'registryPath'>): () => void {
  const unlock = lockFolder(dataFolder);
  if (registryPath === ':memory:' || dirname(registryPath) === dataFolder) return unlock;
  try {
    const release = lockFile(
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
