/**
 * The files of one sandbox over one SQLite handle: the rules of the tree, reads over whole volumes, and the overlays of
 * running calls. Every write is one transaction. Knows nothing of processes, HTTP or where the file is stored.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../base/clock.ts';
import { type PresentedRows, presentedSql } from '../native/file/presented-rows.ts';
import { PendingWrites } from './call-buffer.ts';
import { Transaction } from './durable-write.ts';
import { Overlay } from './overlay.ts';
import { Quota } from './quota.ts';
import { inspectSchema, type Schema } from './schema.ts';
import { type SearchRequest, searchFiles, type VfsSearchHit } from './search.ts';
import { leaveOpen, type ShippedLog } from './shipped-log.ts';
import { translateSqliteError } from './sqlite-errors.ts';
import { Statements } from './statements.ts';
import { TableReader } from './table-reader.ts';
import { TableWriter } from './table-writer.ts';
import { Tree } from './tree.ts';
import { listFiles, volumeSizes } from './volume-listing.ts';
import type { Volume } from './volumes.ts';

export class Vfs extends Tree {
  readonly db: DatabaseSync;
  /** The log of a live file that is shipped; null: SQLite checkpoints it by itself. */
  readonly shippedLog: ShippedLog | null;
  /** The rows of a file that real programs alone change; null: its own tables have them. */
  readonly presented: PresentedRows | null;
  readonly #maxFileBytes: number;
  readonly #rows: TableReader;
  readonly #changes: TableWriter;
  readonly #transaction: Transaction;
  readonly #pending: PendingWrites;
  readonly #statements: Statements;
  readonly #nodes: boolean;
  readonly #clock: Clock;
  readonly #explain: (error: unknown, bytes: number) => unknown;

  /**
   * `db` is an open handle on a file with the seed's table. `schema` saves checking it again. Throws `corrupt` for a
   * foreign file. Files larger than `maxFileBytes` are refused. `enterWal` runs before the first write.
   * `beginAttempts`: see Transaction. `shippedLog`: that of a live file whose log is left to the server. `presented`:
   * what stands for the two tables, of a file that is only read.
   */
  constructor(
    db: DatabaseSync,
    limits: {
      maxFileBytes: number;
      clock?: Clock;
      beginAttempts?: number;
      shippedLog?: ShippedLog | null;
      presented?: PresentedRows | null;
    },
    schema: Schema = inspectSchema(db),
    enterWal: (() => void) | null = null,
  ) {
    const presented = limits.presented ?? null;
    const statements = presented === null ? new Statements(db) : new Statements(db, presentedSql);
    const shippedLog = limits.shippedLog ?? null;
    const rows = new TableReader(statements, schema.nodes);
    const clock = limits.clock ?? systemClock;
    const changes = new TableWriter(statements, clock);
    const transaction = new Transaction(db, statements, {
      beforeCommit: () => changes.storeCounter(),
      onOthersCommitted: () => changes.forgetCounter(),
      prepare: enterWal,
      beforeBegin: shippedLog ? () => shippedLog.beforeBegin() : undefined,
      afterCommit: shippedLog ? () => shippedLog.afterCommit() : undefined,
      beginAttempts: limits.beginAttempts,
    });
    const quota = new Quota(statements);
    const explain = (error: unknown, bytes: number) => quota.explain(error, bytes) ?? translateSqliteError(error);
    super({
      rows,
      changes,
      maxFileBytes: limits.maxFileBytes,
      run: (change) => transaction.run(change),
      reserve: (bytes, margin) => quota.reserve(bytes, margin),
      explain,
    });
    this.db = db;
    this.shippedLog = shippedLog;
    this.presented = presented;
    this.#maxFileBytes = limits.maxFileBytes;
    this.#nodes = schema.nodes;
    this.#statements = statements;
    this.#rows = rows;
    this.#changes = changes;
    this.#transaction = transaction;
    this.#pending = new PendingWrites(db, statements, quota);
    this.#clock = clock;
    this.#explain = explain;
  }

  /** A page of the explicit directories of a volume, by path, without those that only a deeper path implies. */
  directories(
    volume: Volume,
    { limit, after }: { limit: number; after?: string },
  ): { paths: string[]; next: string | null } {
    const most = limit + 1;
    const found = this.read(() =>
      this.#rows.directories(volume, { limit: most, ...(after !== undefined && { after }) }),
    );
    const paths = found.slice(0, limit);
    return { paths, next: found.length > limit ? (paths.at(-1) ?? null) : null };
  }

  /**
   * Files of a volume by path, `limit` at a time; `next` is the `after` of the following page. Paths begin with
   * `prefix`.
   */
  list(
    volume: Volume,
    options: { prefix?: string; limit: number; after?: string },
  ): { files: { path: string; size: number; mtime: number }[]; next: string | null } {
    return this.read(() => listFiles(this.#statements, this.#nodes, volume, options));
  }

  /** Removes everything in a volume. */
  clear(volume: Volume): void {
    this.write(0, () => this.#changes.clear(volume));
  }

  /** Paths, or lines of text files, that contain `text`, ignoring case. See `searchFiles`. */
  search(request: SearchRequest): { hits: VfsSearchHit[]; truncated: boolean } {
    return this.read(() => searchFiles(this.#statements, request));
  }

  /** Files and bytes of every volume, always the three. */
  sizes(): { volume: Volume; files: number; bytes: number }[] {
    return this.read(() => volumeSizes(this.#statements));
  }

  /**
   * Opens an overlay: changes are buffered beside the file until its `commit`. Each running call has one, and any
   * number can be open.
   */
  overlay(): Overlay {
    return new Overlay({
      db: this.db,
      statements: this.#statements,
      rows: this.#rows,
      nodes: this.#nodes,
      changes: this.#changes,
      transaction: this.#transaction,
      pending: this.#pending,
      maxFileBytes: this.#maxFileBytes,
      clock: this.#clock,
      explain: this.#explain,
    });
  }

  /**
   * Prepares a file that was opened with `walLater` for writes, before the first one comes. Throws `conflict`; a write
   * then tries again.
   */
  prepareToWrite(): void {
    this.#transaction.prepare();
  }

  /** True while an overlay has uncommitted changes. */
  get hasUncommitted(): boolean {
    return this.#pending.inUse;
  }

  /** What the handle holds at this moment: a transaction, or a statement that runs; null when nothing. */
  get holds(): string | null {
    if (this.hasUncommitted) return 'uncommitted changes';
    if (this.db.isTransaction) return 'a transaction';
    try {
      // Checkpoints nothing, and is refused while a statement of this handle runs.
      this.db.prepare('PRAGMA wal_checkpoint(NOOP)').get();
      return null;
    } catch {
      return 'a statement';
    }
  }

  /** Gives back the memory of caches. */
  shrink(): void {
    this.#statements.clear();
    this.db.exec('PRAGMA shrink_memory');
  }

  /**
   * Closes the handle; a live file stays in WAL mode (see `closeToRest`). One whose log is shipped stays open until the
   * process ends, for the last handle that is closed removes the log. Idempotent.
   */
  close(): void {
    if (this.shippedLog !== null) leaveOpen(this.db);
    else if (this.db.isOpen) this.db.close();
  }
}
