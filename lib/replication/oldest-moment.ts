/** From when on a replica has moments of a sandbox. */
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { compareSeries, parseSegmentName, replicaPrefix, type SegmentPlace, segmentName } from './replica-names.ts';
import { readSegmentHead } from './replica-reader.ts';

/** Epoch milliseconds of the oldest state that a base makes; null: there is none. Throws `storage_unavailable`. */
export async function oldestMomentMs(store: Pick<ObjectStore, 'list' | 'open'>, id: string): Promise<number | null> {
  let oldest: SegmentPlace | null = null;
  for await (const page of store.list(replicaPrefix(id))) {
    for (const { name } of page) {
      const place = parseSegmentName(name);
      if (place === null || place.min !== 1) continue;
      const order = oldest === null ? -1 : compareSeries(place.series, oldest.series) || place.max - oldest.max;
      if (order < 0) oldest = place;
    }
  }
  return oldest === null ? null : (await readSegmentHead(store, segmentName(oldest))).timeMs;
}
