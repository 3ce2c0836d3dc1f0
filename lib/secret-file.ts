/** Files that hold one secret: made once, readable by their owner only, on disk before they are used. Knows nothing of what is in them. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { linkFileNow, makeFolderNow, syncFolderNow, unlinkFileNow, writeNewFileNow } from './storage/effects.ts';

/**
 * The text of the file at `path` (absolute), or null when there is none. Throws what the system throws for any other reason not to
 * read it.
 */
export function readSecretFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * The text of the file at `path`; when there is none, `make` gives it and it is written with mode 0600. Of processes that make it at
 * once one wins and all get its text. Survives power loss once this returns.
 */
export function readOrMakeSecretFile(path: string, make: () => string): string {
  const kept = readSecretFile(path);
  if (kept !== null) return kept;
  const folder = dirname(path);
  makeFolderNow(folder);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeNewFileNow(draft, make());
    linkFileNow(draft, path);
  } catch (error) {
    // Someone else was first: theirs is the secret.
    if (!isCode(error, 'EEXIST')) throw error;
  } finally {
    unlinkFileNow(draft);
  }
  syncFolderNow(folder);
  const made = readSecretFile(path);
  if (made === null) throw new Error(`${path} could not be written.`);
  return made;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
