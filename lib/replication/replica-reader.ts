/**
 * Reads a replica: which moments of a sandbox there are, and the file as it was at one of them. Concludes nothing from
 * a name that a list lacks, but that it cannot be read: a chain is used only where it is whole.
 */
import { join } from 'node:path';
import { makeFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { parseStoreUrl } from '../base/store-url.ts';
import { discard } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { decodeHeader, HEADER_BYTES } from './ltx-header.ts';
import { type Rebuilt, rebuild } from './rebuild.ts';
import {
  begunMs,
  compareSeries,
  parseSegmentName,
  replicaPrefix,
  type SegmentPlace,
  type SegmentSeries,
  segmentFile,
  segmentName,
  seriesName,
} from './replica-names.ts';

/** Segments that are brought at the same time. */
const AT_ONCE = 8;

type ReadStore = Pick<ObjectStore, 'list' | 'open' | 'download' | 'url'>;

/** A series, with everything that is in the store of it. */
interface FoundSeries {
  series: SegmentSeries;
  segments: SegmentPlace[];
}

/** A state that can be restored: what makes it, in order. */
export interface FoundMoment {
  series: SegmentSeries;
  /** Epoch milliseconds: when it was committed, at the latest. */
  timeMs: number;
  chain: readonly SegmentPlace[];
  bytes: number;
  /** Whether something later is there that cannot be made: a segment before it is missing. */
  isShort: boolean;
}

/**
 * The newest moment of a sandbox (or `_registry`) up to `atMs` (epoch milliseconds; null: now). Null when there is
 * none: nothing is in the store, or nothing that old.
 */
export async function findMoment(
  store: ReadStore,
  id: string,
  atMs: number | null,
  signal?: AbortSignal,
): Promise<FoundMoment | null> {
  const { allSeries, bytes } = await seriesOf(store, id, signal);
  let isShort = false;
  for (const { series, segments } of allSeries.reverse()) {
    const ends = endsOf(segments);
    const timeOf = async (place: SegmentPlace) => {
      const { timeMs } = await readHead(store, segmentName(place), signal);
      return timeMs;
    };
    const last = atMs === null ? ends.length - 1 : await lastUpTo(ends, atMs, timeOf);
    const end = ends[last];
    if (last === ends.length - 1 && (atMs === null || begunMs(series) <= atMs)) {
      isShort ||= segments.some(({ max }) => max > (end?.max ?? 0));
    }
    if (end === undefined) continue;
    const chain = chainTo(segments, end.max);
    if (chain === null) continue;
    const sum = chain.reduce((all, place) => all + (bytes.get(segmentName(place)) ?? 0), 0);
    return { series, timeMs: await timeOf(end), chain, bytes: sum, isShort };
  }
  return null;
}

/**
 * Makes the file of a moment at `target` (absolute), which is not there yet, on disk when this resolves. `tmp`:
 * absolute, for what is brought meanwhile; what is on this machine is read where it is. `atRest`: one in WAL mode, as
 * it is while its sandbox is awake, becomes one at rest. Throws `corrupt` when segments are damaged,
 * `storage_unavailable`.
 */
export async function restoreMoment(
  store: ReadStore,
  moment: FoundMoment,
  { target, tmp, atRest = false, signal }: { target: string; tmp: string; atRest?: boolean; signal?: AbortSignal },
): Promise<Rebuilt> {
  await makeFolder(tmp);
  try {
    const here = folderOf(store.url);
    const paths = moment.chain.map((place) =>
      here === null ? join(tmp, segmentFile(place.min, place.max)) : join(here, segmentName(place)),
    );
    if (here !== null) return await rebuild({ segments: paths, target, atRest });
    let next = 0;
    const bring = async () => {
      for (let at = next++; at < paths.length; at = next++) {
        const [place, path] = [moment.chain[at], paths[at]];
        if (place === undefined || path === undefined) return;
        await store.download(segmentName(place), path, signal ? { signal } : {});
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, bring));
    return await rebuild({ segments: paths, target, atRest });
  } finally {
    await discard(tmp);
  }
}

/** The folder (absolute) of a store on this machine; null for any other. Its objects are files of their names. */
function folderOf(url: string): string | null {
  const address = parseStoreUrl(url);
  return address.driver === 'file' ? address.folder : null;
}

async function seriesOf(
  store: ReadStore,
  id: string,
  signal?: AbortSignal,
): Promise<{ allSeries: FoundSeries[]; bytes: Map<string, number> }> {
  const found = new Map<string, FoundSeries>();
  const bytes = new Map<string, number>();
  for await (const page of store.list(replicaPrefix(id), signal ? { signal } : {})) {
    for (const { name, bytes: size } of page) {
      const place = parseSegmentName(name);
      if (place === null || place.id !== id) continue;
      bytes.set(name, size);
      const key = seriesName(place.series);
      const known = found.get(key);
      if (known === undefined) found.set(key, { series: place.series, segments: [place] });
      else known.segments.push(place);
    }
  }
  const allSeries = [...found.values()].sort((one, other) => compareSeries(one.series, other.series));
  return { allSeries, bytes };
}

/** What ends each state that can be made: one place for each number, of the lowest level, in order. */
function endsOf(segments: readonly SegmentPlace[]): SegmentPlace[] {
  const ends = new Map<number, SegmentPlace>();
  for (const place of segments.toSorted((one, other) => one.min - other.min || one.max - other.max)) {
    if (place.min !== 1 && !ends.has(place.min - 1)) continue;
    const known = ends.get(place.max);
    if (known === undefined || place.level < known.level) ends.set(place.max, place);
  }
  return [...ends.values()].sort((one, other) => one.max - other.max);
}

/** Index of the last end whose time is not after `atMs`; -1 when all are. Times grow with the numbers. */
async function lastUpTo(
  ends: readonly SegmentPlace[],
  atMs: number,
  timeOf: (place: SegmentPlace) => Promise<number>,
): Promise<number> {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const place = ends[middle];
    if (place !== undefined && (await timeOf(place)) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The fewest segments from a base to the number `to`; null when one is missing. */
export function chainTo(segments: readonly SegmentPlace[], to: number): SegmentPlace[] | null {
  const from = new Map<number, SegmentPlace>();
  let base: SegmentPlace | null = null;
  for (const place of segments) {
    if (place.max > to) continue;
    // A segment with everything since the first is a base, whatever its level.
    if (place.min === 1) {
      if (base === null || place.max > base.max) base = place;
      continue;
    }
    const known = from.get(place.min);
    if (known === undefined || place.max > known.max) from.set(place.min, place);
  }
  if (base === null) return null;
  const chain = [base];
  for (let reached = base.max; reached < to; ) {
    const next = from.get(reached + 1);
    if (next === undefined) return null;
    chain.push(next);
    reached = next.max;
  }
  return chain;
}

async function readHead(store: ReadStore, name: string, signal?: AbortSignal) {
  const stream = await store.open(name, { range: { first: 0, last: HEADER_BYTES - 1 }, ...(signal && { signal }) });
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  const head = Buffer.concat(pieces);
  if (head.length < HEADER_BYTES) throw new WinterdockError('corrupt', `${name} is no segment.`);
  return decodeHeader(head, name);
}
