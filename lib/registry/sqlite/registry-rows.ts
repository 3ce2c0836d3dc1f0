/**
 * A registry file, read and copied by whoever does not own it: as one moment left it, whether a server uses it or not. Knows nothing of what
 * its rows' files hold.
 */
import Database from 'better-sqlite3';
import { CHAIN_START, type ChainHead } from '../chain.ts';
import { type CopyKind, copyAt } from '../copies.ts';
import type { InstanceRow } from '../registry.ts';
import type { Value } from './database.ts';
import { ROW_COLUMNS, rowOf } from './rows.ts';

/** The file of a copy that some row needs. */
interface NeededCopy {
  kind: CopyKind;
  /** Lower-case hex SHA-256 of its bytes, which is its name. */
  hash: string;
  bytes: number;
}

export interface RegistryRows {
  /** Writes what is committed now, as one moment left it, to a new file at `path` (absolute). Beside a writer that is not waited for. */
  copyTo(path: string): void;
  /** The row as it is now, tombstones included, or null. */
  row(id: string): InstanceRow | null;
  /** Rows in the order of their ids after `after`. */
  rows(after: string, limit: number): InstanceRow[];
  /** The files of copies that a snapshot, a blueprint or an instance that was never resumed needs. */
  copies(): NeededCopy[];
  /** How many rows there are, tombstones included. */
  count(): number;
  /** Where its ledger stands. */
  chainHead(): ChainHead;
  /** How many migrations it has. */
  migrations(): number;
  close(): void;
}

const BUSY_MS = 5000;
const ROW = `SELECT ${ROW_COLUMNS} FROM instances WHERE id = ?`;
const ROWS = `SELECT ${ROW_COLUMNS} FROM instances WHERE id > ? ORDER BY id LIMIT ?`;
const COPIES = `SELECT 'snapshot', hash, bytes FROM snapshots WHERE deleted IS NULL
  UNION SELECT 'blueprint', hash, bytes FROM blueprints`;
const MADE_FROM = `SELECT DISTINCT vfs_path, bytes FROM instances INDEXED BY instances_by_source
  WHERE state = 'created' AND vfs_path IS NOT NULL`;
const HEAD = `SELECT seq, hash FROM events UNION ALL SELECT last_seq, last_hash FROM ledger_segments ORDER BY 1 DESC LIMIT 1`;

/** Opens the registry file at `path`, which must be there. Throws what SQLite throws, and for a file that is no registry. */
export function openRegistryRows(path: string): RegistryRows {
  // A read-only connection would leave its -wal and -shm behind, owned by whoever ran it.
  const client = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  try {
    const isRegistry = client.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'instances'").get();
    if (isRegistry === undefined) throw new Error(`${path} is not the registry of a Winterdock.`);
    const row = client.prepare<Value[], Value[]>(ROW).raw();
    const rows = client.prepare<Value[], Value[]>(ROWS).raw();
    return {
      copyTo(to) {
        client.prepare('VACUUM INTO ?').run(to);
      },
      row(id) {
        const values = row.get(id);
        return values === undefined ? null : rowOf(values);
      },
      rows: (after, limit) => rows.all(after, limit).map(rowOf),
      copies() {
        const needed = new Map<string, NeededCopy>();
        for (const [kind, hash, bytes] of client.prepare<[], [CopyKind, string, number]>(COPIES).raw().all()) {
          needed.set(`${kind} ${hash}`, { kind, hash, bytes });
        }
        for (const [path, bytes] of client.prepare<[], [string, number]>(MADE_FROM).raw().all()) {
          const copy = copyAt(path);
          if (copy !== null) needed.set(`${copy.kind} ${copy.hash}`, { ...copy, bytes });
        }
        return [...needed.values()];
      },
      count: () => Number(client.prepare('SELECT count(*) FROM instances').pluck().get()),
      chainHead() {
        const [seq, hash] = client.prepare<[], [number, string]>(HEAD).raw().get() ?? [];
        return seq === undefined || hash === undefined ? CHAIN_START : { seq, hash };
      },
      migrations: () => Number(client.prepare('SELECT count(*) FROM __drizzle_migrations').pluck().get()),
      close: () => client.close(),
    };
  } catch (error) {
    client.close();
    throw error;
  }
}
