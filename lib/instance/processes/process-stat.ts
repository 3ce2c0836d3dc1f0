/** What the kernel tells of a process in /proc. Where a system has none, every process seems to be gone. */
import { readdirSync, readFileSync } from 'node:fs';

/** Places in the answer of `processStat`. */
export const STAT = { state: 0, parent: 1, flags: 6, startedAt: 19 } as const;

/** The fields of /proc/PID/stat from the state on; null when there is no such process. */
export function processStat(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the process name in parentheses and may hold any character.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/**
 * Whether a process may hold files: it does until the last of its threads has ended, also when the first one has. The
 * first process of a namespace of processes has not ended before all others of it have.
 */
export function holdsFiles(pid: number): boolean {
  const state = processStat(pid)?.[STAT.state];
  if (state === undefined || state === 'X') return false;
  if (state !== 'Z') return true;
  try {
    return readdirSync(`/proc/${pid}/task`).length > 1;
  } catch {
    return false;
  }
}
