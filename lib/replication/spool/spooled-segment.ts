/** A segment that was cut and lies on this disk until the store has it. */
import type { SegmentPlace } from '../names/replica-names.ts';

export interface SpooledSegment extends SegmentPlace {
  /** Absolute. */
  path: string;
  bytes: number;
  /** Of the last commit in it, in epoch milliseconds. */
  timeMs: number;
}
