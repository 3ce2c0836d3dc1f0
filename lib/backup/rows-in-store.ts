/**
 * What the store below the drawers has documents of: the newest whole object of each sandbox, and the objects of
 * copies. Whoever can write there can have written them, so each is parsed strictly and compared with its object. A
 * list may be old: what is not in it is not concluded to be gone.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { addressOfObject, parseCloudAddress } from '../base/cloud-address.ts';
import { isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { type InstanceId, isInstanceId } from '../base/ids.ts';
import { type CopyDocument, parseCopyName, readCopyDocument } from '../copies/copy-document.ts';
import { MOST_ROW_BYTES, ROW_SUFFIX, type RowDocument, readRowDocument } from '../sandboxes/store/row-document.ts';
import { discard } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';

/** Objects of one sandbox that are looked at: it has one, and those of the last day. */
const MOST_OF_ONE = 8;
const MOST_COPY_BYTES = 512 * 1024;

export interface NamesInStore {
  /** Names of objects with a document, newest first. */
  sandboxes: Map<InstanceId, string[]>;
  copies: string[];
  /** Names of documents of which nobody knows what they are of. */
  strange: string[];
}

/** An object with its document, and what is wrong with those that are newer, a sentence each. */
export interface WholeObject<D> {
  found: { name: string; document: D } | null;
  passedOver: string[];
}

/** Lists the drawers in a store. Throws `storage_unavailable`. */
export async function namesInStore(store: Pick<ObjectStore, 'list'>): Promise<NamesInStore> {
  const filings = new Map<InstanceId, { name: string; generation: number; at: number }[]>();
  const names: NamesInStore = { sandboxes: new Map(), copies: [], strange: [] };
  for await (const page of store.list('drawers/')) {
    for (const { name: document, at } of page) {
      if (!document.endsWith(ROW_SUFFIX)) continue;
      const name = document.slice(0, -ROW_SUFFIX.length);
      const address = parseCloudAddress(addressOfObject(name));
      if (address !== null && isInstanceId(address.id)) {
        const known = filings.get(address.id) ?? [];
        filings.set(
          address.id,
          [...known, { name, generation: address.generation, at }].sort(later).slice(0, MOST_OF_ONE),
        );
      } else if (parseCopyName(name) !== null) names.copies.push(name);
      else names.strange.push(document);
    }
  }
  for (const [id, of] of filings)
    names.sandboxes.set(
      id,
      of.map(({ name }) => name),
    );
  return names;
}

function later(a: { generation: number; at: number }, b: { generation: number; at: number }): number {
  return b.generation - a.generation || b.at - a.at;
}

/**
 * The first of these objects that is whole, with its document. `verifyIn`: absolute path of a folder that is there, to
 * which each is brought and hashed; null: its bytes are counted by the store. Throws `storage_unavailable`.
 */
export async function newestWhole(
  store: ObjectStore,
  names: readonly string[],
  verifyIn: string | null,
): Promise<WholeObject<RowDocument>> {
  const passedOver: string[] = [];
  for (const name of names) {
    const document = await sound(passedOver, name, async () => {
      const read = readRowDocument(await store.get(name + ROW_SUFFIX, { most: MOST_ROW_BYTES }), name);
      const { bytes, sha256 } = read.stored;
      await requireBytes(store, name, bytes);
      if (verifyIn !== null) await verify(store, name, join(verifyIn, randomUUID()), { bytes, sha256 });
      return read;
    });
    if (document !== null) return { found: { name, document }, passedOver };
  }
  return { found: null, passedOver };
}

/** The object of a copy with its document, as `newestWhole`. */
export async function wholeCopy(
  store: ObjectStore,
  name: string,
  verifyIn: string | null,
): Promise<WholeObject<CopyDocument>> {
  const passedOver: string[] = [];
  const document = await sound(passedOver, name, async () => {
    const read = readCopyDocument(await store.get(name + ROW_SUFFIX, { most: MOST_COPY_BYTES }), name);
    const { bytes, sha256 } = read;
    if (bytes === undefined)
      throw new WinterdockError('validation', 'its document, of an earlier version, names no rows');
    await requireBytes(store, name, bytes);
    if (verifyIn !== null) await verify(store, name, join(verifyIn, randomUUID()), { bytes, sha256 });
    return read;
  });
  return { found: document === null ? null : { name, document }, passedOver };
}

/** What `look` returns; null, with the reason in `passedOver`, for what is not sound. */
async function sound<T>(passedOver: string[], name: string, look: () => Promise<T>): Promise<T | null> {
  try {
    return await look();
  } catch (error) {
    if (!isWinterdockError(error) || error.code === 'storage_unavailable') throw error;
    passedOver.push(`${name}: ${messageOf(error)}`);
    return null;
  }
}

async function requireBytes(store: ObjectStore, name: string, bytes: number): Promise<void> {
  const stat = await store.head(name);
  if (stat === null) throw new WinterdockError('missing_file', 'the object is not there');
  if (stat.bytes === bytes) return;
  throw new WinterdockError('corrupt', `the object has ${stat.bytes} bytes, and ${bytes} by its document`);
}

async function verify(
  store: ObjectStore,
  name: string,
  path: string,
  is: { bytes: number; sha256: string },
): Promise<void> {
  const packed = parseCloudAddress(addressOfObject(name))?.kind === 'archive';
  try {
    await store.download(name, path, { ...is, packed });
  } finally {
    await discard(path);
  }
}
