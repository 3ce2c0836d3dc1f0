/**
 * A registry file, looked at by whoever does not own it: as one moment left it, changing nothing, whether a server uses it or not, and also
 * when it is of an older version. Knows nothing of what its rows should be like.
 */
import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { CHAIN_START, type ChainedLine, type ChainHead } from '../chain.ts';
import type { CopyKind } from '../copies.ts';
import type { FileRecord, InstanceRow } from '../registry.ts';
import type { Segment } from '../segments.ts';
import type { Value } from './database.ts';
import { chainedLineOf, LAST_DROPPED, LAST_LINE, SELECT_CHAINED } from './ledger.ts';
import { miscounted } from './recount.ts';
import { ROW_COLUMNS, rowOf } from './rows.ts';
import { SELECT_SEGMENTS, segmentOf } from './segments.ts';

/** What there is of a registry before it is opened. */
export interface RegistryFileState {
  /** Bytes of the file; null when there is none. */
  bytes: number | null;
  /** Bytes of the log beside it; 0 when there is none. */
  walBytes: number;
}

/** Looks at the file at `path` and its log without opening either. */
export function registryFileState(path: string): RegistryFileState {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? null;
  return { bytes: sizeOf(path), walBytes: sizeOf(`${path}-wal`) ?? 0 };
}

export interface RegistryFile {
  /** Whether its ledger has hashes; false for a file of an older version, and for one without tables. */
  readonly chained: boolean;
  chainHead(): ChainHead;
  /** Lines after `seq`, oldest first. */
  chain(seq: number, limit: number): ChainedLine[];
  readonly segments: { list(): Segment[] };
  /** Whether it holds no row of an instance, tombstones included, of a snapshot or of a blueprint. */
  isEmpty(): boolean;
  /** Whether an instance, tombstones included, has that id. */
  hasInstance(id: string): boolean;
  /** Whether a snapshot, a blueprint or an instance has, or had, that file: a path relative to the data folder, and its hash. */
  hasCopy(path: string, hash: string): boolean;
  /** Whether a living row needs a copy's file: a snapshot, a blueprint, or an instance that was never resumed. */
  needsCopy(path: string, hash: string): boolean;
  /** Rows of instances in the order of their ids, after `after`. */
  rows(after: string, limit: number): InstanceRow[];
  /** Snapshots and blueprints that were not deleted, with their files. */
  copies(): { kind: CopyKind; name: string; hash: string; file: FileRecord }[];
  /** Whose an instance is or was, as far as the ledger tells; null when it tells nothing. */
  tenantInLedger(id: string): string | null;
  /** `ok`, or what SQLite finds wrong with the file. Reads all of it. */
  integrity(): string;
  /** The tables of counts that are not those of the rows. */
  miscounted(): string[];
  /** Paths that are marked: what lies there goes, unless a row claims it. */
  marks(): Set<string>;
  close(): void;
}

const BUSY_MS = 5000;
const SELECT_ROWS = `SELECT ${ROW_COLUMNS} FROM instances WHERE id > ? ORDER BY id LIMIT ?`;
const SELECT_COPIES = `SELECT 'snapshot', id, hash, file FROM snapshots WHERE deleted IS NULL
  UNION ALL SELECT 'blueprint', name, hash, file FROM blueprints`;
const TENANT_IN_LEDGER = `SELECT tenant FROM events INDEXED BY events_by_instance
  WHERE instance = ? AND tenant IS NOT NULL AND tenant <> '' ORDER BY time_ms DESC LIMIT 1`;

/** Opens the registry file at `path`, which must be there and not be empty. Throws what SQLite throws. */
export function openRegistryFile(path: string): RegistryFile {
  // A read-only connection would leave its -wal and -shm behind, owned by whoever ran it.
  const client = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  try {
    client.pragma('query_only = ON');
    client.exec('BEGIN');
    const tables = new Set(
      client.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all(),
    );
    const chained = client.prepare("SELECT 1 FROM pragma_table_info('events') WHERE name = 'hash'").get() !== undefined;
    const all = (sql: string, ...params: Value[]): Value[][] =>
      client
        .prepare<Value[], Value[]>(sql)
        .raw()
        .all(...params);
    const has = (table: string, where: string, ...params: Value[]): boolean =>
      tables.has(table) && all(`SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`, ...params).length > 0;
    return {
      chained,
      chainHead() {
        const [last] = chained ? [...all(LAST_LINE), ...all(LAST_DROPPED)] : [];
        return last === undefined ? CHAIN_START : { seq: last[0] as number, hash: last[1] as string };
      },
      chain: (seq, limit) => (chained ? all(SELECT_CHAINED, seq, limit).map(chainedLineOf) : []),
      segments: { list: () => (chained ? all(SELECT_SEGMENTS).map(segmentOf) : []) },
      isEmpty: () => !['instances', 'snapshots', 'blueprints'].some((table) => has(table, 'true')),
      hasInstance: (id) => has('instances', 'id = ?', id),
      hasCopy: (at, hash) =>
        has('snapshots', 'hash = ?', hash) ||
        has('blueprints', 'hash = ?', hash) ||
        has('instances', 'vfs_path = ?', at),
      needsCopy: (at, hash) =>
        has('snapshots', 'hash = ? AND deleted IS NULL', hash) ||
        has('blueprints', 'hash = ?', hash) ||
        has('instances', "vfs_path = ? AND state = 'created'", at),
      rows: (after, limit) => (tables.has('instances') ? all(SELECT_ROWS, after, limit).map(rowOf) : []),
      copies: () =>
        (tables.has('snapshots') ? all(SELECT_COPIES) : []).map(([kind, name, hash, file]) => ({
          kind: kind as CopyKind,
          name: String(name),
          hash: String(hash),
          file: JSON.parse(String(file)) as FileRecord,
        })),
      tenantInLedger(id) {
        const [line] = tables.has('events') ? all(TENANT_IN_LEDGER, id) : [];
        return line === undefined ? null : String(line[0]);
      },
      integrity: () =>
        all('PRAGMA integrity_check(20)')
          .map(([says]) => String(says))
          .join('\n'),
      miscounted: () => (tables.has('counts_by_label') ? miscounted((sql) => all(sql).length > 0) : []),
      marks: () =>
        new Set(tables.has('unclaimed_files') ? all('SELECT path FROM unclaimed_files').map(([at]) => String(at)) : []),
      close: () => client.close(),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}
