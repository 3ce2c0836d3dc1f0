/**
 * What leaves a replica with time: every commit, then all but the last of each minute, then of each hour, then all but
 * the last state of each series. A segment goes only once another one, that the store was asked for, has everything
 * that is in it; so a round can end anywhere, and be begun again.
 */
import { join } from 'node:path';
import { makeFolder, removeTree } from '../../base/effects.ts';
import type { ReplicaKeeps } from '../../base/replica-retention.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { Cutter } from '../log/cutter.ts';
import { chainTo, readSegmentHead } from '../moments/replica-reader.ts';
import type { MergeStep, StoredSegment } from '../names/level-groups.ts';
import {
  BASE_LEVEL,
  begunMs,
  compareSeries,
  parseSegmentName,
  replicaPrefix,
  segmentName,
  seriesName,
} from '../names/replica-names.ts';
import { type ListedSegment, lackingIn, uselessIn } from './series-cover.ts';

/** What is younger is merged by whoever ships it, in milliseconds. */
const LATE_MS = 2 * 3_600_000;
/** Segments that a level lacks, looked at in a round of one sandbox. The next round goes on. */
const MOST_LATE = 5000;
/** A last state is made one segment when what came after its base has more than this share of the base's bytes. */
const MERGED_SHARE = 1 / 2;

export interface ReplicaAgingParts {
  store: Pick<ObjectStore, 'list' | 'head' | 'open' | 'upload' | 'download' | 'url'>;
  /** Removes an object, and every version of it that the store keeps. */
  remove: (name: string) => Promise<unknown>;
  cutter: Pick<Cutter, 'merge'>;
  levels: { add(step: MergeStep, segments: readonly StoredSegment[]): void };
  /** Absolute, for what is brought. */
  tmp: string;
  keeps: ReplicaKeeps;
  nowMs: number;
  isOver: () => boolean;
}

interface Series {
  series: ListedSegment['series'];
  segments: ListedSegment[];
}

/** Lets go what is older than is kept of one sandbox. Returns how many segments went. Throws what the store throws. */
export async function ageReplicaOf(parts: ReplicaAgingParts, id: string, isDeleted: boolean): Promise<number> {
  const { keeps, nowMs, isOver } = parts;
  const all = await listedSeries(parts.store, id);
  const filingsMs = isDeleted ? keeps.hoursMs : keeps.filingsMs;
  let removed = 0;
  for (const [at, one] of all.entries()) {
    if (isOver()) break;
    const next = all.slice(at + 1).find(({ segments }) => segments.some(({ min }) => min === 1));
    const newestAt = one.segments.reduce((newest, segment) => Math.max(newest, segment.at), 0);
    // Its moments ended when another one had begun; the last one goes with its sandbox alone.
    const endedMs = next === undefined ? newestAt : begunMs(next.series);
    const mayGo = next !== undefined || isDeleted;
    let gone: ListedSegment[];
    if (mayGo && endedMs < nowMs - filingsMs) gone = one.segments;
    else if (endedMs < nowMs - keeps.hoursMs) gone = await allButLast(parts, id, one);
    else {
      gone = await uselessIn(one.segments, (cover) => isOld(cover, keeps, nowMs), asking(parts.store));
      if (!isDeleted) await addLate(parts, one.segments);
    }
    removed += await remove(parts, gone);
  }
  return removed;
}

function isOld({ level, at }: ListedSegment, { commitsMs, minutesMs, hoursMs }: ReplicaKeeps, nowMs: number): boolean {
  const keepMs = level === 1 ? commitsMs : level === 2 ? minutesMs : hoursMs;
  return at < nowMs - keepMs;
}

/** Asks the store for segments, once each: whether they are as the list says. */
function asking(store: Pick<ObjectStore, 'head'>): (segment: ListedSegment) => Promise<boolean> {
  return async ({ name, bytes }) => (await store.head(name))?.bytes === bytes;
}

/** The highest levels go last, and a base behind everything else: whatever is left makes what it made. */
async function remove({ remove: go, isOver }: ReplicaAgingParts, gone: readonly ListedSegment[]): Promise<number> {
  let removed = 0;
  for (const { name } of gone.toSorted((one, other) => one.level - other.level || other.min - one.min)) {
    if (isOver()) break;
    await go(name);
    removed += 1;
  }
  return removed;
}

/** What is not needed for the last state of a series, which is made one segment where that is smaller. */
async function allButLast(parts: ReplicaAgingParts, id: string, { segments }: Series): Promise<ListedSegment[]> {
  const last = segments.reduce((most, { max }) => Math.max(most, max), 0);
  const chain = (chainTo(segments, last) ?? []) as ListedSegment[];
  const [base, ...others] = chain;
  // Something is not listed, or missing: nothing is known of what it made.
  if (base === undefined) return [];
  const since = others.reduce((sum, { bytes }) => sum + bytes, 0);
  const isMerged = since > base.bytes * MERGED_SHARE;
  const beside = segments.filter((segment) => !chain.includes(segment));
  if (!isMerged && beside.length === 0) return [];
  if (!(await isListedAgain(parts.store, id, segments))) return [];
  const isThere = asking(parts.store);
  for (const segment of chain) if (!(await isThere(segment))) return [];
  if (!isMerged) return beside;
  const name = segmentName({ ...base, level: BASE_LEVEL, min: 1, max: last });
  const bytes = await mergeInStore(parts, chain, name);
  if ((await parts.store.head(name))?.bytes !== bytes) return [];
  return segments.filter((segment) => segment.name !== name);
}

/** Makes one segment of several in the store. Returns its bytes. */
async function mergeInStore(
  { store, cutter, tmp }: ReplicaAgingParts,
  chain: readonly ListedSegment[],
  name: string,
): Promise<number> {
  await removeTree(tmp);
  await makeFolder(tmp);
  try {
    const segments: string[] = [];
    for (const [at, segment] of chain.entries()) {
      const path = join(tmp, `${at}.ltx`);
      await store.download(segment.name, path);
      segments.push(path);
    }
    const target = join(tmp, 'merged.ltx');
    const { bytes, timeMs } = await cutter.merge({ segments, target, sync: false });
    // What an earlier round left under this name has these bytes.
    if ((await store.head(name))?.bytes !== bytes) await store.upload(name, target, { timeMs });
    return bytes;
  } finally {
    await removeTree(tmp);
  }
}

/** Has merged what was left out: by a stop, or by failures. */
async function addLate({ store, levels, nowMs, isOver }: ReplicaAgingParts, segments: readonly ListedSegment[]) {
  for (const [step, level] of [
    ['minute', 1],
    ['hour', 2],
  ] as const) {
    const late = lackingIn(segments, level).filter(({ at }) => at < nowMs - LATE_MS);
    const found: StoredSegment[] = [];
    for (const { name, at: _, ...segment } of late.slice(0, MOST_LATE)) {
      if (isOver()) return;
      found.push({ ...segment, timeMs: (await readSegmentHead(store, name)).timeMs });
    }
    // The last minute, or hour, of those may go on in what was not looked at.
    levels.add(step, found);
  }
}

async function listedSeries(store: Pick<ObjectStore, 'list'>, id: string): Promise<Series[]> {
  const found = new Map<string, Series>();
  for await (const page of store.list(replicaPrefix(id))) {
    for (const { name, bytes, at } of page) {
      const place = parseSegmentName(name);
      if (place === null || place.id !== id) continue;
      const key = seriesName(place.series);
      const known = found.get(key) ?? { series: place.series, segments: [] };
      known.segments.push({ ...place, name, bytes, at });
      found.set(key, known);
    }
  }
  return [...found.values()].sort((one, other) => compareSeries(one.series, other.series));
}

async function isListedAgain(store: Pick<ObjectStore, 'list'>, id: string, segments: readonly ListedSegment[]) {
  const [first] = segments;
  if (first === undefined) return false;
  const again = (await listedSeries(store, id)).find(({ series }) => compareSeries(series, first.series) === 0);
  const names = new Set(again?.segments.map(({ name }) => name));
  return names.size === segments.length && segments.every(({ name }) => names.has(name));
}
