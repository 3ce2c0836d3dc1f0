/** The folders of V8's compile cache: one per version of the code. The first worker writes it, the others read it. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolderNow, removeTreeNow, setTimesNow } from '../base/effects.ts';

const LIB = dirname(dirname(fileURLToPath(import.meta.url)));
const LOCK = join(dirname(LIB), 'package-lock.json');
const DIGEST_LENGTH = 16;
/** Another version may still run beside this one. A folder that no start has used for a day is old. */
const KEEP_MS = 86_400_000;
/** Why an old folder may stay. */
const LEFT_THERE = ['EACCES', 'EPERM', 'ENOENT', 'ENOTEMPTY'];

/** A digest of the code that workers run. It changes with Node, with an installed package and with any of our files. */
function versionOfCode(): string {
  const hash = createHash('sha256').update(process.version);
  const sources = readdirSync(LIB, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of [LOCK, ...sources.sort()]) {
    const stat = statSync(file, { throwIfNoEntry: false });
    hash.update(`${file} ${stat?.size} ${stat?.mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
}

/** The version that this process runs: decided at the first call, as its code was loaded before. */
let version: string | undefined;

/**
 * Creates and returns the cache folder for this version of the code below `parent` (an absolute path). Removes folders
 * of other versions one day after their last use. Only servers of one user and their workers may write to `parent`.
 * `user`: the id of the user of workers, who writes it; none: the server's.
 */
export function compileCacheFolder(parent: string, user?: number | null): string {
  version ??= versionOfCode();
  return inUse(parent, version, user == null ? usable(join(parent, version)) : join(parent, `${version}-${user}`));
}

/**
 * Creates and returns the folder of helpers' compile cache below `parent`, of this version of the code too. Workers
 * cannot write there: a server that is not root has its workers' user, so the folder is in none that is theirs.
 */
export function helperCompileCacheFolder(parent: string): string {
  version ??= versionOfCode();
  return inUse(parent, version, usable(join(parent, `${version}-helpers`)));
}

/** Makes the folder, and removes those of other versions than this one where they are old. */
function inUse(parent: string, version: string, folder: string): string {
  makeFolderNow(folder);
  const now = Date.now();
  setTimesNow(folder, now / 1000);
  for (const name of readdirSync(parent)) {
    // This version's folders, whoever their user, are in use; a server with another clock may have set their times.
    if (name === version || name.startsWith(`${version}-`)) continue;
    const other = join(parent, name);
    const used = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - used > KEEP_MS) removeOld(other);
  }
  return folder;
}

/** The folder, or one of this user's own where a server of another user, such as root's, has made that one. */
function usable(folder: string): string {
  const user = process.getuid?.() ?? 0;
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? user;
  return user === 0 || owner === user ? folder : `${folder}-${user}`;
}

/**
 * What workers of another user have made, a server that is not root has to leave there; and what another server removes
 * at the same time, or one of that version writes into meanwhile, is not this one's.
 */
function removeOld(folder: string): void {
  try {
    removeTreeNow(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!LEFT_THERE.includes(code ?? '')) throw error;
  }
}

/**
 * Creates and returns the folder of the server's own compile cache below `parent`. Workers cannot write there. It is
 * not beside the code, because the code may belong to another user.
 */
export function serverCompileCacheFolder(parent: string): string {
  const folder = usable(join(parent, 'server'));
  makeFolderNow(folder);
  setTimesNow(folder, Date.now() / 1000);
  return folder;
}

/** Whether nothing has been compiled into this folder yet; one that somebody has removed is empty. */
export function isEmptyFolder(folder: string): boolean {
  return !existsSync(folder) || readdirSync(folder).length === 0;
}
