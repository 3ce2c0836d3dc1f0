/**
 * One server per data folder: an exclusive SQLite transaction on a file of its own, which the kernel lets go when the process is
 * gone, however it went. What a server keeps in it is for its own user's eyes. Knows nothing of what that is but its names.
 */
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** What servers make at the top of a data folder. */
const OURS =
  /^(?:archive|auth\.secret|blueprints|bundles|cache|cold|expanded|live|lock\.sqlite|orphans|registry\.sqlite.*|snapshots|staging|.*\.key)$/;
const OWNER_ONLY = 0o700;

/**
 * Takes the folder (made when missing) and closes what lies in it of ours to other users of the machine, however it was made. Returns the
 * release. Throws when another server holds it.
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(folder, 'lock.sqlite'), { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) {
      throw new Error(`Another Winterdock uses the data folder ${folder}. Stop it, or set WB_DATA to another folder.`);
    }
    throw error;
  }
  for (const name of readdirSync(folder)) if (OURS.test(name)) close(join(folder, name));
  return () => {
    if (database.isOpen) database.close();
  };
}

function close(path: string): void {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) chmodSync(path, mode & OWNER_ONLY);
  } catch {
    // Another user's, or gone meanwhile: who owns it decides who may read it.
  }
}
