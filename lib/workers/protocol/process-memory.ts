/**
 * The memory limit of a sandbox's process, and a watch that reports when the limit is exceeded. Knows nothing of what
 * happens then.
 */
import { residentBytes } from '../../base/resident-memory.ts';
import type { PolicyProfile } from './policies.ts';

const MIB = 1024 * 1024;
/**
 * Allowed on top of the profile's memory: V8's uncollected garbage, SQLite's cache, and a file on its way through the
 * channel.
 */
const ALLOWANCE_BYTES = 96 * MIB;
/** CPython with its library and its thread takes 75 MB before it runs anything; the rest leaves room for garbage. */
const PYTHON_ALLOWANCE_BYTES = 160 * MIB;
/** A process fills memory at up to 2 GB/s, so a memory bomb overshoots by about 50 MB. */
const POLL_MS = 25;

/** Growth of resident memory above the idle process at which a call is ended, in bytes. */
export function maxGrowthBytes(profile: PolicyProfile): number {
  const python = profile.capabilities.includes('python') ? PYTHON_ALLOWANCE_BYTES : 0;
  return profile.memoryBytes + ALLOWANCE_BYTES + python;
}

/** Processes whose memory counts as one. */
interface Watched {
  /** `isWhole`: false when there are too many to name all. */
  processes(): { pids: readonly number[]; isWhole: boolean };
}

/** Resident bytes of all processes together; infinite when they are too many to look at. */
export function residentBytesOf(watched: Watched): number {
  const { pids, isWhole } = watched.processes();
  return isWhole ? pids.reduce((sum, pid) => sum + residentBytes(pid), 0) : Number.POSITIVE_INFINITY;
}

/**
 * Polls processes until stopped. Calls `onExceeded` once when they have more than `limitBytes`. Returns the function
 * that stops the watch.
 */
export function watchMemory(watched: Watched, limitBytes: number, onExceeded: () => void): () => void {
  const timer = setInterval(() => {
    if (residentBytesOf(watched) <= limitBytes) return;
    clearInterval(timer);
    onExceeded();
  }, POLL_MS);
  return () => clearInterval(timer);
}
