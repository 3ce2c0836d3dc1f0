/**
 * A store whose word counts only while it is the installation's: what says that an object is there is followed by a
 * look at the marker. A bucket that was swapped for another of the same name has uploads and no marker.
 */
import type { ObjectStore } from './object-store.ts';
import { storeAway } from './store-errors.ts';
import type { WatchedStore } from './watched-store.ts';

/** Throws `storage_unavailable` unless the store has the installation's marker now. */
export async function requireMarker(watched: Pick<WatchedStore, 'check'>, signal?: AbortSignal): Promise<void> {
  const { away } = await watched.check(signal);
  if (away !== null) throw storeAway(away);
}

/** The store with its marker looked at after each upload and each head. They throw `storage_unavailable` without it. */
export function markedStore(store: ObjectStore, watched: Pick<WatchedStore, 'check'>): ObjectStore {
  const marked = async <T>(result: T, signal: AbortSignal | undefined): Promise<T> => {
    await requireMarker(watched, signal);
    return result;
  };
  return {
    ...store,
    upload: async (name, path, options = {}) => marked(await store.upload(name, path, options), options.signal),
    head: async (name, options = {}) => marked(await store.head(name, options), options.signal),
  };
}
