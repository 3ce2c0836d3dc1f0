/**
 * A store of which the beginnings of objects are read once: whoever goes from moment to moment looks at the same ones
 * again, and each look at a store that is far away takes a while. An object of a replica is never written over. What is
 * gone or damaged since is found when a file is made of it.
 */
import { Readable } from 'node:stream';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { LOOK_BYTES } from './segment-look.ts';

/** Beginnings that are kept, those that were read last: some 8 MiB. */
const MOST = 2000;

/** The same store; a range at the beginning of an object, of as much as a look takes, is asked for once. */
export function rememberingHeads<Store extends Pick<ObjectStore, 'open'>>(store: Store): Store {
  /** The one that was used last is the last. */
  const heads = new Map<string, Buffer>();
  const headOf = async (name: string, options: { signal?: AbortSignal }): Promise<Buffer> => {
    const known = heads.get(name);
    heads.delete(name);
    const pieces: Buffer[] = [];
    if (known === undefined) {
      const range = { first: 0, last: LOOK_BYTES - 1 };
      for await (const piece of await store.open(name, { ...options, range })) pieces.push(piece);
    }
    const head = known ?? Buffer.concat(pieces);
    heads.set(name, head);
    if (heads.size > MOST) heads.delete(heads.keys().next().value ?? name);
    return head;
  };
  const open: Store['open'] = async (name, options = {}) => {
    const { range, ...rest } = options;
    if (range === undefined || range.first !== 0 || range.last === undefined || range.last >= LOOK_BYTES)
      return store.open(name, options);
    const head = await headOf(name, rest);
    return Readable.from([head.subarray(0, range.last + 1)], { objectMode: false });
  };
  return { ...store, open };
}
