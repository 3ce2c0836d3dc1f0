/**
 * Where the compiled code of workers is kept: one folder per version of the code, made by the first worker and read by
 * the others.
 */

import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolderNow, removeTreeNow, setTimesNow } from '../base/effects.ts';

const LIB = dirname(dirname(fileURLToPath(import.meta.url)));
const LOCK = join(dirname(LIB), 'package-lock.json');
const DIGEST_LENGTH = 16;
/** Another version may still run beside this one; after a day without a start it is an old one. */
const KEEP_MS = 86_400_000;

/** Names the code that workers run: changes with Node, with an installed package and with any file of ours. */
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

/**
 * The folder for this version of the code below `parent` (an absolute path), which is made when it is missing; those of
 * other versions are removed a day after they were last started. Only servers of one user and their workers may write
 * to `parent`.
 */
export function compileCacheFolder(parent: string): string {
  const folder = join(parent, versionOfCode());
  makeFolderNow(folder);
  const now = Date.now();
  setTimesNow(folder, now / 1000);
  for (const other of readdirSync(parent).map((name) => join(parent, name))) {
    const used = statSync(other, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - used > KEEP_MS) removeTreeNow(other);
  }
  return folder;
}

/**
 * The folder of the server's own compiled code below `parent`, which is made when it is missing: beside those of the
 * workers, none of which may write there, and not with the code, which may belong to somebody else.
 */
export function serverCompileCacheFolder(parent: string): string {
  const folder = join(parent, 'server');
  makeFolderNow(folder);
  setTimesNow(folder, Date.now() / 1000);
  return folder;
}

/** Whether nothing was compiled into a folder yet. */
export function isEmptyFolder(folder: string): boolean {
  return readdirSync(folder).length === 0;
}
