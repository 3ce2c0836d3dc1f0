/**
 * The files that SQLite has open: read whole when they are opened, changed in memory, written back whole by `flush`.
 * Owns their locks and their size; knows nothing of SQLite's calls.
 */
import type { EngineChannel } from './engine-channel.ts';
import { SqliteFailure } from './engine-database.ts';

/** Where a database counts its changes, by which SQLite knows that the pages that it remembers are still right. */
const CHANGES_AT = 24;
const HEADER_BYTES = 100;
const GROWTH_BYTES = 64 * 1024;

/** Result codes for what the worker refuses to write, by the error's name. */
const REFUSALS: Readonly<Record<string, readonly [code: number, message: string]>> = {
  EBUSY: [5, 'database is locked'],
  ENOSPC: [13, 'database or disk is full'],
  EFBIG: [13, 'database or disk is full'],
};

const JOURNAL = '-journal';
/** How a journal begins that is still to be played back. */
const JOURNAL_MAGIC = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/** SQLite's levels of locks. */
const LOCK = { none: 0, shared: 1, reserved: 2, pending: 3, exclusive: 4 } as const;

export class OpenContent {
  bytes: Uint8Array;
  size: number;
  isChanged: boolean;
  /** Levels by handle. */
  readonly locks = new Map<number, number>();
  handles = 0;

  constructor(content: Uint8Array, isChanged: boolean) {
    this.bytes = content;
    this.size = content.byteLength;
    this.isChanged = isChanged;
  }

  get content(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }
}

export class WorkspaceFiles {
  readonly #channel: EngineChannel;
  readonly #open = new Map<string, OpenContent>();
  /** Names that were removed and are still in the workspace. */
  readonly #removed = new Set<string>();
  /** Why a file was not opened last; null when nothing was wrong with it. */
  #refusal: string | null = null;

  constructor(channel: EngineChannel) {
    this.#channel = channel;
  }

  /** Takes the reason for which a file was not opened last. */
  takeRefusal(): string | null {
    const refusal = this.#refusal;
    this.#refusal = null;
    return refusal;
  }

  /**
   * A file; null when there is none and it is not to be created, or when it is too large. `stores`: a new one is in the
   * workspace at once. A null path: one without a name. Throws what the worker refuses.
   */
  open(path: string | null, { creates, stores }: { creates: boolean; stores: boolean }): OpenContent | null {
    if (path === null) return new OpenContent(new Uint8Array(0), false);
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    const size = this.#storedSize(path);
    if (size === null && !creates) return null;
    const { fileBytes } = this.#channel.start;
    if (this.#total() + (size ?? 0) > fileBytes) {
      this.#refusal = `it has ${size} bytes, and all databases that are open at a time may have ${fileBytes}`;
      return null;
    }
    const content = this.#removed.has(path) ? null : this.#channel.ask({ op: 'read', path });
    const isNew = content === null;
    if (isNew && stores) this.#channel.ask({ op: 'write', path, content: new Uint8Array(0) });
    const opened = new OpenContent(content ?? new Uint8Array(0), isNew && !stores);
    this.#open.set(path, opened);
    this.#removed.delete(path);
    return opened;
  }

  exists(path: string): boolean {
    if (this.#open.has(path)) return true;
    return this.#storedSize(path) !== null;
  }

  /** Bytes of a file in the workspace; null when there is none. */
  #storedSize(path: string): number | null {
    const size = this.#removed.has(path) ? null : this.#channel.ask({ op: 'size', path });
    return size === null ? null : Number(Buffer.from(size).toString());
  }

  remove(path: string): void {
    const isStored = !(this.#open.get(path)?.isChanged ?? false);
    this.#open.delete(path);
    if (isStored) this.#removed.add(path);
  }

  /** False when all files together would be larger than they may be. */
  write(file: OpenContent, content: Uint8Array, offset: number): boolean {
    const end = offset + content.byteLength;
    if (end > file.bytes.byteLength) {
      const room = this.#channel.start.fileBytes - (this.#total() - file.bytes.byteLength);
      if (end > room) return false;
      // Twice as much, or all that there is: a file that grows page by page is copied a few times.
      const wanted = Math.min(room, Math.max(end, file.bytes.byteLength * 2, GROWTH_BYTES));
      const grown = new Uint8Array(wanted);
      grown.set(file.content);
      file.bytes = grown;
    }
    if (offset > file.size) file.bytes.fill(0, file.size, offset);
    file.bytes.set(content, offset);
    file.size = Math.max(file.size, end);
    file.isChanged = true;
    return true;
  }

  truncate(file: OpenContent, size: number): void {
    if (size < file.size) file.size = size;
    file.isChanged = true;
  }

  /** Whether a handle may have a lock of this level; it then has it. */
  lock(file: OpenContent, handle: number, level: number): boolean {
    const others = Math.max(LOCK.none, ...[...file.locks].flatMap(([other, held]) => (other === handle ? [] : [held])));
    const isFree =
      level === LOCK.shared
        ? others < LOCK.pending
        : level === LOCK.reserved
          ? others < LOCK.reserved
          : others === LOCK.none;
    if (isFree) file.locks.set(handle, Math.max(level, file.locks.get(handle) ?? 0));
    return isFree;
  }

  unlock(file: OpenContent, handle: number, level: number): void {
    if (level === LOCK.none) file.locks.delete(handle);
    else file.locks.set(handle, level);
  }

  isReserved(file: OpenContent): boolean {
    return [...file.locks.values()].some((level) => level >= LOCK.reserved);
  }

  /** Bytes of the files that `flush` would write. */
  get changedBytes(): number {
    let total = 0;
    for (const { isChanged, size } of this.#open.values()) if (isChanged) total += size;
    return total;
  }

  /**
   * Writes every changed file to the workspace, and forgets those that nobody has open. Throws SqliteFailure for what
   * the workspace refuses: then files that were not written are as they are there, and who has one open must give up
   * its locks.
   */
  flush(): void {
    try {
      this.#writeAll();
    } catch (error) {
      this.#readAgain();
      const message = error instanceof Error ? error.message : String(error);
      const [code, why] = REFUSALS[message.split(':')[0] ?? ''] ?? [];
      throw code === undefined ? error : new SqliteFailure(why ?? message, code, code, -1);
    } finally {
      this.#removed.clear();
      for (const [path, file] of this.#open) {
        file.isChanged = false;
        if (file.handles === 0) this.#open.delete(path);
      }
    }
  }

  /** A journal that is left belongs to a change that failed: neither of them is written, as if it was rolled back. */
  #dropFailed(): void {
    for (const [path, journal] of this.#open) {
      if (!path.endsWith(JOURNAL) || !journal.isChanged) continue;
      if (!JOURNAL_MAGIC.every((byte, at) => journal.content[at] === byte)) continue;
      const file = this.#open.get(path.slice(0, -JOURNAL.length));
      if (file !== undefined) file.isChanged = false;
      journal.isChanged = false;
    }
  }

  #writeAll(): void {
    this.#dropFailed();
    for (const path of this.#removed) this.#channel.ask({ op: 'delete', path });
    for (const [path, file] of this.#open) {
      if (file.isChanged) this.#channel.ask({ op: 'write', path, content: file.content.slice() });
      file.isChanged = false;
    }
  }

  /** Takes the changes back that were not written. */
  #readAgain(): void {
    for (const [path, file] of this.#open) {
      if (!file.isChanged) continue;
      const dropped = changesOf(file.content);
      file.bytes = (this.#channel.ask({ op: 'read', path }) ?? new Uint8Array(0)).slice();
      file.size = file.bytes.byteLength;
      // What was dropped and what another call has written may be as many changes, and are not the same.
      if (file.size < HEADER_BYTES) continue;
      viewOf(file.bytes).setUint32(CHANGES_AT, Math.max(dropped, changesOf(file.bytes)) + 1);
    }
  }

  #total(): number {
    let total = 0;
    for (const { bytes } of this.#open.values()) total += bytes.byteLength;
    return total;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function changesOf(content: Uint8Array): number {
  return content.byteLength < HEADER_BYTES ? 0 : viewOf(content).getUint32(CHANGES_AT);
}
