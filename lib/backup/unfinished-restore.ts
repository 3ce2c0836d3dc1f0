/**
 * A marker file in a data folder that is being restored: no server starts on half a restore, and the next restore knows
 * how far this one got. Also counts what is in the drawers and in their folders, and sets it aside. Knows nothing of
 * backups.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import type { Config } from '../base/config.ts';
import { makeFolder, removeTree, renameFile, syncFile, syncFolder, unlinkFile, writeFile } from '../base/effects.ts';
import { isThere } from '../base/is-there.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { Drawers, RestingFile } from '../storage/drawer.ts';
import { moveFile } from '../storage/files.ts';

interface Places extends Pick<Config, 'dataFolder'> {
  driver: RegistryDriver;
}

const MARK = 'restoring.json';
/** Says where a registry was set aside that has no files. */
const REGISTRY_NOTE = 'registry.txt';
/**
 * Folders of the data folder whose files are named by rows, or lie beside such a file: that of the live drawer, and
 * those of drawers on disk. The listings of archived sandboxes lie there wherever the archive is. Files in other
 * folders are temporary.
 */
const FOLDERS = ['live', 'cold', 'archive', 'snapshots', 'blueprints'];

const markSchema = z.object({
  backup: z.string(),
  /** Folder in the data folder for the files that were set aside. */
  aside: z.string().regex(/^replaced-[0-9TZ.-]+$/),
  /** `aside`: the old files are being moved away. `laying`: all files in the drawers come from the restore. */
  phase: z.enum(['aside', 'laying']),
});
export type RestoreMark = z.infer<typeof markSchema>;

/** How far an interrupted restore got, or null. Throws when the marker cannot be read. */
export function unfinishedRestore(dataFolder: string): RestoreMark | null {
  const path = join(dataFolder, MARK);
  if (!isThere(path)) return null;
  return markSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

/** Throws when a restore was interrupted in the folder: a server must not start on half of it. */
export function refuseUnfinishedRestore(dataFolder: string): void {
  const mark = unfinishedRestore(dataFolder);
  if (mark === null) return;
  throw new Error(
    `A restore of the backup ${mark.backup} was broken off in ${dataFolder}. Run it again; what was there before is in ${join(dataFolder, mark.aside)}.`,
  );
}

/** Replaces the file. On disk once it resolves. */
export async function markRestore(dataFolder: string, mark: RestoreMark): Promise<void> {
  const draft = join(dataFolder, `${MARK}.draft`);
  await writeFile(draft, `${JSON.stringify(mark)}\n`);
  await syncFile(draft);
  await renameFile(draft, join(dataFolder, MARK));
  await syncFolder(dataFolder);
}

/** Removes the marker: the restore is complete. */
export async function endRestore(dataFolder: string): Promise<void> {
  await unlinkFile(join(dataFolder, MARK));
  await syncFolder(dataFolder);
}

/** Files in the folders of drawers, relative to the data folder. Unfinished ones are left out. */
export function filesIn(dataFolder: string): string[] {
  return FOLDERS.flatMap((name) => {
    const folder = join(dataFolder, name);
    if (!isThere(folder)) return [];
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(dataFolder, join(entry.parentPath, entry.name)))
      .filter((path) => !path.includes('.staging'));
  });
}

/** How many files a restore would replace: in the drawers, and what lies in their folders. */
export async function countFiles({ dataFolder }: Pick<Config, 'dataFolder'>, drawers: Drawers): Promise<number> {
  const paths = new Set(isThere(dataFolder) ? filesIn(dataFolder) : []);
  for await (const { address } of restingFiles(drawers)) paths.add(address);
  return paths.size;
}

async function* restingFiles(drawers: Drawers): AsyncGenerator<RestingFile> {
  for (const drawer of Object.values(drawers)) {
    for await (const keys of drawer.keyPages()) yield* keys.map((key) => drawer.at(key));
  }
}

/**
 * Moves the registry and every file of the drawers to the folder `aside` of the data folder. May be repeated. The
 * signed head stays: it is named in the ledger.
 */
export async function setAsideAll({ dataFolder, driver }: Places, drawers: Drawers, aside: string): Promise<void> {
  const kept = join(dataFolder, aside);
  await setRegistryAside({ dataFolder, driver }, aside);
  // A folder's own name is on disk before anything is moved into it.
  const made = new Set([kept]);
  const make = async (folder: string): Promise<void> => {
    if (made.has(folder)) return;
    await make(dirname(folder));
    await makeFolder(folder);
    await syncFolder(dirname(folder));
    made.add(folder);
  };
  for await (const file of restingFiles(drawers)) {
    const to = join(kept, file.address);
    await make(dirname(to));
    await file.takeOut('', to);
  }
  for (const path of filesIn(dataFolder)) {
    const to = join(kept, path);
    await make(dirname(to));
    await move(join(dataFolder, path), to, kept);
  }
  await clearDrawers(dataFolder, drawers);
}

/** Moves the registry alone to the folder `aside` of the data folder. May be repeated. */
export async function setRegistryAside({ dataFolder, driver }: Places, aside: string): Promise<void> {
  const kept = join(dataFolder, aside);
  await makeFolder(kept);
  const elsewhere = await driver.setAside((path, name) => move(path, join(kept, name), kept));
  if (elsewhere !== null) await note(join(kept, REGISTRY_NOTE), elsewhere);
  await syncFolder(dataFolder);
}

/** Removes the files in the drawers and the registry. Only for an interrupted restore. */
export async function clearAll({ dataFolder, driver }: Places, drawers: Drawers): Promise<void> {
  await driver.remove();
  await clearDrawers(dataFolder, drawers);
}

async function clearDrawers(dataFolder: string, drawers: Drawers): Promise<void> {
  for (const drawer of Object.values(drawers)) await drawer.clear();
  for (const name of FOLDERS) {
    const folder = join(dataFolder, name);
    if (!isThere(folder)) continue;
    for (const name of readdirSync(folder)) await removeTree(join(folder, name));
    await syncFolder(folder);
  }
}

async function note(path: string, text: string): Promise<void> {
  await writeFile(path, `${text}\n`);
  await syncFile(path);
  await syncFolder(dirname(path));
}

async function move(path: string, to: string, staging: string): Promise<void> {
  await (await moveFile(path, to, join(staging, '.staging'))).makeDurable();
}
