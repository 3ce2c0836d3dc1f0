/** Ends the workers that an earlier server on the same data folder left behind, found by the marker in their environment. */
import { readdirSync, readFileSync } from 'node:fs';
import { MARKER } from './process.ts';

/** SIGKILLs them and returns how many there were. Finds nothing where the system has no /proc; there `disconnect` ends them. */
export async function sweepLeftovers(dataFolder: string): Promise<number> {
  const mark = `${MARKER}=${dataFolder}`;
  let found = 0;
  for (const pid of processes()) {
    try {
      const isWorker = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('worker.ts');
      if (!isWorker || !readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark)) continue;
      process.kill(pid, 'SIGKILL');
      found += 1;
    } catch {
      // It ended while being looked at, or belongs to someone else: then it is none of ours.
    }
  }
  return found;
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => pid !== process.pid);
  } catch {
    // No /proc on this system.
    return [];
  }
}
