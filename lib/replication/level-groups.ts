/**
 * Which segments become one of the next level: at level 1 those of a minute at most, at level 2 those of an hour at
 * most, and no more bytes than may lie on this disk for it. Pure.
 */
import type { BundlePart } from './bundle-names.ts';
import { compareSeries, type SegmentPlace } from './replica-names.ts';

/** A level that is made of the one below. */
export type MergedLevel = 1 | 2;

/** Milliseconds that a segment of a level is of, at most: whole minutes and whole hours. */
const WINDOW_MS: Readonly<Record<MergedLevel, number>> = { 1: 60_000, 2: 3_600_000 };
/** Bytes that are merged at once, about: a segment of fewer minutes is one too. */
const MOST_BYTES: Readonly<Record<MergedLevel, number>> = { 1: 64 * 1024 * 1024, 2: 256 * 1024 * 1024 };

/** A segment that the store has. */
export interface StoredSegment extends SegmentPlace {
  bytes: number;
  /** Of the last commit in it, in epoch milliseconds. */
  timeMs: number;
  /** Where it lies when it is in a bundle, and not an object by itself. */
  bundled?: BundlePart;
}

/** Segments of one series that follow each other, of one minute or hour. There is one at least. */
export interface LevelGroup<Segment extends StoredSegment = StoredSegment> {
  level: MergedLevel;
  segments: Segment[];
}

/** Where the segment is that is made of a group. */
export function mergedPlace({ level, segments: [first, ...others] }: LevelGroup): SegmentPlace {
  if (first === undefined) throw new Error('A group of segments has one at least.');
  const { id, series, min } = first;
  return { id, series, level, min, max: others.at(-1)?.max ?? first.max };
}

/** Whether a segment belongs to a group, after its last one. */
export function takes({ level, segments }: LevelGroup, next: StoredSegment): boolean {
  const last = segments.at(-1);
  if (last === undefined) return true;
  const follows = compareSeries(last.series, next.series) === 0 && next.min === last.max + 1;
  const bytes = segments.reduce((sum, each) => sum + each.bytes, next.bytes);
  return follows && windowOf(level, last.timeMs) === windowOf(level, next.timeMs) && bytes <= MOST_BYTES[level];
}

/** Whether no segment that comes now or later belongs to a group. The clock of segments never goes back. */
export function isWindowOver({ level, segments }: LevelGroup, nowMs: number): boolean {
  return windowOf(level, segments.at(-1)?.timeMs ?? 0) < windowOf(level, nowMs);
}

/** The groups of segments in order, for those that a level lacks. */
export function levelGroups<Segment extends StoredSegment>(
  level: MergedLevel,
  segments: readonly Segment[],
): LevelGroup<Segment>[] {
  const groups: LevelGroup<Segment>[] = [];
  for (const segment of segments) {
    const last = groups.at(-1);
    if (last !== undefined && takes(last, segment)) last.segments.push(segment);
    else groups.push({ level, segments: [segment] });
  }
  return groups;
}

const windowOf = (level: MergedLevel, timeMs: number) => Math.floor(timeMs / WINDOW_MS[level]);
