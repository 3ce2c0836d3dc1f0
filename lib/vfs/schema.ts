/**
 * The two tables of a VFS file, and the check that a file declares nothing that could run code. Owns all DDL; knows
 * nothing of files.
 *
 * The first table is the seed's, verbatim: every tool that knows it can read these files. Everything else is in the
 * second table.
 */
import type { DatabaseSync } from 'node:sqlite';
import { WinterdockError } from '../base/errors.ts';
import { inspectNativeTables, isNativeOnly, isOfNativeTables } from '../native/file/tables.ts';
import { NEW_IDENTITY } from './identity.ts';
import { corruptFile } from './sqlite-errors.ts';

const VFS_TABLE =
  'CREATE TABLE IF NOT EXISTS vfs (volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY(volume, path))';

/**
 * `kind`: `file` (the last write by this product; `mtime`, `size` and `row` tell whether another tool has changed the
 * first table since), `dir`, `link`, and one row `counter` with empty volume and path, whose version is the last one
 * assigned and whose target is the identity of the file.
 */
const NODE_TABLE = `CREATE TABLE IF NOT EXISTS vfs_node (volume TEXT NOT NULL, path TEXT NOT NULL, kind TEXT NOT NULL, mode INTEGER, mtime INTEGER,
size INTEGER, row INTEGER, version INTEGER NOT NULL, target TEXT, PRIMARY KEY(volume, path)) WITHOUT ROWID`;

/** Index of directories and links alone, by path, so that listing a directory does not scan its files twice. */
const NODE_INDEX = "CREATE INDEX IF NOT EXISTS vfs_node_tree ON vfs_node (volume, path) WHERE kind <> 'file'";

/** Objects that a file may have on the two tables; any other is refused. */
const ALLOWED = new Map([
  ['vfs', squeezed(VFS_TABLE)],
  ['vfs_node', squeezed(NODE_TABLE)],
  ['vfs_node_tree', squeezed(NODE_INDEX)],
  ['sqlite_autoindex_vfs_1', null],
]);

export interface Schema {
  /** True when the seed's table exists; false only for an empty database. */
  vfs: boolean;
  /** True when the second table exists; a seed file has none. */
  nodes: boolean;
  /** True where the two tables are not enough to read it: real programs have changed it, or have a very large file. */
  isNativeOnly: boolean;
}

/**
 * Checks the schema of a file; foreign tables are left alone. Throws `corrupt` for a trigger or view (they would run on
 * writes), for one of the two tables in another form or with a foreign index, for the tables of real programs in
 * another form, for a non-empty database without the seed's table, and for a file whose text is not UTF-8 (paths are
 * compared byte by byte). `name` is the attached database to check; `strict` refuses foreign tables too. `knowsNative`:
 * the caller reads what only the tables of real programs say; for others such a file is `conflict`.
 */
export function inspectSchema(
  db: DatabaseSync,
  { name: database = 'main', strict = false, knowsNative = false } = {},
): Schema {
  const rows = db
    .prepare(`SELECT type, lower(name) AS name, lower(tbl_name) AS owner, sql FROM ${database}.sqlite_schema`)
    .all() as unknown as { type: unknown; name: unknown; owner: unknown; sql: unknown }[];
  const found = new Set<string>();
  const native = rows.filter(isOfNativeTables);
  let isOnly = false;
  if (native.length > 0) inspectNativeTables(native);
  for (const row of rows) {
    const { type, name, owner, sql } = row;
    if (native.length > 0 && isNativeOnly(row)) {
      isOnly = true;
      continue;
    }
    if (type === 'trigger' || type === 'view') throw corruptFile(`it declares a ${type}`);
    if (owner !== 'vfs' && owner !== 'vfs_node') {
      if (strict && !isOfNativeTables(row))
        throw corruptFile(`its ${type} "${String(name).slice(0, 40)}" is not one of a VFS file`);
      continue;
    }
    const expected = typeof name === 'string' ? ALLOWED.get(name) : undefined;
    if (expected === undefined || expected !== (typeof sql === 'string' ? squeezed(sql) : null)) {
      throw corruptFile(`its ${type} "${String(name).slice(0, 40)}" is not the one of a VFS file`);
    }
    found.add(String(name));
  }
  if (rows.length > 0 && !found.has('vfs')) throw corruptFile('it is a database of another kind, without a vfs table');
  const encoding = db.prepare(`PRAGMA ${database}.encoding`).get()?.encoding;
  if (encoding !== 'UTF-8') throw corruptFile(`its text is ${encoding}, not UTF-8`);
  if (isOnly && !knowsNative) throw heldByPrograms();
  if (isOnly && !found.has('vfs_node')) throw corruptFile('its second table is missing');
  return { vfs: found.has('vfs'), nodes: found.has('vfs_node') && found.has('vfs_node_tree'), isNativeOnly: isOnly };
}

/** Creates what is missing, in one transaction; writes nothing when both tables exist. */
export function ensureSchema(db: DatabaseSync, schema: Schema): void {
  if (schema.vfs && schema.nodes) return;
  const values = `'', '', 'counter', 0, ${NEW_IDENTITY}`;
  const counter = `INSERT OR IGNORE INTO vfs_node (volume, path, kind, version, target) VALUES (${values})`;
  db.exec(`BEGIN IMMEDIATE; ${VFS_TABLE}; ${NODE_TABLE}; ${NODE_INDEX}; ${counter}; COMMIT`);
}

/** Creates the first table, and with `nodes` the second, in an empty database. */
export function createTables(db: DatabaseSync, nodes: boolean): void {
  db.exec(nodes ? `${VFS_TABLE}; ${NODE_TABLE}; ${NODE_INDEX}` : VFS_TABLE);
}

function heldByPrograms(): WinterdockError {
  return new WinterdockError(
    'conflict',
    'The sandbox holds what only real programs can change: a file of more than 64 MiB, or changes that were not put to rest.',
    { hint: 'Give it a policy of real programs, and make the file smaller or remove it there.' },
  );
}

/**
 * Compares declarations without regard to spaces, case, or quotes around the table's name (SQLite adds them on a
 * rename).
 */
function squeezed(sql: string): string {
  return sql
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace('ifnotexists', '')
    .replace(/^createtable["'`[](\w+)["'`\]]/, 'createtable$1');
}
