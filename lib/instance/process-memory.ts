/**
 * The memory limit of a sandbox's process, and a watch that reports when the limit is exceeded. Knows nothing of what
 * happens then.
 */
import { readFileSync } from 'node:fs';
import type { PolicyProfile } from './policies.ts';

const MIB = 1024 * 1024;
/**
 * Allowed on top of the profile's memory: V8's uncollected garbage, SQLite's cache, and a file on its way through the
 * channel.
 */
const ALLOWANCE_BYTES = 96 * MIB;
/** CPython with its library and its thread takes 75 MB before it runs anything; the rest leaves room for garbage. */
const PYTHON_ALLOWANCE_BYTES = 160 * MIB;
const PAGE_BYTES = 4096;
/** A process fills memory at up to 2 GB/s, so a memory bomb overshoots by about 50 MB. */
const POLL_MS = 25;

/** Growth of resident memory above the idle process at which a call is ended, in bytes. */
export function maxGrowthBytes(profile: PolicyProfile): number {
  const python = profile.capabilities.includes('python') ? PYTHON_ALLOWANCE_BYTES : 0;
  return profile.memoryBytes + ALLOWANCE_BYTES + python;
}

/** Resident bytes of a process; 0 where the system has no /proc, or when the process is gone. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES;
  } catch {
    // No /proc here, or the process is gone, which its exit reports.
    return 0;
  }
}

/**
 * Private bytes of a process: resident memory minus memory shared with files. 0 where the system has no /proc, or when
 * the process is gone.
 */
export function privateBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return Math.max(0, resident - shared) * PAGE_BYTES;
  } catch {
    // No /proc here, or the process is gone, which its exit reports.
    return 0;
  }
}

/**
 * Polls a process until stopped. Calls `onExceeded` once when it has more than `limitBytes`. Returns the function that
 * stops the watch.
 */
export function watchMemory(pid: number, limitBytes: number, onExceeded: () => void): () => void {
  const timer = setInterval(() => {
    if (residentBytes(pid) <= limitBytes) return;
    clearInterval(timer);
    onExceeded();
  }, POLL_MS);
  return () => clearInterval(timer);
}
