/**
 * What leaves a replica: everything of a forgotten sandbox, and series that no moment within the retention needs. A
 * list that is old or incomplete lets something stay until the next round; it never makes anything needed go.
 */
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import {
  begunMs,
  compareSeries,
  parseSegmentName,
  replicaPrefix,
  type SegmentSeries,
  seriesName,
} from './replica-names.ts';

type RemovalStore = Pick<ObjectStore, 'list' | 'purge'>;

/** Lists in a row that have to be empty: the first may be of before the last removal. */
const EMPTY_LISTS = 2;

export interface RemovedSegments {
  removed: number;
  /** Until when a lock of the store keeps bytes of them (epoch milliseconds); null: nothing remains. */
  remainsUntil: number | null;
}

/** Removes everything of a sandbox, every version of it. Stops between two names once `isOver` says so. */
export async function removeReplicaOf(
  store: RemovalStore,
  id: string,
  isOver: () => boolean = () => false,
): Promise<RemovedSegments> {
  const all: RemovedSegments = { removed: 0, remainsUntil: null };
  const gone = new Set<string>();
  for (let empty = 0; empty < EMPTY_LISTS && !isOver(); ) {
    const names = await namesUnder(store, replicaPrefix(id));
    const left = names.filter((name) => !gone.has(name));
    empty = left.length === 0 ? empty + 1 : 0;
    await purge(store, left, all, isOver);
    for (const name of left) gone.add(name);
  }
  return all;
}

/**
 * Removes the series of a sandbox that ended before `beforeMs` (epoch milliseconds): those after which another one had
 * begun by then. The last series stays, unless `isDeleted` and nothing came since. Returns how many segments went.
 */
export async function removeOldSeries(
  store: RemovalStore,
  id: string,
  { beforeMs, isDeleted, isOver = () => false }: { beforeMs: number; isDeleted: boolean; isOver?: () => boolean },
): Promise<RemovedSegments> {
  const found = new Map<string, { series: SegmentSeries; names: string[]; newestAt: number; hasBase: boolean }>();
  for await (const page of store.list(replicaPrefix(id))) {
    for (const { name, at } of page) {
      const place = parseSegmentName(name);
      if (place === null) continue;
      const key = seriesName(place.series);
      const known = found.get(key) ?? { series: place.series, names: [], newestAt: 0, hasBase: false };
      known.names.push(name);
      known.newestAt = Math.max(known.newestAt, at);
      known.hasBase ||= place.min === 1;
      found.set(key, known);
    }
  }
  const inOrder = [...found.values()].sort((one, other) => compareSeries(one.series, other.series));
  const all: RemovedSegments = { removed: 0, remainsUntil: null };
  for (const [at, { names, newestAt }] of inOrder.entries()) {
    const next = inOrder.slice(at + 1).find(({ hasBase }) => hasBase);
    const isOld = next === undefined ? isDeleted && newestAt < beforeMs : begunMs(next.series) < beforeMs;
    if (isOld) await purge(store, names, all, isOver);
  }
  return all;
}

async function namesUnder(store: RemovalStore, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const page of store.list(prefix)) names.push(...page.map(({ name }) => name));
  return names;
}

async function purge(
  store: RemovalStore,
  names: readonly string[],
  all: RemovedSegments,
  isOver: () => boolean,
): Promise<void> {
  for (const name of names) {
    if (isOver()) return;
    const { remainsUntil } = await store.purge(name);
    all.removed += 1;
    if (remainsUntil !== null) all.remainsUntil = Math.max(all.remainsUntil ?? 0, remainsUntil);
  }
}
