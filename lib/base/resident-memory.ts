/** The memory of a process, as Linux counts it. 0 where the system has no /proc, or when the process is gone. */
import { readFileSync, readSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Resident bytes of a process. */
export function residentBytes(pid: number | undefined): number {
  return pagesOf(pid).resident * PAGE_BYTES;
}

/** Private bytes of a process: resident memory minus memory shared with files. */
export function privateBytes(pid: number | undefined): number {
  const { resident, shared } = pagesOf(pid);
  return Math.max(0, resident - shared) * PAGE_BYTES;
}

/**
 * Descriptor at which a process that sees no /proc may have its own `/proc/self/statm`. Whoever starts it opens the
 * file first.
 */
export const STATM_DESCRIPTOR = 4;

/** Resident bytes of this process, also where it sees no /proc. */
export function ownResidentBytes(): number {
  // Asked once: an exception at each call would be a tenth of the time of a short one.
  seesProc ??= canReadOwn();
  if (seesProc) return process.memoryUsage.rss();
  const length = readSync(STATM_DESCRIPTOR, statm, 0, statm.length, 0);
  return Number(statm.toString('latin1', 0, length).split(' ')[1]) * PAGE_BYTES;
}

let seesProc: boolean | undefined;
const statm = Buffer.alloc(128);

function canReadOwn(): boolean {
  try {
    return process.memoryUsage.rss() > 0;
  } catch {
    return false;
  }
}

function pagesOf(pid: number | undefined): { resident: number; shared: number } {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return { resident, shared };
  } catch {
    // No /proc here, or the process is gone, which its exit reports.
    return { resident: 0, shared: 0 };
  }
}
