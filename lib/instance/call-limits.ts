/**
 * The limits of one call from outside its process: the clock and the memory. What is done when one is passed is the
 * caller's.
 */

import type { PolicyProfile } from './policies.ts';
import { maxGrowthBytes, watchMemory } from './process-memory.ts';

/** How long past its time limit an interpreter may take to stop by itself before its process is ended. */
const OVERTIME_MS = 500;

/** Watches a call that was just sent. `over` is called once, with one sentence. Returns what ends the watch. */
export function watchCallLimits(
  pid: number,
  limits: { timeoutMs: number; baselineBytes: number; profile: PolicyProfile & { name: string } },
  over: (cause: 'timeout' | 'memory', detail: string) => void,
): () => void {
  const { timeoutMs, baselineBytes, profile } = limits;
  const overtime = setTimeout(
    () => over('timeout', `A call ran longer than ${timeoutMs} ms and did not stop by itself.`),
    timeoutMs + OVERTIME_MS,
  );
  const unwatch = watchMemory(pid, baselineBytes + maxGrowthBytes(profile), () => {
    const { name, memoryBytes } = profile;
    over('memory', `A call took more than the ${memoryBytes / 1024 / 1024} MiB that the policy "${name}" allows.`);
  });
  return () => {
    clearTimeout(overtime);
    unwatch();
  };
}
