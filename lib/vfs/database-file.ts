/**
 * SQLite databases that lie in a sandbox as files: their tables, and the rows of one, page by page. Such a file is
 * hostile: it is opened from its bytes in memory, read-only, and nothing that it declares runs but its views and
 * generated columns, which reach its own tables and functions that compute. Time and memory are limited by the process
 * that runs it, which is never the server's.
 */
import { constants, DatabaseSync } from 'node:sqlite';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { FUNCTIONS } from './query.ts';
import { resultCodeOf } from './sqlite-errors.ts';

/** The largest file that is opened. */
export const MAX_DATABASE_BYTES = 64 * 1024 * 1024;

export interface EmbeddedTable {
  name: string;
  /** What a virtual table shows is made by code that would run on the bytes of the file: it is listed only. */
  kind: 'table' | 'view' | 'virtual';
  /** The first 100; none of a view before it is opened, as that could take any time. */
  columns: { name: string; type: string }[];
  columnCount: number;
  /** Counted up to 10 000; null for what is not counted. */
  rowCount: number | null;
  moreRows: boolean;
  /** Why it cannot be opened. */
  problem: string | null;
}

export interface EmbeddedTables {
  tables: EmbeddedTable[];
  total: number;
  /** In WAL mode: rows that are still in the log beside the file are not in these bytes. */
  wal: boolean;
  next: string | null;
}

/** Text is cut to 500 characters and says its whole size; of a blob come its size and first bytes. */
type EmbeddedCell = null | number | string | { text: string; bytes: number } | { hex: string; bytes: number };

export interface EmbeddedRows extends EmbeddedTable {
  wal: boolean;
  /** How many rows come before these. */
  offset: number;
  rows: EmbeddedCell[][];
  next: string | null;
}

const MAGIC = 'SQLite format 3\0';
/** Offset of the write and read versions in the header: 1 is a rollback journal, 2 is WAL. */
const VERSIONS_AT = 18;
/** Larger than the largest file, smaller than what takes all memory at once. */
const MAX_VALUE_BYTES = 80 * 1024 * 1024;
const MAX_COLUMNS = 100;
const MAX_NAME = 1000;
const MAX_TYPE = 100;
const MAX_COUNTED = 10_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const TEXT_CHARACTERS = 500;
const BLOB_BYTES = 32;
const ROW_KEYS = ['rowid', '_rowid_', 'oid'];

const VIRTUAL = 'A virtual table is not opened: its module would run on the bytes of the file.';
const BESIDE_VIRTUAL = 'A view is not opened in a file with virtual tables.';
const UNNAMEABLE = 'Its name is too long, or has a NUL, to be asked for.';

interface OpenDatabase {
  db: DatabaseSync;
  wal: boolean;
  utf16: boolean;
}

interface Declared {
  name: string;
  kind: EmbeddedTable['kind'];
}

/** The tables and views by name, without SQLite's own. Throws `too_large`, and `validation` for what is no database. */
export function databaseTables(
  content: Uint8Array,
  { limit, after }: { limit: number; after?: string },
): EmbeddedTables {
  return opened(content, ({ db, wal }) => {
    const offset = parseCursor(after).offset;
    const hasVirtual = holdsVirtual(db);
    const total = Number(db.prepare(`SELECT count(*) AS n FROM (${DECLARED})`).get()?.n);
    const declared = db.prepare(`${DECLARED} ORDER BY name, kind LIMIT ? OFFSET ?`).all(limit, offset).map(declaredOf);
    const tables: EmbeddedTable[] = [];
    let bytes = 0;
    for (const one of declared) {
      const table = described(db, one, hasVirtual);
      bytes += JSON.stringify(table).length;
      if (tables.length > 0 && bytes > MAX_ANSWER_BYTES) break;
      tables.push(table);
    }
    const end = offset + tables.length;
    return { tables, total, wal, next: end < total && tables.length > 0 ? String(end) : null };
  });
}

/**
 * Rows of a table in the order of their row ids, or of a view as it gives them. A page has fewer than `limit` when it
 * would be too large. Throws as `databaseTables` does; `not_found` without such a table.
 */
export function databaseRows(
  content: Uint8Array,
  { table: name, limit, after }: { table: string; limit: number; after?: string },
): EmbeddedRows {
  return opened(content, (database) => {
    const { db, wal } = database;
    const row = db.prepare(`SELECT * FROM (${DECLARED}) WHERE name = ?`).get(name);
    if (row === undefined) throw new WinterdockError('not_found', 'The database has no table or view of this name.');
    const declared = declaredOf(row);
    const table = described(db, declared, holdsVirtual(db));
    if (table.problem !== null) throw refused(table.problem);
    const columns = columnsOf(db, name);
    return {
      ...table,
      columns: shownColumns(columns),
      columnCount: columns.length,
      wal,
      ...pageOf(database, declared, columns, limit, after),
    };
  });
}

function opened<T>(content: Uint8Array, read: (database: OpenDatabase) => T): T {
  if (content.byteLength > MAX_DATABASE_BYTES) throw databaseTooLarge(content.byteLength);
  if (Buffer.from(content.subarray(0, MAGIC.length)).toString('latin1') !== MAGIC)
    throw refused('It does not begin as a SQLite database does.');
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(':memory:', {
      allowExtension: false,
      defensive: true,
      enableForeignKeyConstraints: false,
      // Views of old programs may have text in double quotes.
      enableDoubleQuotedStringLiterals: true,
      limits: { attach: 0, triggerDepth: 0, length: MAX_VALUE_BYTES },
    });
    const modules = db.prepare('SELECT lower(name) AS name FROM pragma_module_list').all();
    const wal = content[VERSIONS_AT] === 2;
    db.deserialize(wal ? withoutWal(content) : content);
    db.exec(
      'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA query_only = ON',
    );
    const encoding = String(db.prepare('PRAGMA encoding').get()?.encoding);
    db.setAuthorizer(authoriser(new Set(modules.map((module) => String(module.name)))));
    return read({ db, wal, utf16: encoding.startsWith('UTF-16') });
  } catch (error) {
    if (
      resultCodeOf(error) === null &&
      !(error instanceof Error && 'code' in error && /^ERR_/.test(String(error.code)))
    )
      throw error;
    throw refused(`SQLite says: ${messageOf(error)}.`, error);
  } finally {
    db?.close();
  }
}

/** `too_large`, for a file whose bytes need not be read for it. */
export function databaseTooLarge(bytes: number): WinterdockError {
  const mib = (count: number) => `${Math.ceil(count / 1024 / 1024)} MiB`;
  return new WinterdockError(
    'too_large',
    `The file has ${mib(bytes)}: databases of up to ${mib(MAX_DATABASE_BYTES)} are opened as tables.`,
    { hint: 'Download it to look at it elsewhere.' },
  );
}

/** The same bytes with a rollback journal: SQLite opens no bytes in WAL mode, as their log could not be beside them. */
function withoutWal(content: Uint8Array): Uint8Array {
  const copy = content.slice();
  copy.fill(1, VERSIONS_AT, VERSIONS_AT + 2);
  return copy;
}

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE, SQLITE_PRAGMA } =
  constants;

/** Allows reading the file's own tables, functions that compute, and the columns of a table. */
function authoriser(modules: Set<string>): (action: number, first: string | null, second: string | null) => number {
  const readable = new Set(['json_each', 'json_tree', 'pragma_table_xinfo']);
  return (action, first, second) => {
    const name = (action === SQLITE_FUNCTION ? second : first)?.toLowerCase() ?? '';
    if (action === SQLITE_SELECT || action === SQLITE_RECURSIVE) return SQLITE_OK;
    if (action === SQLITE_FUNCTION) return FUNCTIONS.has(name) ? SQLITE_OK : SQLITE_DENY;
    if (action === SQLITE_PRAGMA) return name === 'table_xinfo' ? SQLITE_OK : SQLITE_DENY;
    if (action !== SQLITE_READ) return SQLITE_DENY;
    return readable.has(name) || !(modules.has(name) || name.startsWith('pragma_')) ? SQLITE_OK : SQLITE_DENY;
  };
}

/**
 * SQLite compares the name and the type in each row of the schema with its statement, so a virtual table has a row of
 * the type `table` that does not begin as a plain table does.
 */
const DECLARED = `SELECT name, CASE WHEN type = 'view' THEN 'view' WHEN sql LIKE 'create table%' THEN 'table' ELSE 'virtual' END AS kind
  FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

function declaredOf({ name, kind }: Record<string, unknown>): Declared {
  return { name: String(name), kind: kind as Declared['kind'] };
}

/** Whether a view could reach a virtual table: SQLite would start its module before it asks whether it may. */
function holdsVirtual(db: DatabaseSync): boolean {
  const known = ['table', 'view', 'index', 'unique index', 'trigger'].map((kind) => `sql NOT LIKE 'create ${kind}%'`);
  return (
    db.prepare(`SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE ${known.join(' AND ')}) AS some`).get()?.some !== 0
  );
}

function described(db: DatabaseSync, { name, kind }: Declared, hasVirtual: boolean): EmbeddedTable {
  const table: EmbeddedTable = {
    name: name.slice(0, MAX_NAME),
    kind,
    columns: [],
    columnCount: 0,
    rowCount: null,
    moreRows: false,
    problem: null,
  };
  if (name.length > MAX_NAME || name.includes('\0')) return { ...table, problem: UNNAMEABLE };
  if (kind === 'virtual') return { ...table, problem: VIRTUAL };
  if (kind === 'view') return { ...table, problem: hasVirtual ? BESIDE_VIRTUAL : null };
  try {
    const columns = columnsOf(db, name);
    const counted = db
      .prepare(`SELECT count(*) AS n FROM (SELECT 1 FROM ${quoted(name)} LIMIT ${MAX_COUNTED + 1})`)
      .get();
    const count = Number(counted?.n);
    return {
      ...table,
      columns: shownColumns(columns),
      columnCount: columns.length,
      rowCount: Math.min(count, MAX_COUNTED),
      moreRows: count > MAX_COUNTED,
    };
  } catch (error) {
    // One damaged table hides no other.
    return { ...table, problem: `SQLite says: ${messageOf(error)}.` };
  }
}

interface Column {
  name: string;
  type: string;
}

function columnsOf(db: DatabaseSync, table: string): Column[] {
  const rows = db.prepare('SELECT name, type FROM pragma_table_xinfo(?)').all(table);
  return rows.map(({ name, type }) => ({ name: String(name), type: String(type ?? '') }));
}

function shownColumns(columns: readonly Column[]): Column[] {
  return columns
    .slice(0, MAX_COLUMNS)
    .map(({ name, type }) => ({ name: name.slice(0, MAX_NAME), type: type.slice(0, MAX_TYPE) }));
}

function pageOf(
  { db, utf16 }: OpenDatabase,
  { name, kind }: Declared,
  columns: readonly Column[],
  limit: number,
  after: string | undefined,
): { offset: number; rows: EmbeddedCell[][]; next: string | null } {
  const { offset, key: afterKey } = parseCursor(after);
  const key = kind === 'table' ? rowKey(db, name, columns) : null;
  const shown = columns.slice(0, MAX_COLUMNS);
  const keyed = key !== null && afterKey !== null;
  const cells = shown.flatMap((_, index) => [
    `CASE typeof(c${index}) WHEN 'text' THEN substr(c${index}, 1, ${TEXT_CHARACTERS}) WHEN 'blob' THEN substr(c${index}, 1, ${BLOB_BYTES}) ELSE c${index} END`,
    `CASE WHEN typeof(c${index}) IN ('text', 'blob') THEN octet_length(c${index}) END`,
  ]);
  const inner = [`${key ?? 'NULL'} AS k`, ...shown.map((column, index) => `${quoted(column.name)} AS c${index}`)];
  const statement = db.prepare(
    `SELECT ${['k', ...cells].join(', ')} FROM (SELECT ${inner.join(', ')} FROM ${quoted(name)})
     ${keyed ? 'WHERE k > ?' : ''} ${key === null ? '' : 'ORDER BY k'} LIMIT ? OFFSET ?`,
  );
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const rows: EmbeddedCell[][] = [];
  let bytes = 0;
  let last: unknown = null;
  for (const row of statement.iterate(...(keyed ? [afterKey] : []), limit + 1, keyed ? 0 : offset)) {
    if (!Array.isArray(row)) continue;
    const values = shown.map((_, index) => cellOf(row[1 + 2 * index], row[2 + 2 * index], utf16));
    bytes += JSON.stringify(values).length;
    if (rows.length === limit || (rows.length > 0 && bytes > MAX_ANSWER_BYTES)) {
      const end = offset + rows.length;
      return { offset, rows, next: last === null ? String(end) : `${end}:${last}` };
    }
    rows.push(values);
    last = row[0];
  }
  return { offset, rows, next: null };
}

/** The name of the row id: null without one, and where columns have all of its names. */
function rowKey(db: DatabaseSync, table: string, columns: readonly Column[]): string | null {
  const names = new Set(columns.map(({ name }) => name.toLowerCase()));
  const key = ROW_KEYS.find((candidate) => !names.has(candidate));
  if (key === undefined) return null;
  try {
    db.prepare(`SELECT ${key} FROM ${quoted(table)} LIMIT 0`);
    return key;
  } catch {
    // It is WITHOUT ROWID.
    return null;
  }
}

/** `after` is how many rows came before and, where rows have ids, the last of them. */
function parseCursor(after: string | undefined): { offset: number; key: bigint | null } {
  if (after === undefined) return { offset: 0, key: null };
  const [, offset, key] = /^(\d{1,15})(?::(-?\d{1,19}))?$/.exec(after) ?? [];
  if (offset === undefined)
    throw new WinterdockError('validation', 'This is not a cursor of an earlier page.', {
      extra: { errors: [{ path: 'cursor', message: 'is none of an earlier page' }] },
    });
  return { offset: Number(offset), key: key === undefined ? null : BigInt(key) };
}

function cellOf(value: unknown, size: unknown, utf16: boolean): EmbeddedCell {
  const bytes = Number(size);
  // An empty blob comes as null, but it has a size.
  if (value === null) return size === null ? null : { hex: '', bytes };
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString('hex'), bytes };
  if (typeof value !== 'string') return null;
  // A NUL ends what SQLite gives of a text: its size tells.
  const whole = (utf16 ? value.length * 2 : Buffer.byteLength(value)) === bytes;
  return whole ? value : { text: value, bytes };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function refused(why: string, cause?: unknown): WinterdockError {
  return new WinterdockError('validation', `The file cannot be read as tables. ${why}`, {
    hint: 'Download it to look at it elsewhere.',
    extra: { errors: [{ path: 'path', message: why }] },
    cause,
  });
}
