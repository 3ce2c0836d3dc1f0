/**
 * All rows of a registry on Postgres, read or loaded as they are: it is carried into an SQLite file, which a backup
 * has, and out of one. Nothing is derived or refused meanwhile, as the triggers are disabled. Knows nothing of what
 * the rows mean.
 */
import { type CarriedTable, carriedTables, DERIVED_KEY } from '../../../db/postgres/tables.ts';
import { INDEX_TEXTS } from '../../../db/postgres/texts.ts';
import { WinterdockError } from '../../base/errors.ts';
import { WholeFile } from '../sqlite/whole-file.ts';
import type { PostgresDatabase } from './database.ts';
import { fromStored, toStored } from './plain-text.ts';
import type { OwnConnection } from './pool.ts';

/** Rows that are carried at once. */
const PIECE = 500;
/** Values that a statement may bind, with room. */
const MOST_VALUES = 60_000;

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join();

/** Writes one moment of the registry to a new SQLite file at `path` (absolute). */
export async function carryOut(database: PostgresDatabase, path: string): Promise<void> {
  const file = WholeFile.create(path);
  const moment = await database.moment();
  try {
    for (const table of carriedTables()) {
      const { name, number } = table;
      const columns = file.columnsOf(table);
      const text = `select ${quoted(columns)} from "${name}" order by "${number ?? 'rowid'}"`;
      const counted = await moment.run(() => database.ask(`select count(*) from "${name}"`));
      const loaded = await file.load(table, decoded(moment.pieces(text, PIECE), keyAt(name, columns)));
      requireAll(name, Number(counted[0]?.[0]), loaded);
    }
    file.finish();
  } finally {
    await moment.close();
    file.close();
  }
}

/** Loads a file of this version into a schema that has the tables and no rows, in one transaction. */
export async function carryIn({ sql, requireThere }: OwnConnection, path: string): Promise<void> {
  const send: Sender = (text, values = [], prepare = false) => {
    // What comes after a lost connection would not be in the transaction.
    requireThere();
    return sql.unsafe(text, values as never[], { prepare }).values() as unknown as Promise<unknown[][]>;
  };
  const file = WholeFile.open(path);
  try {
    await send('begin');
    for (const table of carriedTables()) await loadTable(send, file, table);
    const { table, column } = DERIVED_KEY;
    await send(
      `update "${table}" set "${column}" = instances."${column}" from instances where instances.rowid = instance_row`,
    );
    await send(INDEX_TEXTS);
    // The end of the chain, also when every line was dropped.
    await send(`update ledger_head set seq = last.seq, hash = last.hash from (
      select seq, hash from events union all select last_seq, last_hash from ledger_segments order by seq desc limit 1
    ) as last`);
    for (const { name } of carriedTables()) await send(`alter table "${name}" enable trigger user`);
    await send('commit');
    // What was loaded is new to whoever plans statements.
    await send('analyze');
  } catch (error) {
    await sql.unsafe('rollback').catch(() => undefined);
    throw error;
  } finally {
    file.close();
  }
}

type Sender = (text: string, values?: unknown[], prepare?: boolean) => Promise<unknown[][]>;

async function loadTable(send: Sender, file: WholeFile, table: CarriedTable): Promise<void> {
  const { name, number } = table;
  const given = file.columnsOf(table);
  // Of a table that has no numbers in the file.
  const isNumbered = number === null && given.at(-1) !== 'rowid';
  const columns = isNumbered ? [...given, 'rowid'] : given;
  const most = Math.min(PIECE, Math.floor(MOST_VALUES / columns.length));
  await send(`alter table "${name}" disable trigger user`);
  let rowid = 0;
  for (const rows of file.rows(table, most)) {
    const values = rows.flatMap((row) => {
      rowid += 1;
      return encoded(isNumbered ? [...row, rowid] : row, keyAt(name, columns));
    });
    const list = rows.map((_, at) => `(${columns.map((_, n) => `$${at * columns.length + n + 1}`).join()})`);
    const text = `insert into "${name}" (${quoted(columns)}) values ${list.join()}`;
    await send(text, values, rows.length === most);
  }
  const [[counted] = []] = await send(`select count(*) from "${name}"`);
  requireAll(name, file.count(table), Number(counted));
  const column = number ?? 'rowid';
  await send(`select setval(to_regclass('"${name}_${column}_seq"'), max("${column}")) from "${name}"
    having max("${column}") is not null and to_regclass('"${name}_${column}_seq"') is not null`);
}

/** Where in a row the key is that is taken anew; -1: nowhere. */
function keyAt(name: string, columns: readonly string[]): number {
  return name === DERIVED_KEY.table ? columns.indexOf(DERIVED_KEY.column) : -1;
}

async function* decoded(pieces: AsyncIterable<unknown[][]>, key: number): AsyncGenerator<unknown[][]> {
  const decode = (value: unknown, at: number) => {
    if (at === key) return '';
    return typeof value === 'string' ? fromStored(value) : value;
  };
  for await (const rows of pieces) yield rows.map((row) => row.map(decode));
}

function encoded(row: readonly unknown[], key: number): unknown[] {
  return row.map((value, at) => {
    if (at === key) return '';
    return typeof value === 'string' ? toStored(value) : value;
  });
}

function requireAll(name: string, wanted: number, loaded: number): void {
  if (wanted === loaded) return;
  throw new WinterdockError('storage_unavailable', `Of ${wanted} rows of ${name} ${loaded} were carried over.`);
}
