/**
 * Read-only SQL of guests and operators over the vfs table. Owns what such SQL may reach: SQLite asks for every table,
 * column and function when it compiles a statement, and everything not listed here is denied. Time and memory are
 * limited by the process that runs it.
 */
import { isUtf8 } from 'node:buffer';
import { constants, type DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { resultCodeOf, translateSqliteError } from './sqlite-errors.ts';

type QueryValue = string | number | null;
export type QueryParams = QueryValue[] | Record<string, QueryValue>;

export interface QueryAnswer {
  columns: string[];
  rows: unknown[][];
  /** The result has more rows or bytes than an answer may hold. */
  truncated: boolean;
}

/** What stands for the table `vfs` in a file whose own one is not all of it. */
interface PresentedTable {
  /** True while it reads what it gives: that is not the query's doing. */
  readonly isReading: boolean;
  /** Names of tables and functions that it is made of. */
  readonly madeOf: ReadonlySet<string>;
}

const MAX_SQL_BYTES = 100_000;
const MAX_ROWS = 1000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Rows have up to 2000 columns. Whoever gets the answer parses it in one go. */
const MAX_ANSWER_VALUES = 50_000;
/** Largest value that SQL may make or read; larger than the largest file that can be stored by default. */
const MAX_VALUE_BYTES = 80 * 1024 * 1024;

const TABLES = new Set(['vfs', 'json_each', 'json_tree']);

/** Functions that compute from their arguments alone. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  `-> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count cume_dist
  current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format glob group_concat hex if
  ifnull iif instr json json_array json_array_insert json_array_length json_error_position json_extract json_group_array
  json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid
  julianday lag last_value lead length like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif
  octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random randomblob rank replace
  round row_number rtrim sign sin sinh soundex sqlite_version sqrt strftime string_agg substr substring sum tan tanh time timediff total
  trim trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper zeroblob`.split(/\s+/),
);

const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants;

/**
 * What may follow a statement: space, semicolons, comments. Matched piece by piece, so that the expression cannot
 * backtrack over them.
 */
const PASSED_OVER = /[\s;]+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y;

/**
 * Runs one SELECT (or VALUES, WITH, EXPLAIN). Returns at most 1 000 rows, 50 000 values and 4 MiB. Blobs of valid
 * UTF-8 become text, others `{"base64"}`; integers past 2^53 and numbers that JSON lacks become text. Throws
 * `validation` with SQLite's own message, `not_found` for a missing table, `corrupt`. `presented`: what stands for the
 * table in a file that real programs alone change; its own table has what was there before.
 */
export function runQuery(
  db: DatabaseSync,
  sql: string,
  params: QueryParams = [],
  presented: PresentedTable | null = null,
): QueryAnswer {
  if (Buffer.byteLength(sql) > MAX_SQL_BYTES) throw refused(`SQL has at most ${MAX_SQL_BYTES} bytes`);
  if (sql.includes('\0')) throw refused('SQL must not contain NUL');
  const usualLength = db.limits.length;
  const authorise = authoriser(otherTables(db), presented);
  db.limits.length = MAX_VALUE_BYTES;
  db.setAuthorizer(authorise);
  try {
    const statement = db.prepare(sql);
    if (!isNothing(sql.slice(statement.sourceSQL.length))) throw refused('only one statement can be run at a time');
    return collect(statement, params);
  } catch (error) {
    throw explained(error);
  } finally {
    db.setAuthorizer(null);
    db.limits.length = usualLength;
  }
}

function isNothing(rest: string): boolean {
  PASSED_OVER.lastIndex = 0;
  while (PASSED_OVER.lastIndex < rest.length) {
    if (!PASSED_OVER.test(rest)) return false;
  }
  return true;
}

type Authoriser = (action: number, first: string | null, second: string | null, schema: string | null) => number;

function authoriser(others: Set<string>, presented: PresentedTable | null): Authoriser {
  return (action, first, second, schema) => {
    if (presented?.isReading) return SQLITE_OK;
    const name = (action === SQLITE_FUNCTION ? second : first)?.toLowerCase() ?? '';
    if (action === SQLITE_SELECT || action === SQLITE_RECURSIVE) return SQLITE_OK;
    if (action === SQLITE_FUNCTION) {
      const isKnown = FUNCTIONS.has(name) || presented?.madeOf.has(name) === true;
      return isKnown ? SQLITE_OK : SQLITE_DENY;
    }
    if (action !== SQLITE_READ) return SQLITE_DENY;
    if (presented !== null && schema === 'main') return SQLITE_DENY;
    if (presented?.madeOf.has(name)) return SQLITE_OK;
    if (TABLES.has(name)) return SQLITE_OK;
    // `count(*)` reads no column: SQLite asks with an empty column name, also for the name of a common table
    // expression.
    const expression = second === '' && !others.has(name) && !/^(sqlite|pragma)_/.test(name);
    return expression ? SQLITE_OK : SQLITE_DENY;
  };
}

/** Every table of the file, of attached databases and of SQLite itself, except the readable ones. */
function otherTables(db: DatabaseSync): Set<string> {
  const schemas = db.prepare('SELECT name FROM pragma_database_list').all();
  const ours = schemas.map(({ name }) => `SELECT lower(name) AS name FROM "${name}".sqlite_schema UNION `);
  const rows = db.prepare(`${ours.join('')} SELECT lower(name) AS name FROM pragma_module_list`).all();
  return new Set(rows.map((row) => String(row.name)).filter((name) => !TABLES.has(name)));
}

function collect(statement: StatementSync, params: QueryParams): QueryAnswer {
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  const columns = statement.columns().map((column) => column.name);
  const rows: unknown[][] = [];
  let bytes = 0;
  let count = 0;
  for (const row of bound(statement, params)) {
    if (!Array.isArray(row)) continue;
    const values = row.map(presented);
    bytes += values.reduce((sum: number, [, size]) => sum + size, 0);
    count += values.length;
    if (rows.length === MAX_ROWS || bytes > MAX_ANSWER_BYTES || count > MAX_ANSWER_VALUES)
      return { columns, rows, truncated: true };
    rows.push(values.map(([value]) => value));
  }
  return { columns, rows, truncated: false };
}

function bound(statement: StatementSync, params: QueryParams): Iterable<unknown> {
  if (Array.isArray(params)) return statement.iterate(...params.map(exact));
  return statement.iterate(Object.fromEntries(Object.entries(params).map(([name, value]) => [name, exact(value)])));
}

/** Binds whole numbers as integers, as literals in SQL would be. */
function exact(value: QueryValue): SQLInputValue {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** A value in a form that JSON can hold, and its approximate size there in bytes. */
function presented(value: unknown): [value: unknown, bytes: number] {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return [Number.isSafeInteger(number) ? number : String(value), 20];
  }
  if (typeof value === 'number') return [Number.isFinite(value) ? value : String(value), 24];
  if (typeof value === 'string') return [value, Buffer.byteLength(value) + 2];
  if (!(value instanceof Uint8Array)) return [null, 4];
  const buffer = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (isUtf8(buffer)) return [buffer.toString(), buffer.byteLength + 2];
  if (buffer.byteLength > MAX_ANSWER_BYTES) return [null, buffer.byteLength];
  return [{ base64: buffer.toString('base64') }, Math.ceil(buffer.byteLength / 3) * 4 + 14];
}

function explained(error: unknown): unknown {
  const translated = translateSqliteError(error);
  if (translated instanceof WinterdockError && !['internal', 'too_large'].includes(translated.code)) return translated;
  if (resultCodeOf(error) === null && !(error instanceof Error && 'code' in error)) return error;
  const message = messageOf(error).replace(/\.$/, '');
  if (message.startsWith('no such table'))
    return new WinterdockError('not_found', `The query failed: ${message}.`, {
      hint: 'The one table is vfs(volume, path, content, mtime).',
      cause: error,
    });
  return refused(message, error);
}

function refused(why: string, cause?: unknown): WinterdockError {
  return new WinterdockError('validation', `The query was refused: ${why}.`, {
    hint: 'One SELECT over vfs(volume, path, content, mtime) can be run.',
    extra: { errors: [{ path: 'sql', message: why }] },
    cause,
  });
}
