/**
 * Counts the files in the drawers and in the rest of the data folder, and their bytes. That takes long when there are
 * many, so no request waits for it unless it asks for a measurement.
 */
import type { Dir, Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKED_SUFFIX, PLAIN_SUFFIX } from '../storage/disk.ts';
import { DRAWER_KINDS, type DrawerKind, type Drawers } from '../storage/drawer.ts';
import { isCode, isStaging } from '../storage/files.ts';
import { LIVE_NAMES } from '../storage/landing-folder.ts';

/** Drawers, and folders of the data folder, that are told apart; the rest is `other`. */
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
const NAME_OF = {
  cold: 'cold',
  archive: 'archive',
  snapshot: 'snapshots',
  blueprint: 'blueprints',
} as const satisfies Record<DrawerKind, DrawerName>;
/** Drawers that hold no sandbox files: every file counts. */
const ANY_FILE: readonly DrawerName[] = ['cache', 'expanded', 'staging', 'bundles', 'other'];

/**
 * Measures the drawers and the data folder. Skips files that disappear meanwhile. Rejects with the reason of `signal`
 * once that is aborted.
 */
export async function measureDrawers(dataFolder: string, drawers: Drawers, signal: AbortSignal): Promise<Weight[]> {
  const weights = new Map<DrawerName, Weight>(DRAWERS.map((drawer) => [drawer, { drawer, files: 0, bytes: 0 }]));
  for (const kind of DRAWER_KINDS) {
    const drawer = NAME_OF[kind];
    weights.set(drawer, { drawer, ...(await drawers[kind].usage(signal)) });
  }
  const [live, spill] = [join(dataFolder, 'live'), join(dataFolder, 'spill')];
  const weigh = async (path: string, name: string, drawer: DrawerName): Promise<void> => {
    const size = await sizeOf(path);
    const weight = weights.get(drawer);
    if (size === null || weight === undefined) return;
    weight.bytes += size;
    if (ANY_FILE.includes(drawer) || VFS_FILE.test(name)) weight.files += 1;
  };
  const measureFolder = async (folder: string, drawerOf: (entry: Dirent) => DrawerName): Promise<void> => {
    signal.throwIfAborted();
    const entries = await openFolder(folder);
    if (entries === null) return;
    let waiting: Promise<void>[] = [];
    for await (const entry of entries) {
      const path = join(folder, entry.name);
      const drawer = entry.isDirectory() && isStaging(entry.name) ? 'staging' : drawerOf(entry);
      // Of the folder of a sandbox only its own files: an awake one has there what it likes.
      if (entry.isDirectory() && drawer === 'live' && folder === live)
        await Promise.all(LIVE_NAMES.map((name) => weigh(join(path, name), name, drawer)));
      else if (entry.isDirectory() && path !== spill) await measureFolder(path, () => drawer);
      else if (!isCounted(drawer, entry.name)) waiting.push(weigh(path, entry.name, drawer));
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

/** Whether a drawer has counted a file. Logs, listings and unfinished work lie in the folder, not in the drawer. */
function isCounted(drawer: DrawerName, name: string): boolean {
  const isDrawer = DRAWER_KINDS.some((kind) => NAME_OF[kind] === drawer);
  return isDrawer && name.endsWith(drawer === 'archive' ? PACKED_SUFFIX : PLAIN_SUFFIX);
}

async function openFolder(folder: string): Promise<Dir | null> {
  try {
    return await opendir(folder, { bufferSize: 256 });
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return null;
    throw error;
  }
}
