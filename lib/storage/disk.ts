/**
 * The drawers on local disk. `cold` keeps a file as it is, so that filing on one filesystem is a rename; `archive`
 * keeps it zstd-compressed; a sealed one keeps copies that nothing may change. Unfinished work lies in a drawer's own
 * `.staging/`, where no key is. A drawer may lie on another filesystem than the others.
 */
import { constants as fsConstants } from 'node:fs';
import { lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { copyDrawer } from '../base/copy-paths.ts';
import { chmodFile, copyFile, giveToNow, makeFolder, removeTree, syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { isStrangers, isThereNow, lookAtNow } from '../base/strangers-file.ts';
import type { Drawer, Drawers, DrawerUsage, LogSuffix, RestingFile } from './drawer.ts';
import { intoPlace, moveFile, removeFile, stagingFor, stampOf, statOf } from './files.ts';
import { folderStatus, ifThere, namePages, probeFolder } from './folder.ts';
import { expand, pack } from './zstd.ts';

const LOG_SUFFIXES: readonly LogSuffix[] = ['-wal', '-journal', '-shm'];
/** Files asked for their size at the same time. */
const AT_ONCE = 16;
/** `st_blocks` counts these, whatever the filesystem's own are. */
const BLOCK_BYTES = 512;
const GROUP_MAY_READ = 0o040;

interface DiskFileOptions {
  packed?: boolean;
  /** Permissions of what `replace` puts in. */
  mode?: number;
}

/** A file that rests at `address`, a path relative to the data folder: of a drawer on disk, or of the live one. */
export function fileOnDisk(
  dataFolder: string,
  address: string,
  { packed = false, mode = 0o600 }: DiskFileOptions = {},
): RestingFile {
  const path = join(dataFolder, address);
  const move = async (source: string, target: string) =>
    (await moveFile(source, target, stagingFor(dataFolder, target))).makeDurable();
  return {
    address,
    packed,
    stat: async () => statOf(path),
    async read(look) {
      if (stampOf(path) === null) throw notThere();
      return look(path);
    },
    remove: (part = '') => removeFile(path + part),
    neighbours: async () =>
      LOG_SUFFIXES.filter((part) => isThereNow(path + part)).map((part) => ({
        part,
        size: stampOf(path + part)?.size ?? null,
      })),
    async takeOut(part, target) {
      if (!isThereNow(path + part)) throw notThere();
      await move(path + part, target);
    },
    giveBack: (source, part) => move(source, path + part),
    async replace(write, options) {
      if (!isThereNow(dirname(path))) await makeFolder(dirname(path));
      const put = async (unfinished: string) => {
        await write(unfinished);
        await chmodFile(unfinished, mode);
      };
      await intoPlace(path, stagingFor(dataFolder, path), put, options);
    },
    async allocatedBytes() {
      const found = await ifThere(isStrangers(path) ? lstat(path) : stat(path));
      return found === null ? null : found.blocks * BLOCK_BYTES;
    },
  };
}

/** The group that a file was given to, to be read; null where it was given to none. */
function groupThatReads(path: string): number | null {
  const stat = process.getuid?.() === 0 ? lookAtNow(path) : null;
  if (stat === null || (Number(stat.mode) & GROUP_MAY_READ) === 0) return null;
  return Number(stat.gid) === process.getgid?.() ? null : Number(stat.gid);
}

function notThere(): WinterdockError {
  return new WinterdockError('missing_file', 'The file is not where its row says.');
}

function refuseTaken(path: string, key: string): void {
  if (stampOf(path) === null) return;
  throw new WinterdockError('conflict', `There is a file of "${key}" in the drawer already.`, {
    hint: 'It was kept. It is set aside as an orphan at the next start.',
  });
}

/** Ends of the names of files in a drawer on disk, after the key. */
export const PLAIN_SUFFIX = '.sqlite';
export const PACKED_SUFFIX = '.sqlite.zst';

/** What the drawers on disk share: a folder of the data folder, whose files are called by their key. */
function folderDrawer(dataFolder: string, folder: string, options: DiskFileOptions = {}) {
  const path = join(dataFolder, folder);
  const suffix = options.packed === true ? PACKED_SUFFIX : PLAIN_SUFFIX;
  const address = (key: string) => `${folder}/${key}${suffix}`;
  const keyPages = async function* () {
    for await (const names of namePages(path, (name, isFile) => name.endsWith(suffix) && isFile())) {
      yield names.map((name) => name.slice(0, -suffix.length));
    }
  };
  return {
    pathOf: (key: string) => join(dataFolder, address(key)),
    drawer: {
      prepare: () => makeFolder(path),
      at: (key: string) => fileOnDisk(dataFolder, address(key), options),
      keyPages,
      async usage(signal: AbortSignal): Promise<DrawerUsage> {
        const usage = { files: 0, bytes: 0 };
        for await (const keys of keyPages()) {
          for (let first = 0; first < keys.length; first += AT_ONCE) {
            signal.throwIfAborted();
            const some = keys
              .slice(first, first + AT_ONCE)
              .map((key) => ifThere(lstat(join(dataFolder, address(key)))));
            for (const found of await Promise.all(some)) {
              if (found === null) continue;
              usage.files += 1;
              usage.bytes += found.size;
            }
          }
        }
        return usage;
      },
      status: () => folderStatus(path),
      probe: () => probeFolder(path),
      async clear() {
        const names = await ifThere(readdir(path));
        if (names === null) return;
        for (const name of names) await removeTree(join(path, name));
        await syncFolder(path);
      },
    },
  };
}

/** A drawer of plain files: `<folder>/<key>.sqlite`. `put` and `fetch` move. */
export function createColdDrawer(dataFolder: string, folder = 'cold'): Drawer {
  const { drawer, pathOf } = folderDrawer(dataFolder, folder);
  return {
    ...drawer,
    async put(source, key) {
      const path = pathOf(key);
      refuseTaken(path, key);
      await (await moveFile(source, path, stagingFor(dataFolder, path))).makeDurable();
      return null;
    },
    fetch: (key, target) => moveFile(pathOf(key), target, stagingFor(dataFolder, target)),
  };
}

/**
 * A drawer of files that nothing may change: `<folder>/<key>.sqlite`, with the permissions `mode`. `put` moves; `fetch`
 * copies, sharing the blocks where the filesystem can, and gives a copy that its owner may write.
 */
function createSealedDrawer(dataFolder: string, folder: string, mode: number): Drawer {
  const { drawer, pathOf } = folderDrawer(dataFolder, folder, { mode });
  return {
    ...drawer,
    async put(source, key) {
      const path = pathOf(key);
      refuseTaken(path, key);
      await chmodFile(source, mode | (groupThatReads(source) === null ? 0 : GROUP_MAY_READ));
      await (await moveFile(source, path, stagingFor(dataFolder, path))).makeDurable();
      return null;
    },
    async fetch(key, target) {
      if (stampOf(pathOf(key)) === null) {
        throw new WinterdockError('missing_file', 'The copy that this is made from is not in its drawer.');
      }
      await intoPlace(target, stagingFor(dataFolder, target), async (unfinished) => {
        await copyFile(pathOf(key), unfinished, fsConstants.COPYFILE_FICLONE);
        await chmodFile(unfinished, 0o600);
      });
      return { moved: false, makeDurable: async () => {} };
    },
  };
}

/** A drawer of compressed files: `<folder>/<key>.sqlite.zst`. `put` and `fetch` copy. */
export function createArchiveDrawer(dataFolder: string, folder = 'archive'): Drawer {
  const { drawer, pathOf } = folderDrawer(dataFolder, folder, { packed: true });
  return {
    ...drawer,
    async put(source, key) {
      const path = pathOf(key);
      refuseTaken(path, key);
      let sha256: string | null = null;
      await intoPlace(path, stagingFor(dataFolder, path), async (unfinished) => {
        sha256 = await pack(source, unfinished);
        const group = groupThatReads(source);
        if (group === null) return;
        giveToNow(unfinished, 0, group);
        await chmodFile(unfinished, 0o600 | GROUP_MAY_READ);
      });
      return sha256;
    },
    async fetch(key, target) {
      if (stampOf(pathOf(key)) === null) {
        throw new WinterdockError('missing_file', `The archive has no file of "${key}".`);
      }
      await intoPlace(target, stagingFor(dataFolder, target), (unfinished) => expand(pathOf(key), unfinished, key));
      return { moved: false, makeDurable: async () => {} };
    },
  };
}

/** Every drawer on disk. Snapshots are for their owner's eyes only. */
export function createDiskDrawers(dataFolder: string): Drawers {
  return {
    cold: createColdDrawer(dataFolder),
    archive: createArchiveDrawer(dataFolder),
    snapshot: createSealedDrawer(dataFolder, copyDrawer('snapshot'), 0o400),
    blueprint: createSealedDrawer(dataFolder, copyDrawer('blueprint'), 0o400),
  };
}
