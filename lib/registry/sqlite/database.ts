/**
 * The SQLite file of the registry: how it is opened and written durably. Knows nothing of what its tables mean.
 */
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isNull, type Queries, queriesOver } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { makeFolderNow, performingNow } from '../../base/effects.ts';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import type { Upgrade } from '../maintenance.ts';
import { tenantBeingForgotten } from '../registry-errors.ts';
import { migrate } from './migrate.ts';
import { rowDecoder, withFastDecoding } from './row-decoder.ts';

/** A value that SQLite binds. */
type Value = string | number | null | Uint8Array;

const MEMORY = ':memory:';
const BUSY_MS = 5000;
/** What the triggers of db/migrations say. */
const FORGOTTEN = 'the tenant is being forgotten';
/** Half of SQLite's default: a transition dirties some thirty index pages, and each is written whole to the WAL. */
const PAGE_BYTES = 2048;
/** 16 MB of WAL between checkpoints, so that one transition in some hundreds pays for one. */
const CHECKPOINT_PAGES = 8000;
const CACHE_KIB = 32 * 1024;
/** Address space, not memory: pages are read where the kernel caches them. The largest value that SQLite takes. */
const MMAP_BYTES = 2_147_418_112;
/** Statements kept prepared; the shapes of lists are some hundreds. */
const STATEMENTS = 1000;

/** A query of drizzle's that was built and not prepared, and the fields that its rows have, in order. */
export interface Query<Row> {
  fields: { [K in keyof Row]: unknown };
  toSQL(): { sql: string; params: unknown[] };
}

export class RegistryDatabase {
  readonly client: Database.Database;
  /** Where queries are built; what runs more than once is kept by `statement` or `shape`. */
  readonly queries: Queries;
  /** What opening it did to a file of an older version; null when nothing was to be done. */
  readonly upgraded: Upgrade | null;
  readonly #turns = new Map<string, Database.Statement>();
  readonly #shapes = new Map<string, unknown>();
  #version: Database.Statement<[], number> | undefined;

  readonly #durable: boolean;

  /**
   * Opens and migrates the file at `path` (absolute, or `:memory:`), making its folder when there is none. What is
   * written to one that is not `durable` is on disk when the system likes: for files that nobody has before they are
   * whole.
   */
  constructor(path: string, { durable = true }: { durable?: boolean } = {}) {
    this.#durable = durable;
    if (path !== MEMORY) makeFolderNow(dirname(path));
    this.client = new Database(path, { timeout: BUSY_MS });
    try {
      configure(this.client);
      this.upgraded = migrate(this.client);
      this.checkpoint();
      if (!durable) this.#sync('OFF');
      this.queries = queriesOver(this.client);
    } catch (error) {
      this.client.close();
      throw error;
    }
  }

  /**
   * A statement that is built and prepared when it is first asked for, and kept (built anew 112 µs, kept 4 µs with its
   * row).
   */
  statement<T>(build: (queries: Queries) => T): () => T {
    let made: T | undefined;
    return () => {
      made ??= withFastDecoding(build(this.queries));
      return made;
    };
  }

  /** The same of a statement that has several shapes, each told apart by its `key`. */
  shape<T>(key: string, build: (queries: Queries) => T): T {
    const known = this.#shapes.get(key) as T | undefined;
    if (known !== undefined) return known;
    if (this.#shapes.size >= STATEMENTS) this.#shapes.clear();
    const made = withFastDecoding(build(this.queries));
    this.#shapes.set(key, made);
    return made;
  }

  /** Begins or ends a transaction. */
  #turn(word: 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK'): void {
    const made = this.#turns.get(word) ?? this.client.prepare(word);
    this.#turns.set(word, made);
    made.run();
  }

  /** Another number than before when another process has written since. */
  dataVersion(): number {
    this.#version ??= this.client.prepare<[], number>('PRAGMA data_version').pluck();
    return this.#version.get() ?? 0;
  }

  /** Of the file, and of that what holds nothing now. */
  sizes(): { bytes: number; freeBytes: number } {
    const of = (name: string) => Number(this.client.pragma(name, { simple: true }));
    return { bytes: of('page_count') * of('page_size'), freeBytes: of('freelist_count') * of('page_size') };
  }

  /**
   * Runs `work` as one write transaction that is on disk when this returns; whatever it throws undoes all of it. Throws
   * `storage_unavailable` when the file is locked or cannot be written.
   */
  write<T>(work: () => T): T {
    let begun = false;
    try {
      this.#turn('BEGIN IMMEDIATE');
      begun = true;
      const result = work();
      performingNow({ kind: 'commit', path: this.client.name }, () => this.#turn('COMMIT'));
      return result;
    } catch (error) {
      if (begun && this.client.inTransaction) this.#turn('ROLLBACK');
      throw unavailable(error) ?? this.#forgotten(error) ?? error;
    }
  }

  /**
   * Runs one statement that a killed process cannot undo but a power cut can, until the next `write`, whose fsync
   * covers it.
   */
  writeWithoutSync<T>(statement: () => T): T {
    try {
      if (this.#durable) this.#sync('NORMAL');
      return performingNow({ kind: 'commit_soon', path: this.client.name }, statement);
    } catch (error) {
      throw unavailable(error) ?? error;
    } finally {
      if (this.#durable) this.#sync('FULL');
    }
  }

  #sync(how: 'FULL' | 'NORMAL' | 'OFF'): void {
    this.client.exec(`PRAGMA synchronous = ${how}`);
  }

  /**
   * The rows of some queries as they are at one moment, `piece` at a time; others have their turn between the pieces. A
   * registry in memory is read in one go, for there is no second connection to it.
   */
  async *pieces<Row>(queries: readonly Query<Row>[], piece: number): AsyncGenerator<Row[]> {
    const inMemory = this.client.memory;
    const reader = inMemory ? this.client : new Database(this.client.name, { readonly: true, timeout: BUSY_MS });
    try {
      if (!inMemory) reader.exec('BEGIN');
      for (const query of queries) {
        const { sql, params } = query.toSQL();
        const statement = reader.prepare<Value[], Value[]>(sql).raw();
        const decode = rowDecoder(Object.entries(query.fields).map(([name, field]) => [[name], field]));
        let rows: Row[] = [];
        for (const values of inMemory
          ? statement.all(...(params as Value[]))
          : statement.iterate(...(params as Value[]))) {
          rows.push(decode(values) as Row);
          if (rows.length < piece) continue;
          yield rows;
          rows = [];
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (rows.length > 0) yield rows;
      }
    } finally {
      if (!inMemory) reader.close();
    }
  }

  /**
   * Brings what was committed from the log into the file, as far as no reader needs what is there now. Waits for
   * nobody. False when the disk did not take it: nothing is lost then, for the log stays, and the next one tries again.
   */
  checkpoint(): boolean {
    return this.#checkpoint('PASSIVE');
  }

  #checkpoint(how: 'PASSIVE' | 'TRUNCATE'): boolean {
    if (this.client.memory) return true;
    try {
      this.client.pragma(`wal_checkpoint(${how})`);
      return true;
    } catch (error) {
      if (sqliteCode(error) === null) throw error;
      return false;
    }
  }

  /**
   * Writes the whole file anew, without what was removed from it. Takes as long as writing the file twice, which nobody
   * else can do anything in, and as much of the disk. The log holds what was before until `emptyLog`. Throws
   * `storage_unavailable` when the disk does not take it.
   */
  compact(): void {
    try {
      performingNow({ kind: 'commit', path: this.client.name }, () => this.client.exec('VACUUM'));
    } catch (error) {
      throw unavailable(error) ?? error;
    }
  }

  /**
   * Brings the log into the file and leaves nothing in it. False when a reader keeps it from that: the next one does
   * it.
   */
  emptyLog(): boolean {
    if (this.client.memory) return true;
    this.client.pragma('busy_timeout = 0');
    try {
      const [answer] = this.client.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return answer?.busy === 0;
    } catch (error) {
      throw unavailable(error) ?? error;
    } finally {
      this.client.pragma(`busy_timeout = ${BUSY_MS}`);
    }
  }

  /** What a trigger refuses because it would be made for a tenant that is being forgotten. */
  #forgotten(error: unknown): WinterdockError | null {
    if (sqliteCode(error) !== 'SQLITE_CONSTRAINT_TRIGGER' || messageOf(error) !== FORGOTTEN) return null;
    const { tenant, finished } = tenantForgettings;
    const open = this.queries.select({ tenant }).from(tenantForgettings).where(isNull(finished)).limit(2).all();
    return tenantBeingForgotten(open.length === 1 ? (open[0]?.tenant ?? null) : null, error);
  }

  /** Leaves one whole file without a log, unless another connection has it open. Idempotent. */
  close(): void {
    if (this.client.open && !this.client.memory) {
      this.client.pragma('busy_timeout = 0');
      this.#checkpoint('TRUNCATE');
    }
    this.client.close();
  }
}

function configure(client: Database.Database): void {
  client.pragma(`page_size = ${PAGE_BYTES}`);
  client.pragma('journal_mode = WAL');
  client.pragma('synchronous = FULL');
  client.pragma('foreign_keys = ON');
  client.pragma(`busy_timeout = ${BUSY_MS}`);
  client.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  client.pragma(`cache_size = -${CACHE_KIB}`);
  client.pragma(`mmap_size = ${MMAP_BYTES}`);
}

/** The SQLite code of an error of better-sqlite3, or null. */
export function sqliteCode(error: unknown): string | null {
  return error instanceof Database.SqliteError ? error.code : null;
}

function unavailable(error: unknown): WinterdockError | null {
  const code = sqliteCode(error);
  if (code === null || !/^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN)/.test(code)) return null;
  return new WinterdockError('storage_unavailable', `The registry could not be written: ${messageOf(error)}.`, {
    retryAfterSeconds: 1,
    cause: error,
  });
}
