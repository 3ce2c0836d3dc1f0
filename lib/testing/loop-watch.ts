/**
 * For tests: the processor time of the longest turn of this process's event loop, in milliseconds: as long nothing else
 * of it runs. Processor time, because a busy machine makes every turn take longer. Knows nothing of what runs.
 */
import { cpuMs } from './cpu-time.ts';

/** Begins to watch. The function that it returns ends that, and gives the longest turn until then. */
export function watchLoop(): () => number {
  let longest = 0;
  let since = cpuMs();
  let isOver = false;
  const look = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - since);
    since = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  return () => {
    isOver = true;
    look();
    return longest;
  };
}
