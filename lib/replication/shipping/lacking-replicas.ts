/**
 * Which replicas the store does not have any more, though it was given them: it was emptied, put back to an older copy,
 * or lost something. What a list lacks is only a reason to look closer. Nothing is known of what has other bytes than
 * it had: that a restore finds.
 */
import { HEADER_BYTES, TRAILER_BYTES } from '../ltx/ltx-header.ts';
import { chainTo, findMoment, type ReplicaStore } from '../moments/replica-reader.ts';
import {
  compareSeries,
  parseSegmentName,
  type SegmentPlace,
  type SegmentSeries,
  seriesName,
} from '../names/replica-names.ts';
import { isObjectLost } from '../segment-bundles/bundle-format.ts';
import { manyAtOnce, type TenantBundles } from '../segment-bundles/bundle-reader.ts';

/** Up to where the store was given the replica of a sandbox, or of the registry. */
export interface StoredUpTo {
  id: string;
  series: SegmentSeries;
  /** Of the last segment. */
  txid: number;
}

/**
 * Those of `points` that cannot be made of what is in the store. `bundlesOf`: those of a sandbox's tenant; null: there
 * are none. The points are of before the call. Throws `storage_unavailable`.
 */
export async function lackingReplicas(
  store: ReplicaStore,
  points: readonly StoredUpTo[],
  bundlesOf: (id: string) => Promise<TenantBundles | null>,
): Promise<StoredUpTo[]> {
  const listed = new Map<string, SegmentPlace[]>(points.map((point) => [keyOf(point), []]));
  if (listed.size === 0) return [];
  for await (const page of store.list('replica/')) {
    for (const { name, bytes } of page) {
      const place = bytes > HEADER_BYTES + TRAILER_BYTES ? parseSegmentName(name) : null;
      if (place !== null) listed.get(keyOf(place))?.push(place);
    }
  }
  const doubtful = points.filter((point) => !leadsTo(listed.get(keyOf(point)) ?? [], point.txid));
  const there = await manyAtOnce(doubtful, async (point) => isThere(store, point, await bundlesOf(point.id)));
  return doubtful.filter((_, at) => !there[at]);
}

const keyOf = ({ id, series }: Pick<StoredUpTo, 'id' | 'series'>) => `${id} ${seriesName(series)}`;

/** Whether a state of that number, or of a later one, can be made. */
function leadsTo(segments: readonly SegmentPlace[], txid: number): boolean {
  const ends = new Set(segments.map(({ max }) => max).filter((max) => max >= txid));
  return [...ends].some((end) => chainTo(segments, end) !== null);
}

/** The same, by asking for it as a restore does. What is damaged is not there. */
async function isThere(
  store: Parameters<typeof findMoment>[0],
  { id, series, txid }: StoredUpTo,
  bundles: TenantBundles | null,
): Promise<boolean> {
  try {
    const moment = await findMoment(store, id, null, bundles);
    if (moment === null) return false;
    const order = compareSeries(moment.series, series);
    return order > 0 || (order === 0 && (moment.chain.at(-1)?.max ?? 0) >= txid);
  } catch (error) {
    if (isObjectLost(error)) return false;
    throw error;
  }
}
