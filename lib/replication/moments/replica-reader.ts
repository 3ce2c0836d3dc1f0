/**
 * Reads a replica: which moments of a sandbox there are, and the file as it was at one of them. Concludes nothing from
 * a name that a list lacks, but that it cannot be read: a chain is used only where it is whole.
 */
import { join } from 'node:path';
import { makeFolder, writeFile } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import { parseStoreUrl } from '../../base/store-url.ts';
import { discard } from '../../storage/files.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { badSegment, decodeHeader, HEADER_BYTES } from '../ltx/ltx-header.ts';
import { type Rebuilt, rebuild } from '../ltx/rebuild.ts';
import { type SegmentBytes, streamedSegment } from '../ltx/segment-bytes.ts';
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
} from '../names/replica-names.ts';
import { bringPart, type TenantBundles } from '../segment-bundles/bundle-reader.ts';
import {
  type FoundObject,
  type FoundSegment,
  type FoundSeries,
  lastUpTo,
  segmentsInBundles,
  stateEnds,
} from '../segment-bundles/segments-in-bundles.ts';

/** Segments that are brought at the same time. */
const AT_ONCE = 16;
/** Segments that are brought beside the answer to who asked for the base: it waits for few of them, not for all. */
const MOST_BESIDE_BASE = 4 * AT_ONCE;
const WRONG_TIMES = 2;
/** A smaller segment is brought by one request, and needs no process. */
const SMALL_BYTES = 1024 * 1024;

/** What is read of a store. */
export interface ReplicaStore extends Pick<ObjectStore, 'get' | 'head' | 'list' | 'open' | 'url'> {
  download(name: string, path: string, options?: { signal?: AbortSignal }): Promise<unknown>;
}

/** A state that can be restored: what makes it, in order. */
export interface FoundMoment {
  series: SegmentSeries;
  /** Epoch milliseconds: when it was committed, at the latest. */
  timeMs: number;
  chain: readonly FoundSegment[];
  bytes: number;
  /** Whether something later is there that cannot be made: a segment before it is missing. */
  isShort: boolean;
}

/** How the file of a moment is made: as `restoreMoment` says. */
export interface MomentFile {
  target: string;
  tmp: string;
  atRest?: boolean;
  durable?: boolean;
  signal?: AbortSignal;
}

/**
 * The newest moment of a sandbox (or `_registry`) up to `atMs` (epoch milliseconds; null: now). `bundles`: those of its
 * tenant; null: of the registry, which is in none. Null when there is none: nothing is in the store, or nothing that
 * old. A bundle that is damaged is passed over. Throws `corrupt` when an object of its own is damaged that may be of
 * it, `storage_unavailable`.
 */
export async function findMoment(
  store: ReplicaStore,
  id: string,
  atMs: number | null,
  bundles: TenantBundles | null,
): Promise<FoundMoment | null> {
  // Asked for beside the list; who needs it hears of its failure.
  void bundles?.newest().catch(() => undefined);
  const allSeries = await listSeries(store, id);
  let isShort = false;
  const timeOf = timesIn(store);
  for (const { series, segments: objects } of allSeries.reverse()) {
    const inBundles = await segmentsInBundles(bundles, { id, series, segments: objects }, atMs, timeOf);
    isShort ||= inBundles.isShort;
    const segments: FoundSegment[] = [...objects, ...inBundles.segments];
    const ends = stateEnds(segments);
    const last = atMs === null ? ends.length - 1 : await lastUpTo(ends, atMs, timeOf);
    const end = ends[last];
    if (last === ends.length - 1 && (atMs === null || begunMs(series) <= atMs)) {
      isShort ||= segments.some(({ max }) => max > (end?.max ?? 0));
    }
    if (end === undefined) continue;
    const chain = chainTo(segments, end.max);
    if (chain === null) continue;
    const timeMs = await timeOf(end);
    // A base beside a log is a state with the next segment alone, which has that log to its last commit.
    if (end.max === 1 && (await readSegmentHead(store, segmentName(end))).log !== null) {
      isShort ||= last === ends.length - 1;
      continue;
    }
    const sum = chain.reduce((all, { bytes }) => all + bytes, 0);
    return { series, timeMs, chain, bytes: sum, isShort };
  }
  return null;
}

/** Asks a store when the last commit in a segment was, in epoch milliseconds; once of each. */
export function timesIn(store: Pick<ObjectStore, 'open'>): (place: FoundSegment) => Promise<number> {
  const known = new Map<string, number>();
  return async (place) => {
    if (place.bundled !== undefined) return place.timeMs;
    const name = segmentName(place);
    const timeMs = known.get(name) ?? (await readSegmentHead(store, name)).timeMs;
    known.set(name, timeMs);
    return timeMs;
  };
}

/**
 * Makes the file of a moment at `target` (absolute), which is not there yet, on disk when this resolves unless it is
 * not to be `durable`. `tmp`: absolute, for what is brought meanwhile; what is on this machine is read where it is.
 * `atRest`: one in WAL mode, as it is while its sandbox is awake, becomes one at rest. Throws `corrupt` when segments
 * are damaged, `storage_unavailable`.
 */
export async function restoreMoment(
  store: ReplicaStore,
  moment: FoundMoment,
  { target, tmp, atRest = false, durable = true, signal }: MomentFile,
): Promise<Rebuilt> {
  await makeFolder(tmp);
  let base: OpenedOnce | null = null;
  try {
    const here = folderOf(store.url);
    const isHere = (place: FoundSegment) => here !== null && place.bundled === undefined;
    const pathOf = (place: FoundSegment) =>
      here !== null && isHere(place) ? join(here, segmentName(place)) : join(tmp, segmentFile(place.min, place.max));
    const [first, ...since] = moment.chain;
    if (first === undefined) return await rebuild({ segments: [], target, atRest, durable });
    const openBase = () => streamed(store, first, signal);
    if (here === null && since.length <= MOST_BESIDE_BASE) base = openedOnce(openBase);
    const left = since.values();
    let isBroken = false;
    const bring = async () => {
      for (const place of left) {
        if (isBroken) return;
        if (place.bundled !== undefined) await bringPart(store, place.bundled, pathOf(place), signal);
        else if (!isHere(place)) await bringObject(store, place, pathOf(place), signal);
      }
    };
    // None is still writing when this ends: what is tried next brings to the same names.
    const bringing = () =>
      bring().catch((error: unknown) => {
        isBroken = true;
        throw error;
      });
    const brought = await Promise.allSettled(Array.from({ length: AT_ONCE }, bringing));
    for (const one of brought) if (one.status === 'rejected') throw one.reason;
    const segments = since.map(pathOf);
    const making = { target, atRest, durable };
    if (here !== null) return await rebuild({ segments: [pathOf(first), ...segments], ...making });
    for (let times = 1; ; times += 1) {
      try {
        return await rebuild({ segments, base: times === 1 && base !== null ? base.take : openBase, ...making });
      } catch (error) {
        // Wrong bytes twice are the object's and not the way's.
        if (times === WRONG_TIMES || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
      }
    }
  } finally {
    await base?.close();
    await discard(tmp);
  }
}

/** Bytes that are asked for at once, and belong to who takes them. */
interface OpenedOnce {
  take(): Promise<SegmentBytes>;
  /** Lets go of what nobody took. */
  close(): Promise<void>;
}

function openedOnce(open: () => Promise<SegmentBytes>): OpenedOnce {
  const opening = open();
  opening.catch(() => undefined);
  let isTaken = false;
  return {
    take() {
      isTaken = true;
      return opening;
    },
    async close() {
      if (isTaken) return;
      await opening.then(
        (bytes) => bytes.close(),
        () => undefined,
      );
    },
  };
}

/** A base is most of what is brought: it is read as it comes, and never lies here beside what is made of it. */
async function streamed(store: ReplicaStore, base: FoundSegment, signal?: AbortSignal): Promise<SegmentBytes> {
  const name = segmentName(base);
  return streamedSegment(name, base.bytes, await store.open(name, signal ? { signal } : {}));
}

/** Writes a segment that lies by itself to a file (absolute), which waits for no disk where it is small. */
async function bringObject(
  store: ReplicaStore,
  place: FoundSegment,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const name = segmentName(place);
  const options = signal ? { signal } : {};
  if (place.bytes > SMALL_BYTES) await store.download(name, path, options);
  else await writeFile(path, Buffer.from(await store.get(name, { ...options, most: SMALL_BYTES })));
}

/** The folder (absolute) of a store on this machine; null for any other. Its objects are files of their names. */
function folderOf(url: string): string | null {
  const address = parseStoreUrl(url);
  return address.driver === 'file' ? address.folder : null;
}

/** What the store has of a sandbox, series by series. */
export async function listSeries(store: Pick<ReplicaStore, 'list'>, id: string): Promise<FoundSeries[]> {
  const found = new Map<string, FoundSeries>();
  for await (const page of store.list(replicaPrefix(id))) {
    for (const { name, bytes } of page) {
      const place = parseSegmentName(name);
      if (place === null || place.id !== id) continue;
      const segment: FoundObject = { ...place, bytes };
      const key = seriesName(place.series);
      const known = found.get(key);
      if (known === undefined) found.set(key, { series: place.series, segments: [segment] });
      else known.segments.push(segment);
    }
  }
  return [...found.values()].sort((one, other) => compareSeries(one.series, other.series));
}

/** The fewest segments from a base to the number `to`; null when one is missing. They may overlap. */
export function chainTo<Segment extends SegmentPlace>(segments: readonly Segment[], to: number): Segment[] | null {
  /** By the number that each state ends with: the last segment of its shortest chain, and how many that has. */
  const ends = new Map<number, { place: Segment; length: number }>();
  for (const place of segments.toSorted((one, other) => one.max - other.max || other.min - one.min)) {
    if (place.max > to) break;
    // A segment with everything since the first is a base, whatever its level.
    const before = place.min === 1 ? 0 : ends.get(place.min - 1)?.length;
    const known = ends.get(place.max)?.length;
    if (before === undefined || (known !== undefined && known <= before + 1)) continue;
    ends.set(place.max, { place, length: before + 1 });
  }
  const chain: Segment[] = [];
  for (let end = ends.get(to); end !== undefined; end = ends.get(end.place.min - 1)) chain.push(end.place);
  return chain.length === 0 ? null : chain.reverse();
}

/** The header of a segment. Throws `corrupt` for what is none, `storage_unavailable`. */
export async function readSegmentHead(store: Pick<ObjectStore, 'open'>, name: string, signal?: AbortSignal) {
  const range = { first: 0, last: HEADER_BYTES - 1 };
  const pieces: Buffer[] = [];
  try {
    for await (const piece of await store.open(name, { range, ...(signal && { signal }) }))
      pieces.push(piece as Buffer);
  } catch (error) {
    // An empty object has no first byte.
    if (!isWinterdockError(error) || error.code !== 'range_not_satisfiable') throw error;
  }
  const head = Buffer.concat(pieces);
  if (head.length < HEADER_BYTES) throw badSegment(name, 'it is cut off');
  return decodeHeader(head, name);
}
