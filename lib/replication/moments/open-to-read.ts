/**
 * Opens the replica of the server that runs, to read what it has. A folder that is not there, or one that is in its
 * place, is away: it is not made, and nothing is concluded from what it lacks.
 */
import { parseStoreUrl } from '../../base/store-url.ts';
import { MARKER_NAME } from '../../storage/object-store/object-names.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { openObjectStore } from '../../storage/object-store/open-store.ts';
import { storeAway } from '../../storage/object-store/store-errors.ts';
import type { ReplicaAddress } from './moment-source.ts';

/** Throws `storage_unavailable` when it is away. */
export async function openToRead({ url, connection }: ReplicaAddress): Promise<ObjectStore> {
  const store = await openObjectStore(url, connection, { makes: false });
  try {
    // Whoever has a share or a disk mounted there has a folder of that name without it.
    const isHere = parseStoreUrl(url).driver === 'file';
    if (isHere && (await store.head(MARKER_NAME)) === null) throw storeAway('no_marker');
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
