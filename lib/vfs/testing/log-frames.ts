/**
 * A reader of logs for tests, written from SQLite's description of the format
 * (https://sqlite.org/fileformat2.html#the_write_ahead_log): salts and sums are compared, and what is not committed is
 * left out.
 */
import { existsSync, readFileSync } from 'node:fs';

const HEAD_BYTES = 32;
const FRAME_HEAD_BYTES = 24;

export interface CommittedFrames {
  /** Of the log, 16 hex digits. */
  salts: string;
  /** Frames up to the end of the last whole transaction. */
  frames: number;
  /** The last version of each page, by its number from 1. */
  pages: Map<number, Buffer>;
  /** Pages of the file after it; 0 when there is none. */
  commit: number;
}

/** Everything committed that a log has; null when it has no head. */
export function readLog(path: string): CommittedFrames | null {
  const log = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (log.length < HEAD_BYTES) return null;
  const isBig = (log.readUInt32BE(0) & 1) === 1;
  const pageBytes = log.readUInt32BE(8);
  const salts = log.toString('hex', 16, 24);
  let sums: [number, number] = [log.readUInt32BE(24), log.readUInt32BE(28)];
  const found: CommittedFrames = { salts, frames: 0, pages: new Map(), commit: 0 };
  const begun = new Map<number, Buffer>();
  const step = FRAME_HEAD_BYTES + pageBytes;
  for (let at = HEAD_BYTES, number = 1; at + step <= log.length; at += step, number += 1) {
    if (log.toString('hex', at + 8, at + 16) !== salts) break;
    sums = summed(log.subarray(at, at + 8), isBig, sums);
    sums = summed(log.subarray(at + FRAME_HEAD_BYTES, at + step), isBig, sums);
    if (log.readUInt32BE(at + 16) !== sums[0] || log.readUInt32BE(at + 20) !== sums[1]) break;
    begun.set(log.readUInt32BE(at), Buffer.from(log.subarray(at + FRAME_HEAD_BYTES, at + step)));
    const commit = log.readUInt32BE(at + 4);
    if (commit === 0) continue;
    for (const [page, bytes] of begun) found.pages.set(page, bytes);
    begun.clear();
    found.frames = number;
    found.commit = commit;
  }
  return found;
}

function summed(bytes: Buffer, isBig: boolean, [first, second]: [number, number]): [number, number] {
  let [s0, s1] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    s0 = (s0 + (isBig ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + s1) >>> 0;
    s1 = (s1 + (isBig ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + s0) >>> 0;
  }
  return [s0, s1];
}

/** A mark of all that was read, as the server confirms it. */
export function markOf({ salts, frames }: CommittedFrames): string {
  return salts + frames.toString(16).padStart(8, '0');
}

/** What the replica of a file would be: its pages as they were first, and those of logs. */
export class ReplicaPages {
  readonly #pages = new Map<number, Buffer>();
  #count: number;
  readonly #pageBytes: number;

  constructor(file: Buffer, pageBytes = 4096) {
    this.#pageBytes = pageBytes;
    this.#count = file.length / pageBytes;
    for (let page = 1; page <= this.#count; page += 1)
      this.#pages.set(page, file.subarray((page - 1) * pageBytes, page * pageBytes));
  }

  add({ pages, commit }: CommittedFrames): void {
    for (const [page, bytes] of pages) this.#pages.set(page, bytes);
    if (commit > 0) this.#count = commit;
  }

  /** Numbers of the pages that differ from those of a file at rest. Leaving WAL mode writes the first one beside it. */
  differencesTo(file: Buffer): number[] {
    const count = file.length / this.#pageBytes;
    if (count !== this.#count) return [0];
    const numbers = Array.from({ length: count - 1 }, (_, at) => at + 2);
    const at = (page: number) => file.subarray((page - 1) * this.#pageBytes, page * this.#pageBytes);
    return numbers.filter((page) => this.#pages.get(page)?.equals(at(page)) !== true);
  }
}
