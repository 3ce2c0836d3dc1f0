/**
 * Files that hold one secret: made once, readable by their owner only, on disk before they are used. Knows nothing of
 * what is in them.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { linkFileNow, makeFolderNow, syncFolderNow, unlinkFileNow, writeNewFileNow } from './effects.ts';

/**
 * The text of the file at `path` (absolute), or null when there is none. Throws what the system throws for any other
 * reason not to read it.
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
 * The text of the file at `path`; when there is none, `make` gives it and it is written with mode 0600. Of processes
 * that make it at once one wins and all get its text. Survives power loss once this returns.
 */
export function readOrMakeSecretFile(path: string, make: () => string): string {
  const kept = readSecretFile(path);
  clearDrafts(path);
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
    clearDrafts(path);
  }
  syncFolderNow(folder);
  const made = readSecretFile(path);
  if (made === null) throw new Error(`${path} could not be written.`);
  return made;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Removes drafts of processes that are gone: each holds a secret. One whose removal fails goes the next time. */
function clearDrafts(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const [, pid] = name.startsWith(`${basename(path)}.`) ? (/\.(\d+)\.[0-9a-f]{8}$/.exec(name) ?? []) : [];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    try {
      unlinkFileNow(join(folder, name));
    } catch {
      // The secret itself is there or about to be made; a draft that stays harms nothing but its own secrecy, and is
      // its owner's alone.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, 'EPERM');
  }
}
