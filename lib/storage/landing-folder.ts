/**
 * `live/.landing/`: where what workers made goes before anybody removes it. A folder of the server's alone, through
 * which no worker passes, on the filesystem of the live drawer. `<id>.<token>` is a live folder whose own files are
 * still to be taken out of it; `.removed-<token>` is only to be removed, by a process beside the server, one after the
 * other. Knows nothing of rows, and of what lies there only names.
 */
import { randomUUID } from 'node:crypto';
import { opendirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolderNow, renameFileNow } from '../base/effects.ts';
import { leadsNowhere } from '../base/is-there.ts';
import { inFolderNow, isThereNow, lookAtNow, removeStrangersTrees } from '../base/strangers-file.ts';
import { SHIPPED_SUFFIX } from '../vfs/shipped-log.ts';
import { LANDING } from './files.ts';

const REMOVED = '.removed-';
/** Names that are given to one removal. */
const AT_ONCE = 1000;

/** The server's own file in a live folder, for the processes to read. Nothing in it is ever believed. */
export const SHIPPED_MARK = `vfs.sqlite${SHIPPED_SUFFIX}`;
/** A file of a sandbox, and what lies beside it. A live folder has no others. */
export const LIVE_NAMES: readonly string[] = [
  'vfs.sqlite',
  'vfs.sqlite-wal',
  'vfs.sqlite-journal',
  'vfs.sqlite-shm',
  SHIPPED_MARK,
];

/** The names in a folder (absolute): at most `most` and one more. None when there is no such folder. */
export function firstNamesIn(folder: string, most: number): string[] {
  const names: string[] = [];
  try {
    const opened = opendirSync(folder, { bufferSize: most + 3 });
    try {
      for (let entry = opened.readSync(); entry !== null && names.length <= most; entry = opened.readSync())
        names.push(entry.name);
    } finally {
      opened.closeSync();
    }
  } catch (error) {
    if (!leadsNowhere(error)) throw error;
  }
  return names;
}

/** Whether there is a folder at the path: a link to one is none. */
export function isFolderNow(path: string): boolean {
  return inFolderNow(path, () => true) ?? false;
}

/** Whether a live folder (absolute) is there and holds files of a sandbox and nothing else. */
export function holdsOwnFilesAlone(folder: string): boolean {
  if (!isFolderNow(folder)) return false;
  const names = firstNamesIn(folder, LIVE_NAMES.length);
  return names.every((name) => LIVE_NAMES.includes(name) && lookAtNow(join(folder, name))?.isFile() !== false);
}

/** Takes the live folder of a sandbox (absolute) to where its own files are taken out of it. Returns the new path. */
export function bringToLandingNow(dataFolder: string, folder: string, id: string): string {
  return moveAsideNow(dataFolder, folder, `${id}.${randomUUID()}`);
}

/**
 * Takes what is only to be removed out of the way; `removeLater` removes it. Returns the new path, null when there was
 * nothing. Its old name is gone durably once the folder that had it is synced.
 */
export function setAsideNow(dataFolder: string, path: string): string | null {
  return isThereNow(path) ? moveAsideNow(dataFolder, path, REMOVED + randomUUID()) : null;
}

function moveAsideNow(dataFolder: string, path: string, name: string): string {
  const aside = join(landingFolder(dataFolder), name);
  makeFolderNow(dirname(aside));
  renameFileNow(path, aside);
  return aside;
}

/** The folder (absolute) where it all goes. */
export function landingFolder(dataFolder: string): string {
  return join(dataFolder, 'live', LANDING);
}

/** Of a name in it, whose live folder it was; null for what is only to be removed. */
export function landedId(name: string): string | null {
  return name.startsWith(REMOVED) ? null : (name.split('.')[0] ?? null);
}

/** The removals of this process, one after the other. */
let removals: Promise<void> = Promise.resolve();
let ending = new AbortController();
/** What could not be removed yet: a process may have gone on making things in it. */
const left = new Set<string>();

/**
 * Removes what was set aside (absolute), behind what waits for the same and beside everything else. Nobody needs to
 * know when: what fails `removeLeft` tries again, and what is ended the next start removes.
 */
export function removeLater(path: string): void {
  const { signal } = ending;
  removals = removals.then(async () => {
    if (!signal.aborted) await removeStrangersTrees([path], signal).catch(() => void left.add(path));
  });
}

/** Tries what could not be removed again. */
export function removeLeft(): void {
  for (const path of left) {
    left.delete(path);
    removeLater(path);
  }
}

/** Removes what is in a folder (absolute) that workers write into. The folder stays: they may have been given it. */
export async function emptyOfStrangers(folder: string): Promise<void> {
  for (;;) {
    const [first, ...more] = firstNamesIn(folder, AT_ONCE).map((name) => join(folder, name));
    if (first === undefined) return;
    await removeStrangersTrees([first, ...more]);
  }
}

/** Ends the removal that runs, and drops those that wait. */
export async function endRemovals(): Promise<void> {
  ending.abort();
  ending = new AbortController();
  await removals;
}
