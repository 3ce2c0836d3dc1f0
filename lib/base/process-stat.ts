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
 * Processes, and threads of them, that are looked at to find what one has forked: a worker forks none, so that one with
 * more is not worth the time of the server.
 */
const MOST_LOOKED_AT = 1000;

/**
 * A process and all that it has forked, and they; those whose parent has ended are found where that process is the
 * first of a namespace. `isWhole`: false when there are more than are looked at. Where /proc tells of no children it
 * is alone.
 */
export function withForked(pid: number): { pids: number[]; isWhole: boolean } {
  const pids = [pid];
  let looks = 0;
  // Grows while it is gone through.
  for (const one of pids) {
    for (const thread of threadsOf(one)) {
      looks += 1;
      if (looks > MOST_LOOKED_AT || pids.length > MOST_LOOKED_AT) return { pids, isWhole: false };
      pids.push(...forkedOf(one, thread));
    }
  }
  return { pids, isWhole: true };
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The processes that one thread of a process has started, and that have not ended. Default: its first thread. */
export function forkedOf(pid: number, thread = String(pid)): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // It is gone, or this kernel does not tell.
    return [];
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
