/** Monotonic time, for durations and deadlines. */
// Imported, because the shell's defences remove the global one while a script runs.
import { performance } from 'node:perf_hooks';

/** Milliseconds since the process started. */
export function monotonicMs(): number {
  return performance.now();
}

/** Milliseconds since `start`, to two decimals. */
export function elapsedSince(start: number): number {
  return Math.round((monotonicMs() - start) * 100) / 100;
}
