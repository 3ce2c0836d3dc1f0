/**
 * Whether a spool has room for a base: within its bound while the store takes nothing, and on its disk. What the disk
 * refused all the same is tried again later and later. Knows nothing of what a base is of.
 */
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isThere } from '../../base/is-there.ts';
import type { Logger } from '../../base/log.ts';
import { bytesAtNow } from '../../base/strangers-file.ts';
import type { LogEnd } from '../log/log-walk.ts';
import type { SegmentUploads } from '../shipping/segment-uploads.ts';

/** Pauses after a second base that the disk refused, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const MOST_DOUBLINGS = 10;

export interface SpoolRoomParts {
  /** Absolute folder of the spool; it may be missing. */
  spool: string;
  uploads: Pick<SegmentUploads, 'bytes' | 'away'>;
  /** Bytes of the spool of all sandboxes, at most. */
  spoolBytes: number;
}

/** That a spool takes nothing: since when (monotonic milliseconds), and why, a clause about it. */
export interface SpoolRefusal {
  sinceMs: number;
  why: string;
}

/** Why, where nothing was tried. */
export const NO_ROOM = 'it has no room for all pages of a sandbox';
const WHY: Record<string, string> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EROFS: 'its disk is read-only',
  EACCES: 'the server may not write there',
  EPERM: 'the server may not write there',
  EFBIG: 'no file there may become as long as what was committed',
};

export class SpoolRoom {
  readonly #parts: SpoolRoomParts & { id: string; log: Pick<Logger, 'warn'> };
  #refusals = 0;
  /** That there is no room was said since the disk took a segment. */
  #isSaid = false;
  /** Monotonic milliseconds. */
  #notBeforeMs = 0;
  #refusal: SpoolRefusal | null = null;
  /** Bytes that the disk had left when it refused last, and when that is tried again in any case. */
  #refusedAt = { leftBytes: 0, againMs: 0 };

  constructor(parts: SpoolRoomParts & { id: string; log: Pick<Logger, 'warn'> }) {
    this.#parts = parts;
  }

  /** Since when nothing could be cut, for want of room or because the disk refused; null: the last cut was made. */
  get refusal(): SpoolRefusal | null {
    return this.#refusal;
  }

  /** Whether to try again what the disk refused more than once: it has more room than then, or a second has passed. */
  get mayTry(): boolean {
    const { leftBytes, againMs } = this.#refusedAt;
    return this.#refusal === null || performance.now() >= againMs || freeBytes(this.#parts.spool) > leftBytes;
  }

  /** Whether a base of so many bytes may be begun now. */
  has(bytes: number): boolean {
    return performance.now() >= this.#notBeforeMs && hasRoomFor(this.#parts, bytes);
  }

  /** The same of a base of a file (absolute), which has what is in its log too. `end`: where that ends. */
  async hasForBase(file: string, log: string, end: () => Promise<LogEnd | null>): Promise<boolean> {
    const bytes = bytesAtNow(file);
    if (this.has(bytes + bytesAtNow(log))) return true;
    // A log that was written over is as long as it was.
    const needed = bytes + (this.has(bytes) ? ((await end())?.bytes ?? 0) : 0);
    if (this.has(needed)) return true;
    if (hasRoomFor(this.#parts, needed)) return false;
    this.#refuse(NO_ROOM);
    if (!this.#isSaid) {
      this.#isSaid = true;
      const { id, log, spool } = this.#parts;
      log.warn({ id, needed, free: freeBytes(spool) }, 'the spool has no room for all pages of a sandbox');
    }
    return false;
  }

  /** The disk took a segment. */
  taken(): void {
    this.#refusals = 0;
    this.#refusal = null;
    this.#notBeforeMs = 0;
    this.#refusedAt = { leftBytes: 0, againMs: 0 };
    this.#isSaid = false;
  }

  /** The disk refused one, with an error of the system's. */
  refused(error: Error): void {
    this.#refusals += 1;
    const code = 'code' in error ? String(error.code) : '';
    this.#refuse(WHY[code] ?? `its disk refuses (${code})`);
    // Once may be by chance.
    if (this.#refusals === 1) return;
    this.#refusedAt = { leftBytes: freeBytes(this.#parts.spool), againMs: performance.now() + FIRST_PAUSE_MS };
    const pause = FIRST_PAUSE_MS * 2 ** Math.min(this.#refusals - 2, MOST_DOUBLINGS);
    this.#notBeforeMs = performance.now() + Math.min(pause, LONGEST_PAUSE_MS);
  }

  #refuse(why: string): void {
    this.#refusal = { sinceMs: this.#refusal?.sinceMs ?? performance.now(), why };
  }
}

/** Whether so many bytes have room in a spool. */
export function hasRoomFor({ spool, uploads, spoolBytes }: SpoolRoomParts, bytes: number): boolean {
  const isBounded = uploads.away === null || uploads.bytes + bytes <= spoolBytes;
  return isBounded && bytes < freeBytes(spool);
}

/** Bytes that the disk of a folder has left; endless where it does not say. */
function freeBytes(folder: string): number {
  try {
    let existing = folder;
    while (!isThere(existing) && dirname(existing) !== existing) existing = dirname(existing);
    const { blocks, bavail, bsize } = statfsSync(existing);
    return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
  } catch {
    // A write says whether there is room.
    return Number.POSITIVE_INFINITY;
  }
}
