/**
 * How much memory the process of a sandbox may take, and a watch that says when it took more. Knows nothing of what is
 * done then.
 */
import { readFileSync } from 'node:fs';
import type { PolicyProfile } from './policies.ts';

const MIB = 1024 * 1024;
/**
 * Beyond the profile's memory: what V8 keeps and has not collected yet, SQLite's cache, a file on its way through the
 * channel.
 */
const ALLOWANCE_BYTES = 96 * MIB;
/**
 * CPython, its library and the thread it runs in take 75 MB before they run anything, and are given room to be
 * collected.
 */
const PYTHON_ALLOWANCE_BYTES = 160 * MIB;
const PAGE_BYTES = 4096;
/** Memory is filled at up to about 2 GB/s, so a bomb overshoots by some 50 MB. */
const LOOK_EVERY_MS = 25;

/** Resident bytes above those of the idle process at which a call is ended. */
export function maxGrowthBytes(profile: PolicyProfile): number {
  const python = profile.capabilities.includes('python') ? PYTHON_ALLOWANCE_BYTES : 0;
  return profile.memoryBytes + ALLOWANCE_BYTES + python;
}

/** Resident bytes of a process; 0 where the system does not say, or when it is gone. */
export function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES;
  } catch {
    // No /proc here, or the process is gone, which its exit tells.
    return 0;
  }
}

/**
 * What a process has of its own, in bytes: resident and shared with no file. 0 where the system does not say, or when
 * it is gone.
 */
export function privateBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return Math.max(0, resident - shared) * PAGE_BYTES;
  } catch {
    // No /proc here, or the process is gone, which its exit tells.
    return 0;
  }
}

/**
 * Looks at a process until it is stopped; calls `over` once when it has more than `limitBytes`. Returns what stops it.
 */
export function watchMemory(pid: number, limitBytes: number, over: () => void): () => void {
  const timer = setInterval(() => {
    if (residentBytes(pid) <= limitBytes) return;
    clearInterval(timer);
    over();
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
