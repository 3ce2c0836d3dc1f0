/** The memory of a process, as Linux counts it. 0 where the system has no /proc, or when the process is gone. */
import { readFileSync } from 'node:fs';

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

function pagesOf(pid: number | undefined): { resident: number; shared: number } {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return { resident, shared };
  } catch {
    // No /proc here, or the process is gone, which its exit reports.
    return { resident: 0, shared: 0 };
  }
}
