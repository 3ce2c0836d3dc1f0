/** Time that only goes forward, for durations and deadlines. */
// Taken from its module: during a script the shell's defences take the global one away.
import { performance } from 'node:perf_hooks';

/** Milliseconds since the process began. */
export function monotonicMs(): number {
  return performance.now();
}

/** Milliseconds since `start`, to two decimals. */
export function elapsedSince(start: number): number {
  return Math.round((monotonicMs() - start) * 100) / 100;
}
