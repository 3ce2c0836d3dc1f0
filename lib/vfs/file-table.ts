/**
 * The open files of one running call. What is written to one is at once there for all that open or read its path, and
 * it stays with who has it open when its path is removed or renamed. Contents change in memory; a row has the size at
 * the next look at the tree, and the bytes at the commit, or when memory is short. Knows nothing of positions.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import type { OverlayReader } from './overlay-reader.ts';
import type { OverlayWriter } from './overlay-writer.ts';
import { subtreeOf, type VfsPath } from './paths.ts';
import { FILE_MODE } from './table-reader.ts';
import type { TreeWriter } from './tree.ts';
import type { VfsAddress, VfsEntry } from './types.ts';
import type { Volume } from './volumes.ts';

/** Most bytes of contents in memory, beside the file that is used: two whole files. */
const MEMORY_BYTES = 128 * 1024 * 1024;
/** What is read at once of a file that is only read; a smaller one is read whole. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const FIRST_BYTES = 4096;
/** Growth after which a row gets its size, so that a full sandbox refuses in time. */
const NOTE_BYTES = 16_384;

/** A file, however often it is open. */
export interface FileInUse {
  /** Null once nothing has its path any more. */
  address: VfsAddress | null;
  handles: number;
  /** What is in memory, and zeros behind it; null: nothing is. */
  content: Buffer | null;
  size: number;
  /** A part of the stored content, for who only reads. */
  window: { start: number; bytes: Uint8Array; version: number } | null;
  /** Of the stored content that is in memory. */
  version: number;
  /** The memory has what its row has not. */
  isChanged: boolean;
  /** When its row got a time and a size for the last time, in epoch seconds, and that size. */
  notedAt: number;
  notedSize: number;
  /** What it was when its path was removed. */
  left: VfsEntry | null;
}

interface FileTableParts {
  clock: Clock;
  maxFileBytes: number;
  /** What the call sees. */
  rows: OverlayReader;
  changes: OverlayWriter;
}

const NOTHING: VfsEntry = { path: '', kind: 'file', size: 0, mode: FILE_MODE, mtime: 0, version: 0, target: null };

export class FileTable {
  readonly #parts: FileTableParts;
  /** By path; the one that was used last is the last. */
  readonly #files = new Map<string, FileInUse>();
  /** Those whose path is gone. */
  readonly #removed = new Set<FileInUse>();
  /** Those whose row has another size. */
  readonly #unnoted = new Set<FileInUse>();
  /** What is done when the write that runs is kept; null while none runs. */
  #effects: (() => void)[] | null = null;
  /** In memory, of files with a path. */
  #bytes = 0;

  constructor(parts: FileTableParts) {
    this.#parts = parts;
  }

  /** Whether rows lack sizes. */
  get isBehind(): boolean {
    return this.#unnoted.size > 0;
  }

  /** Whether memory has what rows have not. */
  get isChanged(): boolean {
    return [...this.#files.values()].some((file) => file.isChanged);
  }

  /** Opens a file that exists. */
  open(address: VfsAddress): FileInUse {
    const known = this.#files.get(keyOf(address));
    const file = known ?? { ...CLOSED, address };
    file.handles += 1;
    this.#files.set(keyOf(address), file);
    return file;
  }

  close(file: FileInUse): void {
    file.handles -= 1;
    if (file.handles > 0) return;
    if (file.address === null) this.#removed.delete(file);
    else if (file.isChanged) this.#use(file);
    else this.#drop(file);
  }

  /** What memory alone has of a path; null: nothing. It changes with the next write. */
  changed(volume: Volume, path: VfsPath): Uint8Array | null {
    const file = this.#files.get(keyOf({ volume, path }));
    return file?.isChanged ? bytesOf(file) : null;
  }

  /** Bytes of a file, with what others have committed meanwhile. They may change with the next write. */
  read(file: FileInUse, start: number, length: number): Uint8Array {
    const entry = file.isChanged || file.content !== null || file.address === null ? null : this.entry(file);
    if (file.address === null || entry === null || entry.size <= 2 * WINDOW_BYTES) {
      this.#load(file);
      return bytesOf(file).subarray(start, start + length);
    }
    const has = file.window;
    const isThere = has?.version === entry.version && start >= has.start && start < has.start + has.bytes.byteLength;
    if (!isThere) {
      const { volume, path } = file.address;
      const bytes = this.#parts.rows.slice(volume, path, start, start + WINDOW_BYTES - 1) ?? new Uint8Array(0);
      file.window = { start, bytes, version: entry.version };
    }
    const at = start - (file.window?.start ?? start);
    return file.window?.bytes.subarray(at, at + length) ?? new Uint8Array(0);
  }

  /** The size of a file. */
  sizeOf(file: FileInUse): number {
    return file.isChanged ? file.size : this.entry(file).size;
  }

  /** The entry of a file, also of one that is removed. */
  entry(file: FileInUse): VfsEntry {
    const entry = file.address && this.#parts.rows.file(file.address.volume, file.address.path);
    if (entry) return entry;
    if (file.address) this.#leave(file, null);
    return { ...(file.left ?? NOTHING), size: file.size };
  }

  /** Sets the mode or the time of a file that is removed. */
  setLeft(file: FileInUse, change: Partial<Pick<VfsEntry, 'mode' | 'mtime'>>): void {
    file.left = { ...(file.left ?? NOTHING), ...change };
  }

  /** Whether a change that leaves `size` bytes needs the row first; `claim` then is part of a write of the tree. */
  needsRow(file: FileInUse, size: number): boolean {
    this.#load(file);
    if (file.address === null) return false;
    const isNoted = file.isChanged && file.notedAt === epochSeconds(this.#parts.clock);
    return !isNoted || size - file.notedSize > NOTE_BYTES;
  }

  /** Gives the row of a file the size that it will have. Throws `quota_exceeded`. */
  claim(file: FileInUse, size: number): void {
    const { address } = file;
    if (address === null) return;
    const { rows, changes, clock } = this.#parts;
    const current = rows.file(address.volume, address.path);
    changes.putSize(address.volume, address.path, size, current);
    this.#after(() => {
      // Its row has no content from here on.
      file.isChanged = true;
      file.notedAt = epochSeconds(clock);
      file.notedSize = size;
    });
  }

  /** Writes at a position; there are zeros where nothing was. */
  write(file: FileInUse, bytes: Uint8Array, position: number): void {
    this.#resize(file, Math.max(file.size, position + bytes.byteLength));
    file.content?.set(bytes, position);
  }

  truncate(file: FileInUse, size: number): void {
    this.#resize(file, size);
  }

  /** Gives rows the sizes that they lack: before anything else looks at them. */
  note(): void {
    for (const file of this.#unnoted) {
      if (file.address) this.#parts.changes.noteSize(file.address.volume, file.address.path, file.size);
      file.notedSize = file.size;
    }
    this.#unnoted.clear();
  }

  /** Stores what memory alone has. */
  flush(): void {
    this.note();
    for (const file of this.#files.values()) this.#flush(file);
  }

  /** The rows of the call are gone, committed or not. What is open goes on with what the file has. */
  restart(): void {
    this.#unnoted.clear();
    for (const file of this.#files.values()) this.#drop(file);
  }

  /** The same writer; open files follow what it writes. */
  followed(): TreeWriter {
    const { changes, rows } = this.#parts;
    const leave = (files: FileInUse[]) => {
      for (const file of files) {
        const entry = file.address && rows.file(file.address.volume, file.address.path);
        if (file.handles > 0) this.#load(file);
        this.#after(() => this.#leave(file, entry));
      }
    };
    return {
      putFile: (volume, path, content, current, mode) => {
        for (const file of this.#within(volume, path, false)) this.#after(() => this.#drop(file));
        return changes.putFile(volume, path, content, current, mode);
      },
      setAttributes: (volume, path, ...given) => {
        // The next write sets another time.
        for (const file of this.#within(volume, path, false)) this.#after(() => Object.assign(file, { notedAt: 0 }));
        changes.setAttributes(volume, path, ...given);
      },
      putDirectory: (...given) => changes.putDirectory(...given),
      putLink: (...given) => changes.putLink(...given),
      remove: (volume, path) => {
        leave(this.#within(volume, path, false));
        changes.remove(volume, path);
      },
      removeBelow: (volume, path) => {
        leave(this.#within(volume, path, true));
        changes.removeBelow(volume, path);
      },
      rename: (from, to, directory, replaced) => {
        const moved = this.#within(from.volume, from.path, directory);
        for (const { address, isChanged, ...file } of moved) {
          if (address !== null && isChanged) changes.putBody(address.volume, address.path, bytesOf(file));
        }
        changes.rename(from, to, directory, replaced);
        this.#after(() => {
          for (const file of moved) this.#move(file, from, to);
        });
      },
    };
  }

  /** Runs one write of the tree; open files follow it when it is kept. */
  follow<T>(write: () => T): T {
    const effects: (() => void)[] = [];
    this.#effects = effects;
    try {
      const result = write();
      for (const effect of effects) effect();
      return result;
    } finally {
      this.#effects = null;
    }
  }

  #after(effect: () => void): void {
    this.#effects?.push(effect);
  }

  /** The files at a path, and below it. */
  #within(volume: Volume, path: VfsPath, below: boolean): FileInUse[] {
    if (!below) return [this.#files.get(keyOf({ volume, path })) ?? []].flat();
    const { above } = subtreeOf(path);
    return [...this.#files.values()].filter(
      ({ address }) => address?.volume === volume && (address.path === path || address.path.startsWith(above)),
    );
  }

  #leave(file: FileInUse, entry: VfsEntry | null): void {
    if (file.address === null) return;
    this.#unnoted.delete(file);
    this.#files.delete(keyOf(file.address));
    this.#bytes -= file.content?.byteLength ?? 0;
    file.content ??= Buffer.alloc(0);
    file.address = null;
    file.left = entry;
    if (file.handles > 0) this.#removed.add(file);
  }

  #move(file: FileInUse, from: VfsAddress, to: VfsAddress): void {
    if (file.address === null) return;
    const path = (to.path + file.address.path.slice(from.path.length)) as VfsPath;
    this.#drop(file);
    this.#files.delete(keyOf(file.address));
    file.address = { volume: to.volume, path };
    if (file.handles > 0) this.#files.set(keyOf(file.address), file);
  }

  /** Reads the stored content, unless memory has it. */
  #load(file: FileInUse): void {
    if (file.address !== null && !file.isChanged) this.#refresh(file, file.address);
    this.#use(file);
  }

  #refresh(file: FileInUse, { volume, path }: VfsAddress): void {
    const { rows } = this.#parts;
    const entry = rows.file(volume, path);
    if (entry === null) this.#leave(file, file.left);
    else if (file.content === null || file.version !== entry.version || file.size !== entry.size) {
      const stored = rows.content(volume, path) ?? new Uint8Array(0);
      this.#keep(file, Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength));
      file.size = stored.byteLength;
      file.version = entry.version;
    }
  }

  #resize(file: FileInUse, size: number): void {
    const before = file.size;
    const room = file.content?.byteLength ?? 0;
    if (size > room) {
      const grown = Buffer.alloc(Math.max(size, Math.min(2 * room, this.#parts.maxFileBytes), FIRST_BYTES));
      file.content?.copy(grown, 0, 0, before);
      this.#keep(file, grown);
    } else if (size < before) file.content?.fill(0, size, before);
    file.size = size;
    if (file.address === null) this.setLeft(file, { mtime: epochSeconds(this.#parts.clock) });
    else {
      file.isChanged = true;
      if (size !== file.notedSize) this.#unnoted.add(file);
      this.#use(file);
    }
  }

  #keep(file: FileInUse, content: Buffer | null): void {
    if (file.address !== null) this.#bytes += (content?.byteLength ?? 0) - (file.content?.byteLength ?? 0);
    else this.#requireRoom(file, content?.byteLength ?? 0);
    file.content = content;
    file.window = null;
  }

  /** What has no path is in memory alone. */
  #requireRoom(file: FileInUse, bytes: number): void {
    let all = bytes;
    for (const other of this.#removed) if (other !== file) all += other.content?.byteLength ?? 0;
    if (all > MEMORY_BYTES)
      throw new WinterdockError('quota_exceeded', 'Open files that were removed take too much memory.');
  }

  /** Makes a file the last to be given up, and gives up others while there is too much in memory. */
  #use(file: FileInUse): void {
    if (file.address === null) return;
    this.#files.delete(keyOf(file.address));
    this.#files.set(keyOf(file.address), file);
    // What a write that fails had stored would be gone.
    if (this.#effects !== null) return;
    for (const other of this.#files.values()) {
      if (other === file || this.#bytes <= MEMORY_BYTES) return;
      this.note();
      this.#flush(other);
      this.#drop(other);
    }
  }

  #flush(file: FileInUse): void {
    if (!file.isChanged || file.address === null) return;
    const { rows, changes } = this.#parts;
    const { volume, path } = file.address;
    this.note();
    changes.putBody(volume, path, bytesOf(file));
    file.isChanged = false;
    file.version = rows.file(volume, path)?.version ?? 0;
  }

  /** What is stored is the content. */
  #drop(file: FileInUse): void {
    if (file.address === null) return;
    this.#keep(file, null);
    this.#unnoted.delete(file);
    Object.assign(file, { size: 0, window: null, version: 0, isChanged: false, notedAt: 0, notedSize: 0 });
    if (file.handles === 0) this.#files.delete(keyOf(file.address));
  }
}

const CLOSED: FileInUse = {
  address: null,
  handles: 0,
  content: null,
  size: 0,
  window: null,
  version: 0,
  isChanged: false,
  notedAt: 0,
  notedSize: 0,
  left: null,
};

function keyOf({ volume, path }: VfsAddress): string {
  return `${volume}:${path}`;
}

function bytesOf({ content, size }: Pick<FileInUse, 'content' | 'size'>): Uint8Array {
  return content?.subarray(0, size) ?? new Uint8Array(0);
}
