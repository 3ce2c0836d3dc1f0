/**
 * Copies the objects of an installation from one store into another, beside a running server or without one: names are
 * written once, so a copy that is there with the same size is not made again, and what is interrupted goes on where it
 * stopped. Each is hashed on its way out and on its way in. Changes nothing in the first store, and no row.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { makeFolder } from '../base/effects.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import { LISTING_SUFFIX, ROW_SUFFIX } from '../sandboxes/store/row-document.ts';
import { discard } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

export interface MovedObjects {
  /** Copied now, and their bytes. */
  copied: number;
  bytes: number;
  /** There already. */
  there: number;
  /** Those that could not be copied, with the reason. */
  left: { name: string; why: string }[];
}

/** Pages of names of whole objects. */
type Names = (after: string, limit: number) => Promise<readonly string[]>;

const PAGE = 200;
/** What may lie beside an object. */
const BESIDE = [ROW_SUFFIX, LISTING_SUFFIX];

/**
 * Copies every object of `names`, with what lies beside it. `folder` (absolute) has room for the largest. Throws
 * `storage_unavailable` when one of the stores is away: run it again.
 */
export async function moveObjects(parts: {
  from: ObjectStore;
  to: ObjectStore;
  names: Names;
  folder: string;
  progress?: (moved: MovedObjects) => void;
}): Promise<MovedObjects> {
  const { from, to, names, folder, progress } = parts;
  await makeFolder(folder);
  const moved: MovedObjects = { copied: 0, bytes: 0, there: 0, left: [] };
  for (let after = ''; ; ) {
    const page = await names(after, PAGE);
    if (page.length === 0) return moved;
    for (const name of page) {
      try {
        const bytes = await copyObject(from, to, name, folder);
        if (bytes === null) moved.there += 1;
        else {
          moved.copied += 1;
          moved.bytes += bytes;
        }
      } catch (error) {
        if (!isWinterdockError(error) || error.code === 'storage_unavailable') throw error;
        moved.left.push({ name, why: messageOf(error) });
      }
      progress?.(moved);
    }
    after = page.at(-1) ?? after;
  }
}

/** Copies an object last, so that one that is there has all that lies beside it. Null: it was there. */
async function copyObject(from: ObjectStore, to: ObjectStore, name: string, folder: string): Promise<number | null> {
  const [source, copy] = await Promise.all([from.head(name), to.head(name)]);
  if (source !== null && copy !== null && source.bytes === copy.bytes) return null;
  for (const beside of BESIDE)
    if ((await from.head(name + beside)) !== null) await through(from, to, name + beside, folder);
  return through(from, to, name, folder);
}

async function through(from: ObjectStore, to: ObjectStore, name: string, folder: string): Promise<number> {
  const path = join(folder, randomUUID());
  try {
    const { sha256 } = await from.download(name, path);
    // A copy of another size is of an attempt that somebody broke off elsewhere.
    await to.remove(name);
    const { bytes } = await to.upload(name, path, { sha256 });
    return bytes;
  } finally {
    await discard(path);
  }
}
