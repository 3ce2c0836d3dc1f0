/** From when on a replica has moments of a sandbox, and the error of an earlier time. */
import { WinterdockError } from '../base/errors.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { compareSeries, parseSegmentName, replicaPrefix, type SegmentPlace, segmentName } from './replica-names.ts';
import { readSegmentHead } from './replica-reader.ts';

/** Epoch milliseconds of the oldest state that a base makes; null: there is none. Throws `storage_unavailable`. */
async function oldestMomentMs(store: Pick<ObjectStore, 'list' | 'open'>, id: string): Promise<number | null> {
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

/** The error for who asks for a moment up to `atMs` (epoch milliseconds; null: now), of which there is none. */
export async function noMomentUpTo(
  store: Pick<ObjectStore, 'list' | 'open'>,
  id: string,
  atMs: number | null,
): Promise<WinterdockError> {
  const oldestMs = await oldestMomentMs(store, id);
  const from = oldestMs === null ? 'nothing of it' : `its moments since ${new Date(oldestMs).toISOString()}`;
  const upTo = atMs === null ? '' : ` up to ${new Date(atMs).toISOString()}`;
  return new WinterdockError('moment_gone', `The replica has no moment of "${id}"${upTo}: it has ${from}.`, {
    extra: { oldest: oldestMs === null ? null : oldestMs / 1000 },
  });
}
