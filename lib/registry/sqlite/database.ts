/** The SQLite file of the registry: how it is opened and written durably. Knows nothing of what its tables mean. */
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { isNull, type Queries, queriesOver } from '../../../db/drizzle.ts';
import { tenantForgettings } from '../../../db/schema.ts';
import { makeFolderNow, performingNow } from '../../base/effects.ts';
import { messageOf, STORAGE_HINT, WinterdockError } from '../../base/errors.ts';
import { giveMadeToOwner } from '../../base/folder-owner.ts';
import type { RegistryLogKeeper } from '../log-keeper.ts';
import { tenantBeingForgotten } from '../registry-errors.ts';
import { rowDecoder, withFastDecoding } from '../statements/row-decoder.ts';
import type { Query, StatementMaker } from '../statements/statements.ts';
import type { Upgrade } from '../storage.ts';
import { holdFile, refuseForeignFile, refuseFormerFile, releaseFile } from './former-history.ts';
import { migrate } from './migrate.ts';

/** A value that SQLite binds. */
type Value = string | number | null | Uint8Array;

const MEMORY = ':memory:';
const BUSY_MS = 5000;
/** Messages of the triggers in db/migrations. */
const FORGOTTEN = 'the tenant is being forgotten';
/** Half of SQLite's default: a transition changes some thirty index pages, and each is written whole to the WAL. */
const PAGE_BYTES = 2048;
/** 16 MB of WAL between checkpoints: one transition in some hundreds pays for a checkpoint. */
const CHECKPOINT_PAGES = 8000;
const CACHE_KIB = 32 * 1024;
/** Address space, not memory: pages are read from the kernel's cache. The largest value that SQLite accepts. */
const MMAP_BYTES = 2_147_418_112;
/** Number of statements kept prepared; lists have some hundreds of shapes. */
const STATEMENTS = 1000;

export class RegistryDatabase implements StatementMaker {
  readonly client: Database.Database;
  /** Builds queries. One that runs more than once goes through `statement` or `shape`, which cache it. */
  readonly queries: Queries;
  /** The upgrade of an older file when it was opened; null when none was needed. */
  readonly upgraded: Upgrade | null;
  readonly #turns = new Map<string, Database.Statement>();
  readonly #shapes = new Map<string, unknown>();
  #version: Database.Statement<[], number> | undefined;
  #changes: Database.Statement<[], number> | undefined;

  readonly #durable: boolean;
  readonly #keeper: RegistryLogKeeper | null;
  #frames: Database.Statement<[], { log: number }> | undefined;
  /** Notes the id that the next transaction carries. */
  #note: (() => void) | null = null;

  /**
   * Opens and migrates the file at `path` (absolute, or `:memory:`), and creates its folder. Without `durable`, nothing
   * is synced: for files that nobody uses before they are complete. `keeper`: without its leave the log stays; null:
   * SQLite lets it go, as it does in memory.
   */
  constructor(
    path: string,
    { durable = true, keeper = null }: { durable?: boolean; keeper?: RegistryLogKeeper | null } = {},
  ) {
    this.#durable = durable;
    this.#keeper = path === MEMORY ? null : keeper;
    if (path !== MEMORY) {
      makeFolderNow(dirname(path));
      refuseFormerFile(path);
      refuseForeignFile(path);
    }
    this.#keeper?.opening(path);
    this.client = new Database(path, { timeout: BUSY_MS });
    holdFile(path);
    try {
      // SQLite gives its log and index to the file's owner, when it makes them.
      giveMadeToOwner(path);
      configure(this.client, { checkpointPages: this.#keeper === null ? CHECKPOINT_PAGES : 0 });
      this.upgraded = migrate(this.client, { keepCopy: durable });
      this.#keeper?.opened({
        path: `${path}-wal`,
        frames: () => this.#logFrames(),
        checkpoint: () => this.checkpoint(),
      });
      this.checkpoint();
      if (!durable) this.#sync('OFF');
      this.queries = queriesOver(this.client);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  /** Closes the connection. */
  #release(): void {
    if (!this.client.open) return;
    this.client.close();
    releaseFile(this.client.name);
  }

  /**
   * A statement that is built and prepared on first use, and cached (building takes 112 µs, a cached one 4 µs with its
   * row).
   */
  statement<T>(build: (queries: Queries) => T): () => T {
    let made: T | undefined;
    return () => {
      made ??= withFastDecoding(build(this.queries));
      return made;
    };
  }

  /** The same for a statement with several shapes, identified by `key`. */
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

  /** A number that changes when another process has written. */
  dataVersion(): number {
    this.#version ??= this.client.prepare<[], number>('PRAGMA data_version').pluck();
    return this.#version.get() ?? 0;
  }

  /** A number that grows by at least one with each row that this connection changes. */
  changes(): number {
    this.#changes ??= this.client.prepare<[], number>('SELECT total_changes()').pluck();
    return this.#changes.get() ?? 0;
  }

  /** Bytes of the file, and of its free pages. */
  sizes(): { bytes: number; freeBytes: number } {
    const of = (name: string) => Number(this.client.pragma(name, { simple: true }));
    return { bytes: of('page_count') * of('page_size'), freeBytes: of('freelist_count') * of('page_size') };
  }

  /**
   * Runs `work` as one write transaction that is on disk when this returns. Any error undoes all of it. Throws
   * `storage_unavailable` when the file is locked or cannot be written.
   */
  write<T>(work: () => T): T {
    let begun = false;
    try {
      this.#turn('BEGIN IMMEDIATE');
      begun = true;
      const result = this.#noting(work);
      performingNow({ kind: 'commit', path: this.client.name }, () => this.#turn('COMMIT'));
      return result;
    } catch (error) {
      if (begun && this.client.inTransaction) this.#turn('ROLLBACK');
      throw unavailable(error) ?? this.#forgotten(error) ?? error;
    }
  }

  /**
   * Runs `work` as one transaction that survives a kill at once, and a power loss after the next `write`, whose fsync
   * covers it.
   */
  writeWithoutSync<T>(work: () => T): T {
    try {
      if (this.#durable) this.#sync('NORMAL');
      return performingNow(
        { kind: 'commit_soon', path: this.client.name },
        this.client.transaction(() => this.#noting(work)),
      );
    } catch (error) {
      throw unavailable(error) ?? error;
    } finally {
      if (this.#durable) this.#sync('FULL');
    }
  }

  /**
   * Runs `work`, whose first transaction that changes something runs `note` in it, before it is committed. What `note`
   * throws undoes it. Throws for a change outside of `write` and `writeWithoutSync`.
   */
  carrying<T>(note: () => void, work: () => T): T {
    const before = this.changes();
    this.#note = note;
    try {
      const result = work();
      if (this.#note !== null && this.changes() !== before)
        throw new Error('A change that carries an id did not note it.');
      return result;
    } finally {
      this.#note = null;
    }
  }

  #noting<T>(work: () => T): T {
    const note = this.#note;
    if (note === null) return work();
    const before = this.changes();
    this.#note = null;
    const result = work();
    if (this.changes() === before) this.#note = note;
    else note();
    return result;
  }

  #sync(how: 'FULL' | 'NORMAL' | 'OFF'): void {
    this.client.exec(`PRAGMA synchronous = ${how}`);
  }

  /**
   * The rows of some queries from one moment, `piece` at a time; other work runs between the pieces. A registry in
   * memory is read in one go, because it has only one connection.
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
   * Checkpoints the log into the file, as far as no reader needs the current pages. Waits for nobody. False when the
   * disk failed: nothing is lost, as the log stays and the next checkpoint tries again. True, and nothing is done,
   * while the keeper of the log needs it.
   */
  checkpoint(): boolean {
    if (this.#keeper?.mayGo() === false) return true;
    return this.#checkpoint('PASSIVE');
  }

  /** Frames of the log, by SQLite's own count; null when the disk failed. */
  #logFrames(): number | null {
    try {
      this.#frames ??= this.client.prepare<[], { log: number }>('PRAGMA wal_checkpoint(NOOP)');
      return this.#frames.get()?.log ?? null;
    } catch (error) {
      if (sqliteCode(error) === null) throw error;
      return null;
    }
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
   * Rewrites the whole file without removed rows (VACUUM). Takes as long as writing the file twice, blocks everybody
   * else meanwhile, and needs as much disk. The log still holds the old pages until `emptyLog`. Throws
   * `storage_unavailable` when the disk fails.
   */
  compact(): void {
    try {
      performingNow({ kind: 'commit', path: this.client.name }, () => this.client.exec('VACUUM'));
    } catch (error) {
      throw unavailable(error) ?? error;
    }
  }

  /**
   * Checkpoints the log and truncates it, whether a keeper has shipped it or not. False when a reader prevents that;
   * the next call tries again.
   */
  emptyLog(): boolean {
    if (this.client.memory) return true;
    this.#keeper?.forgetting();
    this.client.pragma('busy_timeout = 0');
    try {
      const [answer] = this.client.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      if (answer?.busy !== 0) return false;
      this.#keeper?.forgot();
      return true;
    } catch (error) {
      throw unavailable(error) ?? error;
    } finally {
      this.client.pragma(`busy_timeout = ${BUSY_MS}`);
    }
  }

  /** A trigger's refusal of a row for a tenant that is being forgotten. */
  #forgotten(error: unknown): WinterdockError | null {
    if (sqliteCode(error) !== 'SQLITE_CONSTRAINT_TRIGGER' || messageOf(error) !== FORGOTTEN) return null;
    const { tenant, finished } = tenantForgettings;
    const open = this.queries.select({ tenant }).from(tenantForgettings).where(isNull(finished)).limit(2).all();
    return tenantBeingForgotten(open.length === 1 ? (open[0]?.tenant ?? null) : null, error);
  }

  /** Leaves one complete file without a log, unless another connection has it open. Idempotent. */
  close(): void {
    if (!this.client.open) return;
    if (!this.client.memory) {
      this.#keeper?.closing();
      this.client.pragma('busy_timeout = 0');
      this.#checkpoint('TRUNCATE');
    }
    this.#release();
    this.#keeper?.closed();
  }
}

function configure(client: Database.Database, { checkpointPages }: { checkpointPages: number }): void {
  client.pragma(`page_size = ${PAGE_BYTES}`);
  client.pragma('journal_mode = WAL');
  client.pragma('synchronous = FULL');
  client.pragma('foreign_keys = ON');
  client.pragma(`busy_timeout = ${BUSY_MS}`);
  client.pragma(`wal_autocheckpoint = ${checkpointPages}`);
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
    hint: STORAGE_HINT,
    retryAfterSeconds: 1,
    cause: error,
  });
}
