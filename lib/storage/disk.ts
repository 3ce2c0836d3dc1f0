/**
 * The drawers on local disk. `cold` keeps a file as it is, so that filing on one filesystem is a rename; `archive`
 * keeps it zstd-compressed; a sealed one keeps copies that nothing may change. Unfinished work lives in a drawer's own
 * `.staging/`, where no key is. A drawer may lie on another filesystem than the others.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, constants as fsConstants } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { chmodFile, copyFile, makeFolderNow, writeStream } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { type CopyKind, copyDrawer } from '../registry/copies.ts';
import type { Drawer } from './drawer.ts';
import { intoPlace, moveFile, removeFile, stagingFor, stampOf } from './files.ts';

/** zstd's own default level: 3 compresses text about as well as gzip at several times the speed. */
const ZSTD_LEVEL = 3;

async function* keysIn(folder: string, suffix: string): AsyncIterable<string> {
  for await (const entry of await opendir(folder)) {
    if (entry.isFile() && entry.name.endsWith(suffix)) yield entry.name.slice(0, -suffix.length);
  }
}

function refuseTaken(drawer: Drawer, key: string): void {
  if (drawer.stamp(key) === null) return;
  throw new WinterdockError('conflict', `There is a file of "${key}" in the drawer already.`, {
    hint: 'It was kept. It is set aside as an orphan at the next start.',
  });
}

/** A drawer of plain files: `<folder>/<key>.sqlite`. `put` and `fetch` move. */
export function createColdDrawer(dataFolder: string, folder = 'cold'): Drawer {
  makeFolderNow(join(dataFolder, folder));
  const pathOf = (key: string) => `${folder}/${key}.sqlite`;
  const absolute = (key: string) => join(dataFolder, pathOf(key));
  const drawer: Drawer = {
    pathOf,
    async put(source, key) {
      refuseTaken(drawer, key);
      await (await moveFile(source, absolute(key), stagingFor(dataFolder, absolute(key)))).makeDurable();
      return null;
    },
    fetch: (key, target) => moveFile(absolute(key), target, stagingFor(dataFolder, target)),
    open: (key) => (stampOf(absolute(key)) === null ? null : absolute(key)),
    stamp: (key) => stampOf(absolute(key)),
    remove: (key) => removeFile(absolute(key)),
    keys: () => keysIn(join(dataFolder, folder), '.sqlite'),
  };
  return drawer;
}

/**
 * A drawer of files that nothing may change: `<folder>/<key>.sqlite`, with the permissions `mode`. `put` moves; `fetch`
 * copies, sharing the blocks where the filesystem can, and gives a copy that its owner may write.
 */
function createSealedDrawer(dataFolder: string, folder: string, mode: number): Drawer {
  makeFolderNow(join(dataFolder, folder));
  const pathOf = (key: string) => `${folder}/${key}.sqlite`;
  const absolute = (key: string) => join(dataFolder, pathOf(key));
  const drawer: Drawer = {
    pathOf,
    async put(source, key) {
      refuseTaken(drawer, key);
      await chmodFile(source, mode);
      await (await moveFile(source, absolute(key), stagingFor(dataFolder, absolute(key)))).makeDurable();
      return null;
    },
    async fetch(key, target) {
      if (stampOf(absolute(key)) === null) {
        throw new WinterdockError('missing_file', 'The copy that this is made from is not in its drawer.');
      }
      await intoPlace(target, stagingFor(dataFolder, target), async (unfinished) => {
        await copyFile(absolute(key), unfinished, fsConstants.COPYFILE_FICLONE);
        await chmodFile(unfinished, 0o600);
      });
      return { makeDurable: async () => {} };
    },
    open: (key) => (stampOf(absolute(key)) === null ? null : absolute(key)),
    stamp: (key) => stampOf(absolute(key)),
    remove: (key) => removeFile(absolute(key)),
    keys: () => keysIn(join(dataFolder, folder), '.sqlite'),
  };
  return drawer;
}

/** The drawers of snapshots, for their owner's eyes only, and of blueprints. */
export function createCopyDrawers(dataFolder: string): Record<CopyKind, Drawer> {
  return {
    snapshot: createSealedDrawer(dataFolder, copyDrawer('snapshot'), 0o400),
    blueprint: createSealedDrawer(dataFolder, copyDrawer('blueprint'), 0o444),
  };
}

/** Lets bytes pass and hashes them on the way. */
function hashing(hash: Hash): (chunks: AsyncIterable<Buffer>) => AsyncIterable<Buffer> {
  return async function* (chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

/**
 * A drawer of compressed files: `<folder>/<key>.sqlite.zst`. `put` and `fetch` copy; the source stays until it is
 * forgotten.
 */
export function createArchiveDrawer(dataFolder: string, folder = 'archive'): Drawer {
  makeFolderNow(join(dataFolder, folder));
  const pathOf = (key: string) => `${folder}/${key}.sqlite.zst`;
  const absolute = (key: string) => join(dataFolder, pathOf(key));
  const drawer: Drawer = {
    pathOf,
    async put(source, key) {
      refuseTaken(drawer, key);
      const hash = createHash('sha256');
      await intoPlace(absolute(key), stagingFor(dataFolder, absolute(key)), async (unfinished) => {
        const compress = createZstdCompress({
          params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
        });
        await pipeline(createReadStream(source), hashing(hash), compress, writeStream(unfinished));
      });
      return hash.digest('hex');
    },
    async fetch(key, target) {
      if (stampOf(absolute(key)) === null) {
        throw new WinterdockError('missing_file', `The archive has no file of "${key}".`);
      }
      await intoPlace(target, stagingFor(dataFolder, target), async (unfinished) => {
        try {
          await pipeline(createReadStream(absolute(key)), createZstdDecompress(), writeStream(unfinished));
        } catch (error) {
          if (error instanceof Error && 'code' in error && /^Z(STD)?_/.test(String(error.code))) {
            throw new WinterdockError('corrupt', `The archived file of "${key}" does not expand.`, { cause: error });
          }
          throw error;
        }
      });
      return { makeDurable: async () => {} };
    },
    open: () => null,
    stamp: (key) => stampOf(absolute(key)),
    remove: (key) => removeFile(absolute(key)),
    keys: () => keysIn(join(dataFolder, folder), '.sqlite.zst'),
  };
  return drawer;
}
