/**
 * What bundles have of a series that lies by itself only in part: as much of them is read as a moment needs. Concludes
 * nothing from what is not there.
 */

import { minuteOf } from '../names/bundle-names.ts';
import { SPAN_MINUTES } from '../names/level-groups.ts';
import { compareSeries, type SegmentPlace, type SegmentSeries } from '../names/replica-names.ts';
import type { BundledSegment } from './bundle-format.ts';
import type { FoundInBundles, TenantBundles } from './bundle-reader.ts';

/** An object by itself, with the bytes that a list says of it. */
export interface FoundObject extends SegmentPlace {
  readonly bytes: number;
  readonly bundled?: undefined;
}

/** An object by itself, or in a bundle. */
export type FoundSegment = FoundObject | BundledSegment;

/** A series, with every object that is in the store of it. */
export interface FoundSeries {
  series: SegmentSeries;
  segments: FoundObject[];
}

const NOTHING: FoundInBundles = { segments: [], isShort: false, isDamaged: false };

/**
 * What bundles have of a series, up to `atMs`, that its objects have not: between the last state that they make by then
 * and the next one. A segment of level 1 is of one span of minutes, each of which is in bundles of minutes unless it is
 * of one alone; behind the last one are those of which a bundle says that level 1 has them not. Of the minutes before
 * the last one the commits are read only where the minutes themselves lead nowhere.
 */
export async function segmentsInBundles(
  bundles: TenantBundles | null,
  { id, series, segments: objects }: FoundSeries & { id: string },
  atMs: number | null,
  timeOf: (place: FoundSegment) => Promise<number>,
): Promise<FoundInBundles> {
  const ends = stateEnds(objects);
  const last = atMs === null ? ends.length - 1 : await lastUpTo(ends, atMs, timeOf);
  const end = ends[last];
  if (bundles === null || end === undefined) return NOTHING;
  const until = atMs === null ? Number.POSITIVE_INFINITY : minuteOf(atMs);
  const [next] = objects.filter(({ min, max }) => min <= end.max + 1 && max > end.max).sort(byMax);
  if (next?.max === end.max + 1) return NOTHING;
  const isNextMade = next !== undefined && ends.some(({ max }) => max === next.max);
  const endMinute = minuteOf(await timeOf(end));
  const isOwn = (one: BundledSegment) => one.id === id && compareSeries(one.series, series) === 0;
  const own = (found: FoundInBundles): FoundInBundles => ({ ...found, segments: found.segments.filter(isOwn) });
  /** What is of `from` to `to`: the minutes of it up to `merged`, and the commits from `commitsFrom` on. */
  const between = async (from: number, to: number, merged: number, commitsFrom: number): Promise<FoundInBundles> => {
    const [minutes, commits] = await Promise.all([
      bundles.inMinutes(1, from, Math.min(to, merged)).then(own),
      bundles.inMinutes(0, commitsFrom, to).then(own),
    ]);
    const found = { ...commits, segments: [...minutes.segments, ...commits.segments] };
    if (from >= commitsFrom || leadsOn(objects, found.segments, end.max)) return found;
    const all = own(await bundles.inMinutes(0, from, to));
    const segments = [...minutes.segments, ...all.segments];
    const isDamaged = all.isDamaged || (minutes.isDamaged && !leadsOn(objects, segments, end.max));
    return { ...all, segments, isDamaged };
  };
  if (isNextMade) {
    if (next.level > 1) return NOTHING;
    const minute = minuteOf(await timeOf(next));
    const [from, to] = [Math.max(endMinute, minute - (minute % SPAN_MINUTES)), Math.min(minute, until)];
    if (from > to) return NOTHING;
    const found = await between(from, to, to, to);
    // One that is gone may have been merged.
    return { ...found, isShort: found.isDamaged };
  }
  const newest = await bundles.newest();
  if (newest === null) return { ...NOTHING, isShort: bundles.hasDamage };
  const from = Math.max(endMinute, newest.since);
  const found = await between(from, until, newest.merged - 1, Math.max(from, Math.min(newest.merged, until)));
  return { ...found, isShort: found.isShort || found.isDamaged };
}

const byMax = (one: SegmentPlace, other: SegmentPlace) => one.max - other.max;

/** Whether a state that can be made is before each of what was found after the state `since`. */
function leadsOn(objects: readonly SegmentPlace[], found: readonly SegmentPlace[], since: number): boolean {
  const ends = new Set(stateEnds([...objects, ...found]).map(({ max }) => max));
  return found.every(({ min, max }) => max <= since || ends.has(min - 1));
}

/** What ends each state that can be made: one place for each number, of the level that stays longest, in order. */
export function stateEnds<Segment extends SegmentPlace>(segments: readonly Segment[]): Segment[] {
  const ends = new Map<number, Segment>();
  for (const place of segments.toSorted((one, other) => one.min - other.min || one.max - other.max)) {
    if (place.min !== 1 && !ends.has(place.min - 1)) continue;
    const known = ends.get(place.max);
    if (known === undefined || place.level > known.level) ends.set(place.max, place);
  }
  return [...ends.values()].sort((one, other) => one.max - other.max);
}

/** Times that are asked for at once: of a store that is far away, each turn takes as long as one of them. */
const PROBES = 15;

/** Index of the last end whose time is not after `atMs`; -1 when all are. Times grow with the numbers. */
export async function lastUpTo<Segment extends SegmentPlace>(
  ends: readonly Segment[],
  atMs: number,
  timeOf: (place: Segment) => Promise<number>,
): Promise<number> {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const count = Math.min(PROBES, high - low);
    const probes = Array.from({ length: count }, (_, n) => low + Math.floor(((n + 1) * (high - low)) / (count + 1)));
    const times = await Promise.all(probes.map((at) => timeOf(ends[at] as Segment)));
    const later = times.findIndex((timeMs) => timeMs > atMs);
    low = ((later < 0 ? probes.at(-1) : probes[later - 1]) ?? low - 1) + 1;
    high = probes[later] ?? high;
  }
  return low - 1;
}
