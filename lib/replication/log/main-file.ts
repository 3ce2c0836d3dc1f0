/** Reads pages of a database's file by its descriptor, as a stranger's bytes. Takes no lock; knows nothing of logs. */
import { closeSync, fstatSync } from 'node:fs';
import { WinterdockError } from '../../base/errors.ts';
import { isDatabaseSize, isPageSize } from '../ltx/ltx-header.ts';
import { openRegularNow, readNow } from './log-reader.ts';

const PIECE_BYTES = 1024 * 1024;
const HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';
/** A page of 65 536 bytes does not fit the two bytes of its size. */
const LARGEST_AS = 1;

/** A page is needed of a file that may not be opened. */
export class UnopenedPage extends Error {}

export class MainFile {
  /** Bytes when it was opened. */
  readonly size: number;
  readonly #descriptor: number | null;
  readonly #isUnopened: boolean;

  private constructor(descriptor: number | null, size: number, isUnopened = false) {
    this.#descriptor = descriptor;
    this.size = size;
    this.#isUnopened = isUnopened;
  }

  /** Opens it (absolute). One that is not there, or no regular file, is as an empty one. */
  static open(path: string): MainFile {
    const opened = openRegularNow(path);
    return new MainFile(opened?.descriptor ?? null, opened?.size ?? 0);
  }

  /** One of so many bytes that this process may not open. */
  static unopened(bytes: number): MainFile {
    return new MainFile(null, bytes, true);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
  }

  currentSize(): number {
    return this.#descriptor === null ? 0 : fstatSync(this.#descriptor).size;
  }

  /** Bytes of a page, as its header says; 0 when it has none. */
  readPageSize(): number {
    const header = Buffer.alloc(HEADER_BYTES);
    if (this.#descriptor === null || readNow(this.#descriptor, header, 0) < HEADER_BYTES) return 0;
    if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return 0;
    const said = header.readUInt16BE(16);
    const bytes = said === LARGEST_AS ? 65_536 : said;
    return isPageSize(bytes) ? bytes : 0;
  }

  /** The same; throws `corrupt` when it is no database of whole pages. */
  requirePageSize(): number {
    const pageSize = this.readPageSize();
    if (pageSize === 0) throw noDatabase('it has no header of one');
    if (this.size % pageSize !== 0 || !isDatabaseSize(this.size / pageSize, pageSize)) {
      throw noDatabase('it has no whole number of pages');
    }
    return pageSize;
  }

  /** A page; where the file ends, zeros. Throws `UnopenedPage`. */
  page(page: number, pageSize: number): Buffer {
    if (this.#isUnopened && (page - 1) * pageSize < this.size) throw new UnopenedPage();
    const bytes = Buffer.alloc(pageSize);
    if (this.#descriptor !== null) readNow(this.#descriptor, bytes, (page - 1) * pageSize);
    return bytes;
  }

  /** Whole pages from the first on, as many at a time as fit a piece; each piece holds until the next. */
  *pieces(pageSize: number): Generator<{ first: number; bytes: Buffer }> {
    if (this.#descriptor === null) return;
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.size));
    for (let at = 0; at < this.size; at += piece.length) {
      const target = piece.subarray(0, Math.min(piece.length, this.size - at));
      const read = readNow(this.#descriptor, target, at);
      const whole = read - (read % pageSize);
      if (whole > 0) yield { first: at / pageSize + 1, bytes: target.subarray(0, whole) };
      if (read < target.length) return;
    }
  }
}

/** `why`: a clause. */
export function noDatabase(why: string): WinterdockError {
  return new WinterdockError('corrupt', `The file is no database that can be replicated: ${why}.`);
}
