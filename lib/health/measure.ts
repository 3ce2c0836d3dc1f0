/**
 * Counts the files of the data folder and their bytes, by drawer. It reads the size of every file, which is slow when
 * there are many, so no request waits for it unless it asks for a measurement.
 */
import type { Dir, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isStaging } from '../storage/files.ts';

/** Folders of the data folder that are told apart; the rest is `other`. */
export const DRAWERS = [
  'live',
  'cold',
  'archive',
  'snapshots',
  'blueprints',
  'orphans',
  'cache',
  'expanded',
  'staging',
  'bundles',
  'other',
] as const;
type DrawerName = (typeof DRAWERS)[number];

export interface Weight {
  drawer: DrawerName;
  /** Files of sandboxes or copies, without the logs and listings beside them; any file in the drawers of `ANY_FILE`. */
  files: number;
  /** Of all files in the drawer. */
  bytes: number;
}

/** Files asked for their size at the same time. */
const AT_ONCE = 16;
const VFS_FILE = /\.sqlite(?:\.zst)?$/;
/** Drawers that hold no sandbox files: every file counts. */
const ANY_FILE: readonly DrawerName[] = ['cache', 'expanded', 'staging', 'bundles', 'other'];

/** Measures the data folder. Skips files that disappear meanwhile. Asks `stopping` before each folder. */
export async function measureDrawers(dataFolder: string, stopping: () => boolean): Promise<Weight[]> {
  const weights = new Map<DrawerName, Weight>(DRAWERS.map((drawer) => [drawer, { drawer, files: 0, bytes: 0 }]));
  const weigh = async (path: string, name: string, drawer: DrawerName): Promise<void> => {
    const size = await sizeOf(path);
    const weight = weights.get(drawer);
    if (size === null || weight === undefined) return;
    weight.bytes += size;
    if (ANY_FILE.includes(drawer) || VFS_FILE.test(name)) weight.files += 1;
  };
  const measureFolder = async (folder: string, drawerOf: (entry: Dirent) => DrawerName): Promise<void> => {
    if (stopping()) return;
    const entries = await openFolder(folder);
    if (entries === null) return;
    let waiting: Promise<void>[] = [];
    for await (const entry of entries) {
      const path = join(folder, entry.name);
      const drawer = entry.isDirectory() && isStaging(entry.name) ? 'staging' : drawerOf(entry);
      if (entry.isDirectory()) await measureFolder(path, () => drawer);
      else waiting.push(weigh(path, entry.name, drawer));
      if (waiting.length < AT_ONCE) continue;
      await Promise.all(waiting);
      waiting = [];
    }
    await Promise.all(waiting);
  };
  await measureFolder(dataFolder, (entry) => {
    const known = DRAWERS.find((drawer) => drawer === entry.name);
    return entry.isDirectory() && known !== undefined ? known : 'other';
  });
  return [...weights.values()];
}

async function openFolder(folder: string): Promise<Dir | null> {
  try {
    return await opendir(folder, { bufferSize: 256 });
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
