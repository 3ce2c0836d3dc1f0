/** The epoch of the ledger whose server used the store below the drawers last: a restore begins a later one. */
import type { Config } from '../base/config.ts';
import { isWinterdockError } from '../base/errors.ts';
import { readMarker } from '../storage/object-store/marker.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';

/** 0 without a store, and of one that cannot be asked: who begins an epoch then is refused by the store later. */
export async function epochInStore({ store }: Pick<Config, 'store'>): Promise<number> {
  const { cold, connection } = store;
  if (cold === null) return 0;
  try {
    const opened = await openObjectStore(cold.url, connection);
    try {
      const marker = await readMarker(opened);
      return marker === null || marker === 'other' ? 0 : (marker.epoch ?? 0);
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'storage_unavailable') return 0;
    throw error;
  }
}
