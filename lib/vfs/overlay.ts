/**
 * The files as one running call sees them. Its changes are buffered beside the file, under the same rules, and applied
 * in one short transaction at `commit`. Until then nobody else sees them, and no transaction is open. At a path that
 * the call has not changed, it sees what others commit meanwhile; at one that it has changed, the later commit wins,
 * except that what both have appended is kept. Knows nothing of calls except that each has one overlay.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../base/clock.ts';
import { AppendedFiles } from './appended-files.ts';
import type { PendingWrites } from './call-buffer.ts';
import type { Transaction } from './durable-write.ts';
import { type FileInUse, FileTable } from './file-table.ts';
import { GATHERED, type Gathered } from './gathered-changes.ts';
import { OverlayReader } from './overlay-reader.ts';
import { requireTree } from './overlay-tree.ts';
import { OverlayWriter } from './overlay-writer.ts';
import type { VfsPath } from './paths.ts';
import { type QueryAnswer, type QueryParams, runQuery } from './query.ts';
import { FULL, resultCodeOf } from './sqlite-errors.ts';
import type { Statements } from './statements.ts';
import type { TableReader } from './table-reader.ts';
import type { TableWriter } from './table-writer.ts';
import { Tree } from './tree.ts';
import { requireSize } from './tree-errors.ts';
import type { VfsAddress, VfsEntry } from './types.ts';
import type { Volume } from './volumes.ts';
import { WholeFileReads } from './whole-file-reads.ts';

interface OverlayParts {
  db: DatabaseSync;
  statements: Statements;
  rows: TableReader;
  nodes: boolean;
  changes: TableWriter;
  transaction: Transaction;
  pending: PendingWrites;
  maxFileBytes: number;
  clock: Clock;
  explain: (error: unknown, bytes: number) => unknown;
}

/** From this size in pages, a file's pages are freed before it is replaced. */
const LARGE_PAGES = 1;
const PAGE_BYTES = 4096;
/** Buffered rows that may stay in memory until they are dropped together. */
const FEW_ROWS = 16;
const FEW_PAGES = 4;

/** Sets all columns but the first two, when the row exists already. */
const NODE_ANEW = `ON CONFLICT (volume, path) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, mtime = excluded.mtime,
  size = excluded.size, row = excluded.row, version = excluded.version, target = excluded.target`;

/** The call's rows of some kinds. */
const OWN = 'FROM pending.changed_path c WHERE c.call = ? AND c.kind';

export class Overlay extends Tree {
  readonly #parts: OverlayParts;
  readonly #rows: OverlayReader;
  readonly #files: FileTable;
  /** The number of the call's rows; null while it has no changes. */
  #call: number | null = null;
  /** True once the call has written a row; until then there is nothing to look up. */
  #touched = false;
  /** The file's commit count when the call made its first change. */
  #since = 0;
  /** Called before each change that the call makes; it may commit. */
  onChange: (() => void) | null = null;
  readonly #guards = new WholeFileReads({
    committedVersion: ({ volume, path }) => this.read(() => this.#parts.rows.file(volume, path)?.version ?? 0),
    hasChanged: (address) => this.#hasChanged(address),
  });
  readonly #appended: AppendedFiles;

  constructor(parts: OverlayParts) {
    const { statements, nodes, pending, transaction, explain } = parts;
    const rows = new OverlayReader(statements, nodes, {
      base: parts.rows,
      call: () => (this.#touched ? this.#call : null),
      inMemory: (volume, path) => files.changed(volume, path),
    });
    const changes = new OverlayWriter(
      statements,
      parts.clock,
      () => this.#touch(),
      (pages) => pending.took(pages, transaction.committed),
    );
    const files = new FileTable({ clock: parts.clock, maxFileBytes: parts.maxFileBytes, rows, changes });
    super({
      rows,
      changes: files.followed(),
      maxFileBytes: parts.maxFileBytes,
      run: (change) => {
        this.#enter();
        return files.follow(() => pending.run(change));
      },
      reserve: (bytes) => pending.reserve(bytes, transaction.committed),
      explain,
    });
    this.#parts = parts;
    this.#rows = rows;
    this.#files = files;
    this.#appended = new AppendedFiles({
      statements,
      rows: parts.rows,
      maxFileBytes: parts.maxFileBytes,
      hasChanged: (address) => this.#hasChanged(address),
      sizeOf: ({ volume, path }) => this.entry(path, volume)?.size ?? 0,
    });
  }

  /** Runs what appends to a file: others' appends that are committed meanwhile stay. */
  override append<T>(path: VfsPath, volume: Volume, write: () => T): T {
    this.onChange?.();
    const { onChange } = this;
    // No commit may come between what the call read and what it writes.
    this.onChange = null;
    try {
      return this.#appended.append(path, volume, write);
    } finally {
      this.onChange = onChange;
    }
  }

  /**
   * Opens a file that exists, until `closeFile`. What is written to it is at once there for every reader of the call;
   * it stays open when its path is removed or renamed, and when the call commits.
   */
  openFile(path: VfsPath, volume: Volume): FileInUse {
    return this.#files.open({ volume, path });
  }

  closeFile(file: FileInUse): void {
    this.#files.close(file);
  }

  /** Bytes of an open file, up to date; fewer at its end, and perhaps before. They may change with the next write. */
  readOpen(file: FileInUse, start: number, length: number): Uint8Array {
    return this.read(() => this.#files.read(file, start, length));
  }

  /** The entry of an open file, also of one that was removed. */
  entryOf(file: FileInUse): VfsEntry {
    return this.read(() => this.#files.entry(file));
  }

  /** Sets the mode or the time of an open file, also of one that was removed. */
  setOpen(file: FileInUse, change: { mode?: number; mtime?: number }): void {
    const { address } = file;
    if (address === null) this.#files.setLeft(file, change);
    else if (change.mode !== undefined) this.chmod(address.path, change.mode, address.volume);
    else if (change.mtime !== undefined) this.utimes(address.path, change.mtime, address.volume);
  }

  /**
   * Writes to an open file, at its end or a position; there are zeros where nothing was. Returns where the write ended.
   * Throws `too_large` and `quota_exceeded`, and then writes nothing.
   */
  writeOpen(file: FileInUse, bytes: Uint8Array, at: number | 'end'): number {
    const { address } = file;
    if (at === 'end' && bytes.byteLength > 0 && address !== null)
      return this.append(address.path, address.volume, () => this.#writeOpen(file, bytes, at));
    this.onChange?.();
    return this.#writeOpen(file, bytes, at);
  }

  #writeOpen(file: FileInUse, bytes: Uint8Array, at: number | 'end'): number {
    const size = this.#files.sizeOf(file);
    const start = at === 'end' ? size : at;
    const end = start + bytes.byteLength;
    if (bytes.byteLength === 0) return end;
    this.#claim(file, Math.max(size, end));
    this.#files.write(file, bytes, start);
    return end;
  }

  /** Cuts an open file, or extends it with zeros. Throws `too_large` and `quota_exceeded`. */
  truncateOpen(file: FileInUse, size: number): void {
    this.onChange?.();
    this.#claim(file, size);
    this.#files.truncate(file, size);
  }

  #claim(file: FileInUse, size: number): void {
    requireSize(file.address ?? { volume: 'tmp', path: '/' as VfsPath }, size, this.#parts.maxFileBytes);
    if (this.#files.needsRow(file, size)) super.write(size, () => this.#files.claim(file, size));
  }

  protected override read<T>(read: () => T): T {
    this.#note();
    return super.read(read);
  }

  protected override write<T>(bytes: number, change: () => T): T {
    this.onChange?.();
    this.#note();
    return super.write(bytes, change);
  }

  #note(): void {
    if (this.#files.isBehind) super.read(() => this.#files.note());
  }

  /** Whether it has changes to commit. */
  get isChanged(): boolean {
    return this.#touched;
  }

  /** Bytes that the sandbox's file may take, and of what is free in it beside the changes of all calls. */
  room(): { limit: number; free: number } {
    return this.read(() => this.#parts.pending.room());
  }

  /** Paths of a volume's files, in byte order, at most `limit`. */
  paths(volume: Volume, prefix: string, limit: number): string[] {
    return this.read(() => this.#rows.files(volume, prefix, limit));
  }

  /**
   * Call it before reading a file whose change depends on what it was, a database for example. When others have
   * committed it since, the next commit with a change of it is refused.
   */
  guard(path: VfsPath, volume: Volume): void {
    this.#guards.add(path, volume);
  }

  /** Whether others have committed a guarded file since. */
  isOutdated(path: VfsPath, volume: Volume): boolean {
    return this.#guards.isOutdated(path, volume);
  }

  #hasChanged({ volume, path }: VfsAddress): boolean {
    if (!this.#touched || this.#call === null) return false;
    const sql = `SELECT 1 FROM pending.changed_path WHERE call = ? AND volume = ? AND path = ? AND kind <> 'attributes'`;
    return this.#parts.statements.get(sql, this.#call, volume, path) !== undefined;
  }

  /** Runs a query over the files as they would be after a commit now. See `runQuery`. */
  query(sql: string, params: QueryParams): QueryAnswer {
    const { db, transaction } = this.#parts;
    const gathered = this.#gathered();
    if (gathered === null) return runQuery(db, sql, params);
    return this.#whole(gathered, () =>
      transaction.tryOut(
        () => this.#apply(gathered),
        () => runQuery(db, sql, params),
      ),
    );
  }

  /**
   * Applies the changes to the file durably, then starts empty again. Throws `quota_exceeded`, `storage_unavailable`,
   * and `conflict` when others have made a directory where the call put a file, or a file where it needs a directory,
   * or have committed a guarded file. On an error all changes since the last commit are dropped, and the overlay starts
   * empty as well. `goesOn`: what the call reads and writes later may depend on what it read before, so guards stay.
   */
  commit({ goesOn = false } = {}): void {
    let few = false;
    try {
      const gathered = this.#gathered();
      if (gathered === null) return;
      const renew = this.#guards.renewed();
      this.#whole(gathered, () => this.#parts.transaction.run(() => this.#apply(gathered)));
      this.#parts.pending.given(gathered.pages, this.#parts.transaction.committed);
      few = gathered.rows <= FEW_ROWS && gathered.pages <= FEW_PAGES;
      renew();
    } finally {
      if (!goesOn) this.#guards.clear();
      this.#leave(few);
    }
  }

  /** Drops the changes and starts empty again. */
  discard(): void {
    this.#guards.clear();
    this.#leave(false);
  }

  #leave(few: boolean): void {
    this.#files.restart();
    this.#appended.clear();
    if (this.#call === null) return;
    const call = this.#call;
    this.#call = null;
    this.#touched = false;
    this.#parts.pending.leave(call, few);
  }

  #enter(): number {
    if (this.#call === null) {
      this.#call = this.#parts.pending.enter();
      this.#since = this.#parts.transaction.committed;
    }
    return this.#call;
  }

  #touch(): number {
    this.#touched = true;
    return this.#enter();
  }

  #gathered(): Gathered | null {
    if (this.#call === null) return null;
    this.#parts.pending.requireSound();
    if (this.#files.isChanged) this.#parts.pending.run(() => this.#files.flush());
    const gathered = this.#parts.statements.get<Gathered>(GATHERED, this.#call);
    return gathered === undefined || gathered.above === null ? null : gathered;
  }

  #whole<T>(gathered: Gathered, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#parts.explain(error, gathered.pages * PAGE_BYTES);
    }
  }

  /** Writes the changes, inside a transaction. Room is freed first. */
  #apply(gathered: Gathered): void {
    const { statements, changes, transaction } = this.#parts;
    const call = this.#enter();
    this.#guards.require();
    this.#appended.follow(call);
    const version = changes.nextVersion(gathered.above ?? 0);
    if (gathered.gone > 0) {
      statements.run(
        `DELETE FROM vfs WHERE (volume, path) IN (SELECT c.volume, c.path ${OWN} IN ('gone', 'dir', 'link'))`,
        call,
      );
      statements.run(`DELETE FROM vfs_node WHERE (volume, path) IN (SELECT c.volume, c.path ${OWN} = 'gone')`, call);
    }
    if (gathered.replaced > LARGE_PAGES) {
      statements.run(
        `UPDATE vfs SET content = NULL WHERE octet_length(content) > ${PAGE_BYTES} AND (volume, path) IN (SELECT c.volume, c.path ${OWN} = 'file')`,
        call,
      );
    }
    if (gathered.files > 0) {
      statements.run(
        `INSERT INTO vfs (volume, path, content, mtime) SELECT c.volume, c.path, (SELECT b.content FROM pending.changed_body b WHERE b.id = c.body), c.mtime ${OWN} = 'file'
         ON CONFLICT (volume, path) DO UPDATE SET content = excluded.content, mtime = excluded.mtime`,
        call,
      );
      statements.run(
        `INSERT INTO vfs_node (volume, path, kind, mode, mtime, size, row, version)
         SELECT c.volume, c.path, 'file', c.mode, c.mtime, c.size,
           (SELECT v.rowid FROM vfs v WHERE v.volume = c.volume AND v.path = c.path), ? ${OWN} = 'file' ${NODE_ANEW}`,
        version,
        call,
      );
    }
    if (gathered.nodes > 0) {
      statements.run(
        `INSERT INTO vfs_node (volume, path, kind, mode, mtime, version, target)
         SELECT c.volume, c.path, c.kind, c.mode, c.mtime, ?, c.target ${OWN} IN ('dir', 'link') ${NODE_ANEW}`,
        version,
        call,
      );
    }
    if (gathered.kept > 0) this.#keep(call, version);
    if (gathered.attributes > 0) this.#attributes(call);
    if (transaction.committed !== this.#since)
      requireTree(call, { statements, rows: this.#parts.rows, above: this.#rows.above(call) });
  }

  /** Creates implicit directories where nothing else is. */
  #keep(call: number, version: number): void {
    const { statements } = this.#parts;
    try {
      statements.run(
        `INSERT INTO vfs_node (volume, path, kind, mode, mtime, version)
         SELECT c.volume, c.path, 'dir', c.mode, c.mtime, ? ${OWN} = 'kept'
           AND NOT EXISTS (SELECT 1 FROM vfs v WHERE v.volume = c.volume AND v.path = c.path)
         ON CONFLICT (volume, path) DO UPDATE SET kind = 'dir', mode = excluded.mode, mtime = excluded.mtime, version = excluded.version
           WHERE vfs_node.kind = 'file' OR (vfs_node.kind = 'dir' AND excluded.mode IS NOT NULL)`,
        version,
        call,
      );
    } catch (error) {
      // A full sandbox must still be able to delete. Without these rows only the empty directories are lost.
      if (resultCodeOf(error) !== FULL || !statements.inTransaction) throw error;
    }
  }

  /** Applies modes and times to the files that exist now. */
  #attributes(call: number): void {
    const { statements, rows, changes } = this.#parts;
    const sql = `SELECT volume, path, mode, mtime FROM pending.changed_path WHERE call = ? AND kind = 'attributes'`;
    const all = statements.all<VfsAddress & { mode: number; mtime: number | null }>(sql, call);
    for (const { volume, path, mode, mtime } of all) {
      const file = rows.file(volume, path);
      if (file) changes.setAttributes(volume, path, file, mode, mtime);
    }
  }
}
