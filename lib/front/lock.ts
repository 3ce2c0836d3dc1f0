/**
 * One server per data folder: an exclusive SQLite transaction on a file of its own, which the kernel lets go when the process is
 * gone, however it went. Knows nothing of what is in the folder.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Takes the folder (made when missing). Returns the release. Throws when another server holds it. */
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
  return () => {
    if (database.isOpen) database.close();
  };
}
