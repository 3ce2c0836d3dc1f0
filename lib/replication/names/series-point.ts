/** Where a series of segments stands, and when it ends for a new base. Pure. */
import { begunMs, type SegmentSeries } from './replica-names.ts';

/** A series ends when its segments have so many times the bytes of its base, but not before they have these. */
const SERIES_TO_BASE = 2;
const LEAST_SERIES_BYTES = 64 * 1024 * 1024;
/** And after a day, so that what the retention lets go can go. */
const MOST_SERIES_MS = 86_400_000;

/** Where a series stands. */
export interface SeriesPoint {
  series: SegmentSeries;
  /** Of the last segment. */
  txid: number;
  /** Epoch milliseconds. */
  timeMs: number;
  /** Of the base, and of what came since. */
  baseBytes: number;
  sinceBytes: number;
}

/** Whether a new base costs less than what a restore would have to read, or the series is as old as one may be. */
export function isLongSeries({ series, baseBytes, sinceBytes }: SeriesPoint, nowMs: number): boolean {
  if (sinceBytes > Math.max(LEAST_SERIES_BYTES, SERIES_TO_BASE * baseBytes)) return true;
  return nowMs - begunMs(series) > MOST_SERIES_MS;
}

/** Where a series is with its base alone, of so many bytes. */
export function begunAt(at: Pick<SeriesPoint, 'series' | 'txid' | 'timeMs'>, bytes: number): SeriesPoint {
  return { ...at, baseBytes: bytes, sinceBytes: 0 };
}

/** Where it is with one more segment, of so many bytes. */
export function wentOnTo(before: SeriesPoint, at: Pick<SeriesPoint, 'txid' | 'timeMs'>, bytes: number): SeriesPoint {
  return { ...before, ...at, sinceBytes: before.sinceBytes + bytes };
}
