/**
 * The bytes of files: chunks of 64 KiB over the content that the seed's table has. What was written since the last
 * flush is in memory. Knows nothing of names and of the quota.
 */
import type { Statements } from '../../vfs/statements.ts';
import { type Inode, NO_BYTES } from './inode.ts';
import { CHUNKS_PER_FILE, FILE_CHUNK_BYTES } from './tables.ts';

/** Written bytes that are kept in memory; more go to the open transaction. */
const DIRTY_BYTES = 16 * 1024 * 1024;
/** Bytes of chunks that are kept because they may be read again. */
const CLEAN_BYTES = 16 * 1024 * 1024;
const LEAST_BYTES = 4096;

/** A chunk in memory. What is behind its length is zeros, whatever is stored. */
interface Chunk {
  bytes: Buffer;
  length: number;
  isDirty: boolean;
}

/** Where the bytes of a file are. */
type StoredBytes = Pick<Inode, 'ino' | 'contentRow' | 'base' | 'size'>;

export class Contents {
  readonly #statements: Statements;
  /** By inode, the one that was used last at the end; then by place. */
  readonly #chunks = new Map<number, Map<number, Chunk>>();
  #dirtyBytes = 0;
  #cleanBytes = 0;
  /** The content of the row that was read last. */
  #base: { row: number; bytes: Buffer } | null = null;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Whether so much is in memory that it should be flushed. */
  get isFull(): boolean {
    return this.#dirtyBytes > DIRTY_BYTES;
  }

  get hasChanges(): boolean {
    return this.#dirtyBytes > 0;
  }

  /** Copies bytes of a file to `into`, from `at` on; returns how many. */
  read(inode: StoredBytes, offset: number, length: number, into: Buffer, at: number): number {
    const end = Math.min(offset + length, inode.size);
    for (let from = offset; from < end; ) {
      const index = Math.floor(from / FILE_CHUNK_BYTES);
      const within = from - index * FILE_CHUNK_BYTES;
      const until = Math.min(FILE_CHUNK_BYTES, end - index * FILE_CHUNK_BYTES);
      const bytes = this.#load(inode, index);
      const has = Math.max(within, Math.min(until, bytes.length));
      if (has > within) bytes.copy(into, at + from - offset, within, has);
      into.fill(0, at + from - offset + has - within, at + from - offset + until - within);
      from = index * FILE_CHUNK_BYTES + until;
    }
    return Math.max(0, end - offset);
  }

  /** Writes bytes; the caller sets the size. */
  write(inode: Inode, offset: number, bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      const index = Math.floor((offset + from) / FILE_CHUNK_BYTES);
      const within = offset + from - index * FILE_CHUNK_BYTES;
      const count = Math.min(FILE_CHUNK_BYTES - within, bytes.length - from);
      const chunk = this.#writable(inode, index, within + count, within === 0);
      if (within > chunk.length) chunk.bytes.fill(0, chunk.length, within);
      chunk.bytes.set(bytes.subarray(from, from + count), within);
      chunk.length = Math.max(chunk.length, within + count);
      from += count;
    }
  }

  /** Cuts a file: nothing of what was behind `size` shows when it grows again. */
  cut(inode: Inode, size: number): void {
    const last = Math.floor(size / FILE_CHUNK_BYTES);
    const within = size - last * FILE_CHUNK_BYTES;
    const kept = within > 0 ? last + 1 : last;
    if (within > 0 && this.#load(inode, last).length > within) {
      const chunk = this.#writable(inode, last, within, false);
      chunk.length = within;
    }
    const known = this.#chunks.get(inode.ino);
    for (const index of known?.keys() ?? []) if (index >= kept) this.#forget(inode.ino, index);
    this.#statements.run(
      'DELETE FROM native_chunk WHERE id >= ? AND id < ?',
      inode.ino * CHUNKS_PER_FILE + kept,
      (inode.ino + 1) * CHUNKS_PER_FILE,
    );
    inode.base = Math.min(inode.base, size);
  }

  /** Makes a range of a file zeros. */
  zero(inode: Inode, offset: number, length: number): void {
    const end = Math.min(offset + length, inode.size);
    for (let from = offset; from < end; ) {
      const index = Math.floor(from / FILE_CHUNK_BYTES);
      const within = from - index * FILE_CHUNK_BYTES;
      const until = Math.min(FILE_CHUNK_BYTES, end - index * FILE_CHUNK_BYTES);
      const isWhole = within === 0 && until === FILE_CHUNK_BYTES;
      const chunk = this.#writable(inode, index, until, isWhole);
      if (isWhole) chunk.length = 0;
      else if (chunk.length > within) chunk.bytes.fill(0, within, Math.min(until, chunk.length));
      from = index * FILE_CHUNK_BYTES + until;
    }
  }

  /** Drops what memory and the database have of a file that ends. */
  remove(inode: Inode): void {
    for (const index of this.#chunks.get(inode.ino)?.keys() ?? []) this.#forget(inode.ino, index);
    this.#statements.run(
      'DELETE FROM native_chunk WHERE id >= ? AND id < ?',
      inode.ino * CHUNKS_PER_FILE,
      (inode.ino + 1) * CHUNKS_PER_FILE,
    );
    if (inode.contentRow !== 0 && this.#base?.row === inode.contentRow) this.#base = null;
  }

  /** Makes everything that is in the seed's row a chunk. */
  copyBase(inode: Inode): void {
    for (let index = 0; index * FILE_CHUNK_BYTES < inode.base; index += 1) {
      if (this.#chunks.get(inode.ino)?.has(index)) continue;
      const id = inode.ino * CHUNKS_PER_FILE + index;
      if (this.#statements.get('SELECT 1 FROM native_chunk WHERE id = ?', id) !== undefined) continue;
      this.#store(id, this.#load(inode, index));
      this.#trim(inode.ino);
    }
    inode.base = 0;
  }

  /** Writes to the database what memory alone has; the caller is in a transaction. */
  flush(): void {
    if (this.#dirtyBytes === 0) return;
    for (const [ino, chunks] of this.#chunks) {
      for (const [index, chunk] of chunks) {
        if (!chunk.isDirty) continue;
        this.#store(ino * CHUNKS_PER_FILE + index, chunk.bytes.subarray(0, chunk.length));
        chunk.isDirty = false;
        this.#cleanBytes += chunk.bytes.length;
      }
    }
    this.#dirtyBytes = 0;
    this.#trim(0);
  }

  /** Gives memory back that only makes reading quicker. */
  relax(): void {
    this.#base = null;
  }

  #store(id: number, data: Buffer): void {
    this.#statements.run("INSERT OR REPLACE INTO native_chunk (id, data) VALUES (?, ifnull(?, x''))", id, data);
  }

  /** The bytes of a chunk without the zeros at its end. */
  #load(inode: StoredBytes, index: number): Buffer {
    const known = this.#chunks.get(inode.ino);
    const chunk = known?.get(index);
    if (known !== undefined && chunk !== undefined) {
      this.#chunks.delete(inode.ino);
      this.#chunks.set(inode.ino, known);
      return chunk.bytes.subarray(0, chunk.length);
    }
    const start = index * FILE_CHUNK_BYTES;
    const row = this.#statements.get<{ data: Uint8Array | null }>(
      'SELECT data FROM native_chunk WHERE id = ?',
      inode.ino * CHUNKS_PER_FILE + index,
    );
    if (row === undefined) {
      if (start >= inode.base) return NO_BYTES;
      return this.#baseOf(inode).subarray(start, Math.min(start + FILE_CHUNK_BYTES, inode.base));
    }
    const bytes = row.data === null ? NO_BYTES : Buffer.from(row.data.buffer, row.data.byteOffset, row.data.byteLength);
    this.#keep(inode.ino, index, { bytes, length: bytes.length, isDirty: false });
    this.#cleanBytes += bytes.length;
    this.#trim(inode.ino);
    return bytes;
  }

  #baseOf(inode: StoredBytes): Buffer {
    if (this.#base?.row === inode.contentRow) return this.#base.bytes;
    const row = this.#statements.get<{ content: Uint8Array | null }>(
      'SELECT CAST(content AS BLOB) AS content FROM main.vfs WHERE rowid = ?',
      inode.contentRow,
    );
    const content = row?.content;
    const bytes = content ? Buffer.from(content.buffer, content.byteOffset, content.byteLength) : NO_BYTES;
    this.#base = { row: inode.contentRow, bytes };
    return bytes;
  }

  /** A chunk to write to, with room for `length` bytes. `isReplaced`: what it has matters only behind that. */
  #writable(inode: Inode, index: number, length: number, isReplaced: boolean): Chunk {
    const known = this.#chunks.get(inode.ino)?.get(index);
    if (known?.isDirty && known.bytes.length >= length) return known;
    const has = isReplaced && length >= FILE_CHUNK_BYTES ? NO_BYTES : this.#load(inode, index);
    const room = Math.min(
      FILE_CHUNK_BYTES,
      Math.max(LEAST_BYTES, length, has.length, known?.isDirty ? 2 * has.length : 0),
    );
    const bytes = Buffer.allocUnsafeSlow(room);
    has.copy(bytes);
    this.#forget(inode.ino, index);
    const chunk: Chunk = { bytes, length: has.length, isDirty: true };
    this.#keep(inode.ino, index, chunk);
    this.#dirtyBytes += room;
    return chunk;
  }

  #keep(ino: number, index: number, chunk: Chunk): void {
    const chunks = this.#chunks.get(ino) ?? new Map<number, Chunk>();
    this.#chunks.set(ino, chunks.set(index, chunk));
  }

  #forget(ino: number, index: number): void {
    const chunks = this.#chunks.get(ino);
    const chunk = chunks?.get(index);
    if (chunks === undefined || chunk === undefined) return;
    if (chunk.isDirty) this.#dirtyBytes -= chunk.bytes.length;
    else this.#cleanBytes -= chunk.bytes.length;
    chunks.delete(index);
    if (chunks.size === 0) this.#chunks.delete(ino);
  }

  /** Forgets clean chunks while they take too much: first those of files that were not used lately. */
  #trim(used: number): void {
    for (const [ino, chunks] of this.#chunks) {
      if (this.#cleanBytes <= CLEAN_BYTES) return;
      if (ino === used && this.#chunks.size > 1) continue;
      for (const [index, chunk] of chunks) {
        if (this.#cleanBytes <= CLEAN_BYTES / 2) return;
        if (!chunk.isDirty) this.#forget(ino, index);
      }
    }
  }
}
