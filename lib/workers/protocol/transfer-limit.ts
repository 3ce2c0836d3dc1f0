/**
 * Limits the size of one value that crosses between a JavaScript interpreter and its sandbox. The limit is a share of
 * the guest's memory, and what the process can hold without being killed. Knows nothing of interpreters.
 */
import { ownResidentBytes } from '../../base/resident-memory.ts';

/** One value may take a quarter of the guest's memory, the same as in the shell. */
const SHARE_OF_MEMORY = 4;
/** Copies of a value that exist at the same moment: the value itself, SQLite's bound parameter, and the record. */
const COPIES = 3;
/** From this size on, transferring a value takes longer than collecting garbage first. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Bytes of large contents after which garbage is collected. */
const COLLECT_BYTES = 64 * 1024 * 1024;

/** The memory limits of one guest. */
export interface GuestMemory {
  /** Bytes that the guest's values may take. */
  memoryBytes: number;
  /** Resident growth above the idle process at which the server ends the call; no limit by default. */
  growthBytes?: number;
}

let idleBytes = Number.POSITIVE_INFINITY;

/** Records the resident size of the idle process, the smallest seen. */
export function noteIdleMemory(): void {
  idleBytes = Math.min(idleBytes, ownResidentBytes());
}

/**
 * Collects garbage at once, where the process has `gc`. V8 does not count buffers and WebAssembly memory, so it would
 * collect too late.
 */
export function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

let passedBytes = 0;

/**
 * Counts bytes of large contents that pass through the shell; their garbage is collected before it is as large as the
 * largest file.
 */
export function noteContent(bytes: number): void {
  if (bytes < LARGE_BYTES) return;
  passedBytes += bytes;
  if (passedBytes < COLLECT_BYTES) return;
  passedBytes = 0;
  collectGarbage();
}

/** Throws RangeError for a value that is too large, or that would get the process killed. */
export function requireTransferable(
  bytes: number,
  { memoryBytes, growthBytes = Number.POSITIVE_INFINITY }: GuestMemory,
): void {
  const most = memoryBytes / SHARE_OF_MEMORY;
  if (bytes > most) {
    throw new RangeError(
      `A value of ${bytes} bytes is too large: with ${memoryBytes} bytes of memory, at most ${most} pass between JavaScript and its sandbox.`,
    );
  }
  if (bytes < LARGE_BYTES) return;
  // Garbage of the previous transfer may still be resident, and as large as this value.
  collectGarbage();
  const needed = ownResidentBytes() + COPIES * bytes;
  if (needed > idleBytes + growthBytes)
    throw new RangeError(`out of memory: there is no room for a value of ${bytes} bytes beside what is kept`);
}
