/** For tests: looks for bytes in the memory of processes. Linux alone. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const CHUNK_BYTES = 8 * 1024 * 1024;

/** Processes below one, by number. */
export function descendantsOf(pid: number): number[] {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === pid);
  return children.flatMap((name) => [Number(name), ...descendantsOf(Number(name))]);
}

function parentOf(name: string): number | null {
  try {
    // What follows the name, which may have parentheses itself: state, parent.
    return Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

/** Whether the writable memory of a process has the bytes, within what is read at a time. */
export function hasInMemory(pid: number, sought: Buffer): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === undefined || to === undefined) continue;
      const end = BigInt(`0x${to}`);
      // Each piece begins within the one before, so that nothing is missed between two.
      const step = BigInt(CHUNK_BYTES - sought.length);
      for (let at = BigInt(`0x${from}`); at < end; at += step) {
        const size = Number(end - at < BigInt(CHUNK_BYTES) ? end - at : BigInt(CHUNK_BYTES));
        let read = 0;
        try {
          read = readSync(memory, chunk, 0, size, at as unknown as number);
        } catch {
          // Not readable, or gone meanwhile.
        }
        if (chunk.subarray(0, read).includes(sought)) return true;
      }
    }
    return false;
  } finally {
    closeSync(memory);
  }
}
