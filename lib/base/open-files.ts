/**
 * How many more files, pipes and connections this process may open. Known on Linux, where the system limits them low;
 * elsewhere there is always room.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { WinterdockError } from './errors.ts';

/** Above this nobody comes near the limit, and counting takes longer the more there are. */
const COUNTED_LIMIT = 65_536;
/** What a worker opens, with what requests need beside it. */
export const FILES_OF_WORKER = 16;
/** A count is good for so long, with what was opened since; what was closed is counted at the next. */
const GOOD_MS = 20;

let limit: number | undefined;
let counted = { atMs: Number.NEGATIVE_INFINITY, open: 0 };

/** Whether so many can still be opened. `opened`: how many were opened by who asks since they asked last. */
export function hasDescriptorsFor(files: number, opened = 0): boolean {
  limit ??= openFilesLimit();
  if (limit > COUNTED_LIMIT) return true;
  counted.open += opened;
  const nowMs = performance.now();
  if (nowMs - counted.atMs > GOOD_MS || counted.open + files > limit) counted = { atMs: nowMs, open: openFiles(limit) };
  return counted.open + files <= limit;
}

/** Throws `capacity` when there is no room for so many more files. */
export function requireDescriptorsFor(files: number): void {
  if (hasDescriptorsFor(files)) return;
  throw new WinterdockError('capacity', 'The server may open no more files.', {
    hint: 'Suspend a sandbox, or raise the limit of open files (ulimit -n).',
    retryAfterSeconds: 5,
  });
}

function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    // Another system.
    return Number.POSITIVE_INFINITY;
  }
}

function openFiles(most: number): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Not even this one can be opened.
    return most;
  }
}
