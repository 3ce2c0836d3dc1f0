/**
 * Enforces the limits of one call from outside its process: time and memory. The caller decides what happens when one
 * is exceeded.
 */

import type { PolicyProfile } from './policies.ts';
import { maxGrowthBytes, watchMemory } from './process-memory.ts';

/** Grace period after the time limit, in which an interpreter may stop by itself before its process is killed. */
const OVERTIME_MS = 500;

/**
 * Watches a call that was just sent. Calls `onExceeded` at most once, with one sentence. Returns the function that ends
 * the watch.
 */
export function watchCallLimits(
  pid: number,
  limits: { timeoutMs: number; baselineBytes: number; profile: PolicyProfile & { name: string } },
  onExceeded: (cause: 'timeout' | 'memory', detail: string) => void,
): () => void {
  const { timeoutMs, baselineBytes, profile } = limits;
  const overtime = setTimeout(
    () => onExceeded('timeout', `A call ran longer than ${timeoutMs} ms and did not stop by itself.`),
    timeoutMs + OVERTIME_MS,
  );
  const unwatch = watchMemory(pid, baselineBytes + maxGrowthBytes(profile), () => {
    const { name, memoryBytes } = profile;
    onExceeded(
      'memory',
      `A call took more than the ${memoryBytes / 1024 / 1024} MiB that the policy "${name}" allows.`,
    );
  });
  return () => {
    clearTimeout(overtime);
    unwatch();
  };
}
