/**
 * Histograms of how long wakes took, one a day for each path and source. Knows nothing of what is measured or of the
 * buckets' bounds.
 */
import type { Source } from '../lifecycle/words.ts';

/** One bucket of one day. */
export interface WakeBucket {
  /** Days since the epoch, in UTC. */
  day: number;
  path: 'warm' | 'cold';
  /** Null for a warm one. */
  source: Source | null;
  /** Upper bound in milliseconds; null for what is above every bound. */
  boundMs: number | null;
  count: number;
  sumMs: number;
}

export interface WakeTimeStore {
  /** Adds to the stored counts, in one transaction. */
  add(buckets: readonly WakeBucket[]): Promise<void>;
  /** Everything from a day on. */
  since(day: number): Promise<WakeBucket[]>;
  /** Deletes buckets of days before `before`. */
  deleteBefore(before: number): Promise<void>;
}
