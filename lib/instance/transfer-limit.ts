/**
 * What may pass between an interpreter and its sandbox at once, in bytes: a share of the guest's memory, and no more
 * than its process has room for. Knows nothing of interpreters.
 */

/** One value may take a quarter of the guest's memory, as in the shell. */
const SHARE_OF_MEMORY = 4;
/**
 * How often a value that passes is in memory at one moment: on its way, and as SQLite binds it and writes it into a
 * record.
 */
const COPIES = 3;
/** A value from this size on takes longer to pass than to collect what passed before it. */
const LARGE_BYTES = 4 * 1024 * 1024;

/** What a guest has. */
export interface GuestMemory {
  /** Bytes that its values may take. */
  memoryBytes: number;
  /** Resident bytes above those of its idle process at which a call is ended from outside; endless when nobody does. */
  growthBytes?: number;
}

let idleBytes = Number.POSITIVE_INFINITY;

/** Notes what the process takes when nothing runs in it, or little. */
export function noteIdleMemory(): void {
  idleBytes = Math.min(idleBytes, process.memoryUsage.rss());
}

/**
 * Gives back all that nothing holds any more, where the process may ask for it: V8 counts neither buffers nor an
 * interpreter's memory as its own.
 */
export function collectGarbage(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Throws RangeError for a value that is too large to pass, or for which the process would be ended. */
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
  // What passed before may still be there, and be as large.
  collectGarbage();
  const needed = process.memoryUsage.rss() + COPIES * bytes;
  if (needed > idleBytes + growthBytes)
    throw new RangeError(`out of memory: there is no room for a value of ${bytes} bytes beside what is kept`);
}
