/** Processor time of processes with what their ended children took. Where there is no /proc nothing is known. */
import { processStat } from '../../base/process-stat.ts';

/** Clock ticks a second in which the kernel tells processor time: fixed on Linux. */
const TICKS = 100;
/** In the answer of `processStat`: of the process in user mode and in the kernel, and the same of ended children. */
const PLACES = [11, 12, 13, 14];

/** Seconds of all of them together. */
export function treeCpuSeconds(pids: readonly number[]): number {
  let ticks = 0;
  for (const pid of pids) {
    const stat = processStat(pid);
    if (stat !== null) ticks += PLACES.reduce((sum, at) => sum + Number(stat[at] ?? 0), 0);
  }
  return ticks / TICKS;
}
