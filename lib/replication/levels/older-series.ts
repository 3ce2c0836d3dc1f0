/** Removes what a replica has of one database from before a series: in the store, and in the spool. */
import { join } from 'node:path';
import { removeTree } from '../../base/effects.ts';
import { namesIn } from '../../storage/inventory.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import {
  compareSeries,
  parseSegmentName,
  replicaPrefix,
  type SegmentSeries,
  seriesName,
} from '../names/replica-names.ts';

export interface OlderSeries {
  store: Pick<ObjectStore, 'list' | 'purge'>;
  /** Absolute, of the database. */
  spool: string;
  id: string;
  /** The first one that stays. */
  since: SegmentSeries;
}

/**
 * True once nothing older was found, and something of the series itself: a list may lack what was stored or removed
 * just now. False: ask again. Ends early when `isOver` says so. Throws what the store throws.
 */
export async function removeOlder({ store, spool, id, since }: OlderSeries, isOver: () => boolean): Promise<boolean> {
  for (const name of [...namesIn(spool)]) if (name !== seriesName(since)) await removeTree(join(spool, name));
  let isThere = false;
  let removed = 0;
  for await (const page of store.list(replicaPrefix(id))) {
    for (const { name } of page) {
      if (isOver()) return false;
      const place = parseSegmentName(name);
      if (place !== null && compareSeries(place.series, since) >= 0) isThere = true;
      else {
        await store.purge(name);
        removed += 1;
      }
    }
  }
  return isThere && removed === 0;
}
