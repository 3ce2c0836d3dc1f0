/** The store of copies on the registry's SQLite file. Knows nothing of files but their names. */
import { WinterdockError } from '../../errors.ts';
import {
  type Ancestor,
  type BlueprintRow,
  type CopyContent,
  type CopyKind,
  type CopyStore,
  copyAt,
  copyPath,
  type SnapshotFilter,
  type SnapshotRow,
} from '../copies.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { FileRecord, InstanceRow, LedgerEntry, LedgerLine, Page } from '../registry.ts';
import { type RegistryDatabase, sqliteCode, type Value } from './database.ts';
import type { Ledger } from './ledger.ts';
import type { QuotaBook } from './quotas.ts';
import { ROW_COLUMNS, rowOf } from './rows.ts';
import type { Writes } from './writes.ts';

const CONTENT = 'hash, bytes, volumes, file, created, actor';
const SNAPSHOT_COLUMNS = `${CONTENT}, id, tenant, source, tag, deleted`;
const BLUEPRINT_COLUMNS = `${CONTENT}, name, tenant, source`;
const INSERT_SNAPSHOT = `INSERT INTO snapshots(${SNAPSHOT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_BLUEPRINT = `INSERT INTO blueprints(${BLUEPRINT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_START = 'INSERT INTO starts(first, tenant, ids, origin, cause) VALUES (?, ?, ?, ?, ?)';
const MARK = 'INSERT OR IGNORE INTO unclaimed_files(path) VALUES (?)';
const UNMARK = 'DELETE FROM unclaimed_files WHERE path = ?';
const CLAIMED: Readonly<Record<CopyKind, string>> = {
  snapshot: 'SELECT EXISTS (SELECT 1 FROM snapshots WHERE hash = ? AND deleted IS NULL)',
  blueprint: 'SELECT EXISTS (SELECT 1 FROM blueprints WHERE hash = ?)',
};
const RESTAMP: Readonly<Record<CopyKind, string>> = {
  snapshot: 'UPDATE snapshots SET file = ? WHERE hash = ?',
  blueprint: 'UPDATE blueprints SET file = ? WHERE hash = ?',
};
const RESTAMP_WAITING = `UPDATE instances SET file = ?
  WHERE vfs_path = ? AND state = 'created' AND vfs_path IS NOT NULL`;
const WAITED_FOR = `SELECT EXISTS (SELECT 1 FROM instances INDEXED BY instances_by_source
  WHERE vfs_path = ? AND state = 'created' AND vfs_path IS NOT NULL)`;

type Parts = { database: RegistryDatabase; ledger: Ledger; writes: Writes; quotas: QuotaBook };

export function sqliteCopies({ database, ledger, writes, quotas }: Parts): CopyStore {
  /** One transaction; the lines are appended when `work` says that it did something. */
  const logged = (entries: LedgerEntry[], work: () => boolean): boolean => {
    let lines: LedgerLine[] = [];
    const done = database.write(() => {
      if (!work()) return false;
      lines = ledger.append(entries);
      return true;
    });
    ledger.announce(lines);
    return done;
  };
  const isClaimed = (kind: CopyKind, hash: string) => database.integer(CLAIMED[kind], hash) === 1;
  const markIfLast = (kind: CopyKind, hash: string) => {
    if (!isClaimed(kind, hash)) database.sql(MARK).run(copyPath(kind, hash));
  };
  const snapshot = (id: string): SnapshotRow | null => {
    const values = database.sql(`SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE id = ?`).get(id);
    return values === undefined ? null : snapshotOf(values);
  };
  const blueprint = (name: string): BlueprintRow | null => {
    const values = database.sql(`SELECT ${BLUEPRINT_COLUMNS} FROM blueprints WHERE name = ?`).get(name);
    return values === undefined ? null : blueprintOf(values);
  };

  return {
    addSnapshot(row, entry) {
      logged([entry], () => {
        const own = [row.id, row.tenant, row.source, row.tag?.toWellFormed() ?? null, row.deleted];
        database.sql(INSERT_SNAPSHOT).run(...contentValues(row), ...own);
        database.sql(UNMARK).run(copyPath('snapshot', row.hash));
        quotas.needSnapshots(row.tenant);
        return true;
      });
    },
    snapshotTenant: (id) => database.value('SELECT tenant FROM snapshots WHERE id = ?', id) as string | null,
    snapshot,
    snapshots: (filter, limit, cursor) => pageOfSnapshots(database, filter, limit, cursor),
    deleteSnapshot: (id, now, entry) =>
      logged([entry], () => {
        const row = snapshot(id);
        if (row === null || row.deleted !== null) return false;
        database.sql('UPDATE snapshots SET deleted = ? WHERE id = ?').run(now, id);
        markIfLast('snapshot', row.hash);
        return true;
      }),

    addBlueprint(row, entry) {
      logged([entry], () => {
        try {
          database.sql(INSERT_BLUEPRINT).run(...contentValues(row), row.name, row.tenant, row.source);
        } catch (error) {
          if (sqliteCode(error) !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw error;
          throw new WinterdockError('conflict', `There is a blueprint "${row.name}" already.`, {
            hint: 'Choose another name, or delete the one that has it.',
            cause: error,
          });
        }
        database.sql(UNMARK).run(copyPath('blueprint', row.hash));
        return true;
      });
    },
    blueprint,
    blueprints(limit, cursor) {
      const [after] = cursor === undefined ? [''] : readCursor(cursor, isName);
      const sql = `SELECT ${BLUEPRINT_COLUMNS} FROM blueprints WHERE name > ? ORDER BY name LIMIT ?`;
      const rows = database
        .sql(sql)
        .all(after, limit + 1)
        .map(blueprintOf);
      return paged(rows, limit, (last) => [last.name]);
    },
    deleteBlueprint: (name, entry) =>
      logged([entry], () => {
        const row = blueprint(name);
        if (row === null) return false;
        database.sql('DELETE FROM blueprints WHERE name = ?').run(name);
        markIfLast('blueprint', row.hash);
        return true;
      }),

    seed(from, instances, now, entries, start) {
      return writes.createAll(instances, now, entries, () => {
        const ids = instances.map(({ id }) => id);
        if (start !== undefined) {
          const { tenant, cause } = start;
          database
            .sql(INSERT_START)
            .run(ids[0] ?? '', tenant, ...[ids, from, cause].map((part) => JSON.stringify(part)));
        }
        return contentOf(from);
      });
    },
    startings: () =>
      database
        .sql('SELECT tenant, ids, origin, cause FROM starts ORDER BY rowid')
        .all()
        .map(([tenant, ...parts]) => {
          const [ids, from, cause] = parts.map((part) => JSON.parse(String(part)));
          return { tenant: String(tenant), ids, from, cause };
        }),
    endStarting(first, entry) {
      logged([entry], () => database.sql('DELETE FROM starts WHERE first = ?').run(first).changes === 1);
    },
    descendants(ancestor, limit, cursor) {
      const { index, column, value } = ancestorIndex(ancestor);
      const [created, row] = cursor === undefined ? [-1, -1] : readCursor(cursor, isPosition);
      const sql = `SELECT ${ROW_COLUMNS}, instances.rowid FROM instances ${index}
        WHERE ${column} = ? AND ${column} IS NOT NULL AND (created, rowid) > (?, ?) ORDER BY created, rowid LIMIT ?`;
      const found = database.sql(sql).all(value, created, row, limit + 1);
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const next = found.length > limit && last ? writeCursor([rowOf(last).created, Number(last.at(-1))]) : null;
      return { rows: page.map(rowOf), next };
    },
    countDescendants(ancestor) {
      const { index, column, value } = ancestorIndex(ancestor);
      return database.integer(
        `SELECT count(*) FROM instances ${index} WHERE ${column} = ? AND ${column} IS NOT NULL`,
        value,
      );
    },

    markUnclaimed(path) {
      database.write(() => database.sql(MARK).run(path));
    },
    unclaimed: () =>
      database
        .sql('SELECT path FROM unclaimed_files ORDER BY path')
        .all()
        .map(([path]) => String(path)),
    isNeeded(path) {
      const copy = copyAt(path);
      return (copy !== null && isClaimed(copy.kind, copy.hash)) || database.integer(WAITED_FOR, path) === 1;
    },
    restamp(kind, hash, file) {
      database.write(() => {
        database.sql(RESTAMP[kind]).run(JSON.stringify(file), hash);
        database.sql(RESTAMP_WAITING).run(JSON.stringify(file), copyPath(kind, hash));
      });
    },
    forget(path) {
      database.write(() => database.sql(UNMARK).run(path));
    },
  };

  /** What a seeded instance gets from its copy. Inside the transaction that inserts it. */
  function contentOf(from: Ancestor): Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'> {
    const kind = 'snapshot' in from ? 'snapshot' : 'blueprint';
    const row = 'snapshot' in from ? snapshot(from.snapshot) : blueprint(from.blueprint);
    if (row === null || ('deleted' in row && row.deleted !== null)) {
      throw new WinterdockError('not_found', `There is no ${kind} "${Object.values(from)[0]}".`);
    }
    return { vfsPath: copyPath(kind, row.hash), bytes: row.bytes, file: row.file };
  }
}

/** The index that leads with what was filtered by, narrowest first. */
function pageOfSnapshots(
  database: RegistryDatabase,
  { tenants, ...filter }: SnapshotFilter,
  limit: number,
  cursor?: string,
): Page<SnapshotRow> {
  const where = ['deleted IS NULL'];
  const params: Value[] = [];
  const need = (sql: string, value: Value) => {
    where.push(sql);
    params.push(value);
  };
  if (filter.source !== undefined) need('source = ?', filter.source);
  if (filter.tag !== undefined) need('tag = ?', filter.tag.toWellFormed());
  if (filter.tenant !== undefined) need('tenant = ?', filter.tenant);
  if (tenants !== undefined) need('tenant IN (SELECT value FROM json_each(?))', JSON.stringify(tenants));
  const sql = (clause: string) =>
    `SELECT ${SNAPSHOT_COLUMNS} FROM snapshots WHERE ${clause} ORDER BY created DESC, id DESC LIMIT ?`;
  if (cursor !== undefined) {
    const [created, id] = readCursor(cursor, isCreated);
    where.push('(created, id) < (?, ?)');
    params.push(created, id);
  }
  const rows = database
    .sql(sql(where.join(' AND ')))
    .all(...params, limit + 1)
    .map(snapshotOf);
  return paged(rows, limit, (last) => [last.created, last.id]);
}

function paged<T>(rows: T[], limit: number, position: (last: T) => (string | number)[]): Page<T> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > limit && last !== undefined ? writeCursor(position(last)) : null };
}

function ancestorIndex(ancestor: Ancestor): { index: string; column: string; value: string } {
  if ('snapshot' in ancestor)
    return { index: 'INDEXED BY instances_by_snapshot', column: 'lineage_snapshot', value: ancestor.snapshot };
  return { index: 'INDEXED BY instances_by_blueprint', column: 'lineage_blueprint', value: ancestor.blueprint };
}

function contentValues(row: CopyContent & { created: number; actor: string }): Value[] {
  return [row.hash, row.bytes, JSON.stringify(row.volumes), JSON.stringify(row.file), row.created, row.actor];
}

function contentFrom(values: Value[]): CopyContent & { created: number; actor: string } {
  return {
    hash: values[0] as string,
    bytes: values[1] as number,
    volumes: JSON.parse(values[2] as string) as CopyContent['volumes'],
    file: JSON.parse(values[3] as string) as FileRecord,
    created: values[4] as number,
    actor: values[5] as string,
  };
}

function snapshotOf(values: Value[]): SnapshotRow {
  return {
    ...contentFrom(values),
    id: values[6] as string,
    tenant: values[7] as string,
    source: values[8] as string,
    tag: values[9] as string | null,
    deleted: values[10] as number | null,
  };
}

function blueprintOf(values: Value[]): BlueprintRow {
  return {
    ...contentFrom(values),
    name: values[6] as string,
    tenant: values[7] as string | null,
    source: values[8] as string | null,
  };
}

const isName = (position: unknown[]): position is [string] => position.length === 1 && typeof position[0] === 'string';
const isCreated = (position: unknown[]): position is [number, string] =>
  position.length === 2 && typeof position[0] === 'number' && typeof position[1] === 'string';
const isPosition = (position: unknown[]): position is [number, number] =>
  position.length === 2 && position.every((part) => typeof part === 'number');
