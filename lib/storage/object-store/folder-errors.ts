/** What the system says of the folder of a store, in the words of the store's contract. */
import { isWinterdockError } from '../../base/errors.ts';
import { leadsNowhere } from '../../base/is-there.ts';
import type { AwayReason } from './object-store.ts';
import { storeAway } from './store-errors.ts';

/** System errors of a folder, by what they say of the store. Any other is none of the store's. */
const SYSTEM: Readonly<Record<string, AwayReason>> = {
  ...{ EACCES: 'refused', EPERM: 'refused', EROFS: 'refused' },
  ...{ ENOSPC: 'full', EDQUOT: 'full', EFBIG: 'full', EIO: 'failing', EMFILE: 'failing', ENFILE: 'failing' },
  ...{ ESTALE: 'unreachable', ENODEV: 'unreachable', ENXIO: 'unreachable', ENOTCONN: 'unreachable' },
  ...{ EHOSTDOWN: 'unreachable', ETIMEDOUT: 'timeout' },
};

/** Runs work on the store's folder. `isRoot`: what is missing is the store itself. */
export async function inFolder<T>(work: () => Promise<T>, isRoot = false): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isWinterdockError(error) || !(error instanceof Error && 'code' in error)) throw error;
    if (isRoot && leadsNowhere(error)) throw storeAway('no_bucket', error);
    const reason = SYSTEM[String(error.code)];
    throw reason === undefined ? error : storeAway(reason, error);
  }
}
