/**
 * Copies of a file with everything that is in it, as backups keep them, made into one clean file. Knows nothing of
 * processes or rows.
 */
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf, WinterdockError } from '../base/errors.ts';

/** Pages copied in one step: all of them, so that writes beside it do not make it begin again. */
const EVERY_PAGE = 2_147_483_647;
const BUSY_MS = 5000;
const MOST_WORDS = 300;

/**
 * Makes the file at `path` one clean file, out of WAL mode as every file at rest is: the log beside it is taken up.
 * `from`: it is first copied from this file, beside the process that writes that, as one moment left it; in one read
 * transaction, which no writer waits for. Resolves with the first complaint of SQLite's `quick_check`, or null. Throws
 * `conflict` when SQLite cannot read `from` just now.
 */
export async function copyComplete(from: string | null, path: string): Promise<string | null> {
  if (from !== null) await copyBeside(from, path);
  let db: DatabaseSync | null = null;
  try {
    db = new DatabaseSync(path, { allowExtension: false });
    db.exec('PRAGMA trusted_schema = OFF; PRAGMA journal_mode = DELETE');
    const says = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    return says === 'ok' ? null : String(says).slice(0, MOST_WORDS);
  } catch (error) {
    return messageOf(error).slice(0, MOST_WORDS);
  } finally {
    db?.close();
  }
}

async function copyBeside(from: string, path: string): Promise<void> {
  let source: DatabaseSync | null = null;
  try {
    const address = pathToFileURL(from);
    address.search = 'mode=ro';
    source = new DatabaseSync(address, { readOnly: true, timeout: BUSY_MS, allowExtension: false });
    source.exec('PRAGMA trusted_schema = OFF');
    await backup(source, path, { rate: EVERY_PAGE });
  } catch (error) {
    throw new WinterdockError('conflict', `The file cannot be copied just now: ${messageOf(error)}.`, { cause: error });
  } finally {
    source?.close();
  }
}
