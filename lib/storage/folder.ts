/**
 * Inspects local folders that hold drawers: names by the page, permissions, whether a file can be written. Knows
 * nothing of keys.
 */
import { type Dir, constants as fsConstants, opendirSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { unlinkFile, writeFile } from '../base/effects.ts';
import type { DrawerStatus } from './drawer.ts';
import { isCode, stampOf } from './files.ts';

/** Names per page. */
const PAGE = 1000;
const PROBE = '.probe';
/** The size of a sandbox's smallest file: on a full disk an empty file can still be made. */
const PROBE_CONTENT = new Uint8Array(4096);

/** The result of `looking`, or null when there is no such file or folder. */
export async function ifThere<T>(looking: Promise<T>): Promise<T | null> {
  try {
    return await looking;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function openFolder(folder: string): Dir | null {
  try {
    return opendirSync(folder, { bufferSize: PAGE });
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** The names in a folder that `wanted` accepts, a page at a time; other work runs between two pages. */
export async function* namePages(
  folder: string,
  wanted: (name: string, isFile: () => boolean) => boolean,
): AsyncGenerator<readonly string[]> {
  const opened = openFolder(folder);
  if (opened === null) return;
  try {
    let page: string[] = [];
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      const { name } = entry;
      const found = entry;
      const isFile = () => found.isFile() || (found.isSymbolicLink() && stampOf(join(folder, name)) !== null);
      if (wanted(name, isFile)) page.push(name);
      if (page.length < PAGE) continue;
      yield page;
      page = [];
      await setImmediate();
    }
    if (page.length > 0) yield page;
  } finally {
    opened.closeSync();
  }
}

/** The status of a drawer whose files lie in a local folder (absolute): the live one too. */
export async function folderStatus(folder: string): Promise<DrawerStatus> {
  const found = await ifThere(stat(folder));
  const { R_OK, W_OK, X_OK } = fsConstants;
  // The folder is missing or not accessible: either way nothing can be filed there, and the status reports it.
  const writable = await access(folder, R_OK | W_OK | X_OK).then(
    () => true,
    () => false,
  );
  return { writable, volume: found === null ? null : `device:${found.dev}` };
}

/** Throws when no file can be written into a local folder (absolute) now. */
export async function probeFolder(folder: string): Promise<void> {
  const path = join(folder, PROBE);
  try {
    await writeFile(path, PROBE_CONTENT);
    await unlinkFile(path);
  } catch (error) {
    // The unfinished probe is removed where possible; otherwise the next probe replaces it.
    await unlinkFile(path).catch(() => undefined);
    throw error;
  }
}
