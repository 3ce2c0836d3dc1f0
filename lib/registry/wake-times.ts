/**
 * Histograms of wake durations, one a day for each path and source. Knows nothing of how they are measured or of the
 * bounds of the buckets.
 */
import type { Source } from '../lifecycle/words.ts';

/** One bucket of one day. */
export interface WakeBucket {
  /** Days since the epoch, in UTC. */
  day: number;
  path: 'warm' | 'cold';
  /** Null for a warm wake. */
  source: Source | null;
  /** Upper bound in milliseconds; null for values above every bound. */
  boundMs: number | null;
  count: number;
  sumMs: number;
}

export interface WakeTimeStore {
  /** Adds to the stored counts, in one transaction. `writeId`: a random id; one that was used before adds nothing. */
  add(buckets: readonly WakeBucket[], writeId?: string): Promise<void>;
  /** All buckets from a day on. */
  since(day: number): Promise<WakeBucket[]>;
  /** Deletes buckets of days before `before`. */
  deleteBefore(before: number): Promise<void>;
}
