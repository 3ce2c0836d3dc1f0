/**
 * Files that contain one secret: made once, readable by their owner only, synced before use. Knows nothing of the
 * secret.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { linkFileNow, makeFolderNow, syncFolderNow, unlinkFileNow, writeNewFileNow } from './effects.ts';

/**
 * The text of the file at `path` (absolute), or null when there is none. Throws the system's error when it cannot be
 * read.
 */
export function readSecretFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    // A container's volume for a file that is not there makes a folder.
    if (isCode(error, 'EISDIR')) throw new Error(`${path} is a folder and should be a file.`, { cause: error });
    throw error;
  }
}

/**
 * The text of the file at `path`. When there is none, it is written with the text of `make` and mode 0600. When several
 * processes do so at once, one wins and all get its text. Survives a power cut once this returns.
 */
export function readOrMakeSecretFile(path: string, make: () => string): string {
  const existing = readSecretFile(path);
  clearDrafts(path);
  if (existing !== null) return existing;
  const folder = dirname(path);
  makeFolderNow(folder);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    writeNewFileNow(draft, make());
    linkFileNow(draft, path);
  } catch (error) {
    // Another process was first: its secret counts.
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

/** Removes drafts of ended processes, because each contains a secret. A failed removal is retried at the next call. */
function clearDrafts(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const [, pid] = name.startsWith(`${basename(path)}.`) ? (/\.(\d+)\.[0-9a-f]{8}$/.exec(name) ?? []) : [];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    try {
      unlinkFileNow(join(folder, name));
    } catch {
      // A draft that stays does no harm: it is readable by its owner only, like the secret itself.
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
