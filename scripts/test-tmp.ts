/**
 * Where tests make their data folders: in memory, where the machine has room. Thousands of small databases are made,
 * synced and removed; on a disk the tests wait for each other's syncs, and a fifth of a start's processor time is the
 * file system's. Programs are the same, and no test takes the power away: what a cut leaves is computed from the
 * effects (lib/testing/faults/power.ts). Tests that need a file system of some kind mount one.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'winterdock-tests-';
/** How long the folder of a run that was killed is kept, in milliseconds: no run takes a day. */
const KEEP_MS = 86_400_000;
/** What the folders of all tests take at a time, several times over. */
const MIN_FREE_BYTES = 4 * 2 ** 30;
/** Memory that the browsers, servers and builds of a run need beside it. */
const MIN_AVAILABLE_BYTES = 10 * 2 ** 30;

function availableBytes(): number {
  const [, kib = '0'] = /^MemAvailable:\s+(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8')) ?? [];
  // Infinite or 0 where no limit is set.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return Math.min(Number(kib) * 1024, limit);
}

function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MIN_FREE_BYTES && availableBytes() >= MIN_AVAILABLE_BYTES;
  } catch {
    // Not Linux, or a machine without it.
    return false;
  }
}

/** A killed run cannot remove its folder. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(PREFIX))) {
    const path = join(MEMORY, name);
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > KEEP_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** From now on this process and those that it starts make temporary files in memory. A TMPDIR that is set stays. */
export function useMemoryForTmp(): void {
  if (process.env.TMPDIR !== undefined || !hasRoomInMemory()) return;
  removeLeftovers();
  const folder = mkdtempSync(join(MEMORY, PREFIX));
  // Some tests run a server as another user, who must get to its own folder in there.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}
