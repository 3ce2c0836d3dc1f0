/**
 * Reads the pages of a SQLite file without SQLite, for files that SQLite refuses. It finds each b-tree page on its own,
 * even when the pages above it are damaged, and yields each complete record. Format:
 * https://www.sqlite.org/fileformat2.html. Writes nothing; knows nothing of what records mean.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MAGIC = 'SQLite format 3\0';
/** Page size of every VFS file; used when the header is unreadable. */
const PAGE_BYTES = 4096;
const HEADER_BYTES = 100;
/** Numbers of the other text encodings in the header; any further number is damage. */
const UTF16 = [2, 3];

const INTERIOR_INDEX = 2;
const INTERIOR_TABLE = 5;
const LEAF_INDEX = 10;
const LEAF_TABLE = 13;

/** Longest index record that is read: a path and some numbers. */
const MAX_KEY_BYTES = 64 * 1024;

type Value = string | number | Uint8Array | null;

/** One record. Its overflow pages are read only on demand. */
export interface PageRecord {
  /** Row number; null in an index. */
  rowid: number | null;
  /** Number of values. */
  columns: number;
  /** Reads one value; null also for an unknown type. Throws `Broken` when its pages cannot be read. */
  value(column: number): Value;
  /** Size of a text or blob in bytes, without reading it. */
  size(column: number): number;
  /** Skips a record that is not needed, and counts its pages as read. */
  pass(): void;
}

/** The bytes to be read are missing or invalid. */
export class UnreadablePage extends Error {}

interface Cell {
  rowid: number | null;
  /** Size of the whole record in bytes. */
  length: number;
  /** The part of the record on its own page. */
  local: Buffer;
  /** The first overflow page, 0 for none. */
  next: number;
}

export class SqlitePages {
  readonly #descriptor: number;
  readonly #pageBytes: number;
  /** Usable bytes of a page. */
  readonly #usable: number;
  readonly count: number;
  /** True when the header of the first page is valid. */
  readonly headed: boolean;
  /** True when the free list could be read to its end. */
  readonly freeKnown: boolean;
  readonly #free = new Set<number>();
  /** Table leaves that a parent page names. */
  readonly #named = new Set<number>();
  /** Pages that were read, or are overflow pages of records that were. */
  readonly #understood = new Set<number>();

  /** Opens the file. Throws `Broken` for a text encoding other than UTF-8. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
    const { size } = fstatSync(this.#descriptor);
    const header = Buffer.alloc(HEADER_BYTES);
    readSync(this.#descriptor, header, 0, HEADER_BYTES, 0);
    const declared = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    this.headed = header.toString('latin1', 0, 16) === MAGIC && declared >= 512 && (declared & (declared - 1)) === 0;
    this.#pageBytes = this.headed ? declared : PAGE_BYTES;
    this.#usable = this.#pageBytes - (this.headed ? header.readUInt8(20) : 0);
    this.count = Math.ceil(size / this.#pageBytes);
    this.freeKnown = this.headed && this.#readFree(header.readUInt32BE(32), header.readUInt32BE(36));
    if (this.headed && UTF16.includes(header.readUInt32BE(56))) {
      this.close();
      throw new UnreadablePage('its text is not UTF-8');
    }
    this.#readInterior();
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Pages that are neither free nor read so far. */
  get unread(): number {
    return this.count - new Set([...this.#understood, ...this.#free]).size;
  }

  /** B-tree pages that were read. */
  get understood(): number {
    return this.#understood.size;
  }

  /**
   * The records of tables. Pages with a parent come first: of two records with one row number, the first is the valid
   * one.
   */
  *tables(): Generator<PageRecord & { named: boolean }> {
    for (const named of [true, false]) {
      for (let number = 2; number <= this.count; number += 1) {
        if (this.#free.has(number) || this.#named.has(number) !== named) continue;
        for (const record of this.#records(number, [LEAF_TABLE])) yield { ...record, named };
      }
    }
  }

  /** The records of indexes, and of tables without row numbers. */
  *indexes(): Generator<PageRecord> {
    for (let number = 2; number <= this.count; number += 1) {
      if (!this.#free.has(number)) yield* this.#records(number, [LEAF_INDEX, INTERIOR_INDEX]);
    }
  }

  #page(number: number): Buffer {
    if (!Number.isInteger(number) || number < 1 || number > this.count)
      throw new UnreadablePage(`there is no page ${number}`);
    const page = Buffer.alloc(this.#pageBytes);
    const got = readSync(this.#descriptor, page, 0, this.#pageBytes, (number - 1) * this.#pageBytes);
    if (got < this.#usable) throw new UnreadablePage(`page ${number} is cut off`);
    return page;
  }

  /** Reads the free list. False when it leads to an invalid page. */
  #readFree(first: number, count: number): boolean {
    try {
      for (let trunk = first; trunk !== 0; ) {
        if (this.#free.has(trunk)) return false;
        const page = this.#page(trunk);
        this.#free.add(trunk);
        const leaves = page.readUInt32BE(4);
        if (leaves > this.#usable / 4 - 2) return false;
        for (let at = 0; at < leaves; at += 1) this.#free.add(page.readUInt32BE(8 + at * 4));
        trunk = page.readUInt32BE(0);
      }
      return this.#free.size === count;
    } catch {
      // The list names a page that does not exist, so the free pages are unknown.
      return false;
    }
  }

  /** Collects the pages that parent pages name. */
  #readInterior(): void {
    for (let number = 1; number <= this.count; number += 1) {
      try {
        const page = this.#page(number);
        const start = number === 1 ? HEADER_BYTES : 0;
        if (page[start] === LEAF_TABLE && number === 1) this.#understood.add(1);
        if (page[start] !== INTERIOR_TABLE || this.#free.has(number)) continue;
        for (const at of this.#pointers(page, start, 12)) this.#named.add(page.readUInt32BE(at));
        this.#named.add(page.readUInt32BE(start + 8));
        this.#understood.add(number);
      } catch {
        // An unreadable page names no children.
      }
    }
  }

  /** The offset of each cell of a page. Throws `Broken` when one lies outside the page. */
  #pointers(page: Buffer, start: number, headerBytes: number): number[] {
    const cells = page.readUInt16BE(start + 3);
    const first = start + headerBytes;
    if (first + cells * 2 > this.#usable) throw new UnreadablePage('it has more cells than fit');
    return Array.from({ length: cells }, (_, at) => {
      const pointer = page.readUInt16BE(first + at * 2);
      if (pointer < first + cells * 2 || pointer > this.#usable - 4) throw new UnreadablePage('a cell lies outside');
      return pointer;
    });
  }

  *#records(number: number, kinds: readonly number[]): Generator<PageRecord> {
    let page: Buffer;
    let pointers: number[];
    try {
      page = this.#page(number);
      const kind = page[0] ?? 0;
      if (!kinds.includes(kind)) return;
      pointers = this.#pointers(page, 0, kind === INTERIOR_INDEX ? 12 : 8);
      this.#understood.add(number);
    } catch {
      // The page stays among the unread ones, which are reported.
      return;
    }
    for (const at of pointers) {
      try {
        yield this.#record(this.#cell(page, at));
      } catch (error) {
        // One bad cell says nothing about the others on its page. The damaged page is reported.
        if (!(error instanceof UnreadablePage) && !(error instanceof RangeError)) throw error;
        this.#understood.delete(number);
      }
    }
  }

  #cell(page: Buffer, pointer: number): Cell {
    const kind = page[0];
    let at = kind === INTERIOR_INDEX ? pointer + 4 : pointer;
    const [length, afterLength] = varint(page, at);
    at = afterLength;
    let rowid: number | null = null;
    if (kind === LEAF_TABLE) [rowid, at] = varint(page, at);
    if (length < 1 || length > this.count * this.#pageBytes)
      throw new UnreadablePage('a record has an impossible size');
    const most = kind === LEAF_TABLE ? this.#usable - 35 : Math.floor(((this.#usable - 12) * 64) / 255) - 23;
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const spilt = least + ((length - least) % (this.#usable - 4));
    const local = length <= most ? length : spilt <= most ? spilt : least;
    if (at + local + (local < length ? 4 : 0) > this.#usable) throw new UnreadablePage('a record leaves its page');
    return {
      rowid,
      length,
      local: page.subarray(at, at + local),
      next: local < length ? page.readUInt32BE(at + local) : 0,
    };
  }

  #record(cell: Cell): PageRecord {
    if (cell.rowid === null && cell.length > MAX_KEY_BYTES) throw new UnreadablePage('a key is too long');
    const [headerBytes, first] = varint(cell.local, 0);
    if (headerBytes > cell.local.length || headerBytes < 1) throw new UnreadablePage('a record begins with nothing');
    const types: number[] = [];
    for (let at = first; at < headerBytes; ) {
      const [type, after] = varint(cell.local, at);
      types.push(type);
      at = after;
    }
    const starts: number[] = [];
    let end = headerBytes;
    for (const type of types) {
      starts.push(end);
      end += sizeOf(type);
    }
    if (end !== cell.length) throw new UnreadablePage('a record does not fit its size');
    return {
      rowid: cell.rowid,
      columns: types.length,
      size: (column) => sizeOf(types[column] ?? 0),
      pass: () => {
        try {
          for (const _ of this.#beyond(cell, cell.length));
        } catch (error) {
          // The record was not requested, so its pages stay among the unread ones.
          if (!(error instanceof UnreadablePage)) throw error;
        }
      },
      value: (column) => {
        const type = types[column];
        const start = starts[column];
        if (type === undefined || start === undefined) return null;
        return decoded(type, this.#bytes(cell, start, sizeOf(type)));
      },
    };
  }

  /** Bytes of a record, from its page and its overflow pages. */
  #bytes(cell: Cell, start: number, length: number): Buffer {
    if (start + length <= cell.local.length) return cell.local.subarray(start, start + length);
    return Buffer.concat([cell.local, ...this.#beyond(cell, start + length)]).subarray(start, start + length);
  }

  /** Reads a record's overflow pages, up to byte `end` of the whole record. */
  *#beyond(cell: Cell, end: number): Generator<Buffer> {
    const visited: number[] = [];
    const each = this.#usable - 4;
    let got = cell.local.length;
    for (let next = cell.next; got < end; ) {
      // A free page belongs to no record.
      if (this.#free.has(next) || visited.length > this.count) throw new UnreadablePage('it goes on where it cannot');
      const page = this.#page(next);
      visited.push(next);
      yield page.subarray(4, 4 + each);
      got += each;
      const following = page.readUInt32BE(0);
      if (got < cell.length && following === 0) throw new UnreadablePage('it is broken off');
      if (got >= cell.length && following !== 0) throw new UnreadablePage('it goes on where it should end');
      next = following;
    }
    for (const number of visited) this.#understood.add(number);
  }
}

/** Reads a number of one to nine bytes, and returns where it ends. Throws `Broken` for one beyond a double's range. */
function varint(bytes: Buffer, start: number): [value: number, end: number] {
  let value = 0n;
  for (let at = start; at < start + 9; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw new UnreadablePage('a number is cut off');
    const last = at === start + 8;
    value = last ? (value << 8n) | BigInt(byte) : (value << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80 && !last) continue;
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new UnreadablePage('a number is too large');
    return [Number(value), at + 1];
  }
  throw new UnreadablePage('a number does not end');
}

const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const;

function sizeOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  const size = SIZES[type];
  if (size === undefined) throw new UnreadablePage('a value has no type');
  return size;
}

function decoded(type: number, bytes: Buffer): Value {
  if (type >= 12) return type % 2 === 0 ? new Uint8Array(bytes) : bytes.toString('utf8');
  if (type === 7) return bytes.readDoubleBE(0);
  if (type === 8 || type === 9) return type - 8;
  if (type === 0) return null;
  if (bytes.length < 8) return bytes.readIntBE(0, bytes.length);
  const whole = bytes.readBigInt64BE(0);
  return whole >= BigInt(Number.MIN_SAFE_INTEGER) && whole <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(whole) : null;
}
