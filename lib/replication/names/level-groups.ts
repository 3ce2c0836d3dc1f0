/**
 * Which segments become one: of level 1 those of a minute at most, or the minutes of a span where many sandboxes
 * commit; of level 2 those of an hour at most; and no more bytes than may lie on this disk for it. Pure.
 */
import type { BundlePart } from './bundle-names.ts';
import { compareSeries, type SegmentPlace } from './replica-names.ts';

/** What is made: a minute of what was committed, a span of minutes, or an hour of both. */
export type MergeStep = 'minute' | 'span' | 'hour';

/** Minutes of a span, which divide an hour. */
export const SPAN_MINUTES = 10;

interface StepTraits {
  /** Of what is made. */
  level: 1 | 2;
  /** Milliseconds that it is of, at most: whole ones of the clock. */
  windowMs: number;
  /** Bytes that are merged at once, about: a segment of less time is one too. */
  mostBytes: number;
}

const MIB = 1024 * 1024;
const STEPS: Readonly<Record<MergeStep, StepTraits>> = {
  minute: { level: 1, windowMs: 60_000, mostBytes: 64 * MIB },
  span: { level: 1, windowMs: SPAN_MINUTES * 60_000, mostBytes: 64 * MIB },
  hour: { level: 2, windowMs: 3_600_000, mostBytes: 256 * MIB },
};

/** A segment that the store has. */
export interface StoredSegment extends SegmentPlace {
  bytes: number;
  /** Of the last commit in it, in epoch milliseconds. */
  timeMs: number;
  /** Where it lies when it is in a bundle, and not an object by itself. */
  bundled?: BundlePart;
}

/** Segments of one series that follow each other, of one minute, span or hour. There is one at least. */
export interface LevelGroup<Segment extends StoredSegment = StoredSegment> {
  step: MergeStep;
  segments: Segment[];
}

/** Where the segment is that is made of a group. */
export function mergedPlace({ step, segments: [first, ...others] }: LevelGroup): SegmentPlace {
  if (first === undefined) throw new Error('A group of segments has one at least.');
  const { id, series, min } = first;
  return { id, series, level: STEPS[step].level, min, max: others.at(-1)?.max ?? first.max };
}

/** Whether a segment belongs to a group, after its last one. */
export function takes({ step, segments }: LevelGroup, next: StoredSegment): boolean {
  const last = segments.at(-1);
  if (last === undefined) return true;
  const follows = compareSeries(last.series, next.series) === 0 && next.min === last.max + 1;
  const bytes = segments.reduce((sum, each) => sum + each.bytes, next.bytes);
  return follows && windowOf(step, last.timeMs) === windowOf(step, next.timeMs) && bytes <= STEPS[step].mostBytes;
}

/** Whether no segment that comes now or later belongs to a group. The clock of segments never goes back. */
export function isWindowOver({ step, segments }: LevelGroup, nowMs: number): boolean {
  return windowOf(step, segments.at(-1)?.timeMs ?? 0) < windowOf(step, nowMs);
}

/** The groups of segments in order, for those that a level lacks. */
export function levelGroups<Segment extends StoredSegment>(
  step: MergeStep,
  segments: readonly Segment[],
): LevelGroup<Segment>[] {
  const groups: LevelGroup<Segment>[] = [];
  for (const segment of segments) {
    const last = groups.at(-1);
    if (last !== undefined && takes(last, segment)) last.segments.push(segment);
    else groups.push({ step, segments: [segment] });
  }
  return groups;
}

const windowOf = (step: MergeStep, timeMs: number) => Math.floor(timeMs / STEPS[step].windowMs);
