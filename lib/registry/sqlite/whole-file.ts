/**
 * All rows of a registry file, read or loaded as they are: a registry of another dialect is carried into a file, and
 * out of one. Nothing is derived or refused meanwhile: the triggers are set aside, and what only the file has is made
 * at the end. Knows nothing of what the rows mean.
 */
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { getTableConfig } from '../../../db/drizzle.ts';
import { type CarriedTable, carriedTables, DERIVED_KEY } from '../../../db/postgres/tables.ts';
import { settings } from '../../../db/schema.ts';
import { performingNow } from '../../base/effects.ts';
import { FACT_PREFIX } from '../statements/facts.ts';
import { holdFile, releaseFile } from './former-history.ts';
import { migrate } from './migrate.ts';

/** As the registry has it (database.ts). */
const PAGE_BYTES = 2048;

/** Rows that are digested at once. */
const DIGESTED = 500;
const FACTS = getTableConfig(settings).name;

type Row = readonly unknown[];

/**
 * SHA-256 over every stored row of every table of the file of this version at `path`, which nobody else uses: the same
 * for a file and what it was carried to and back. `fact`: the name of one that is left out.
 */
export function contentDigest(path: string, fact: string): string {
  const file = WholeFile.open(path);
  try {
    const digest = createHash('sha256');
    for (const table of carriedTables()) {
      digest.update(table.name);
      const named = table.name === FACTS ? table.columns.indexOf(settings.key.name) : -1;
      for (const rows of file.rows(table, DIGESTED)) {
        for (const row of rows) if (named < 0 || row[named] !== FACT_PREFIX + fact) digest.update(JSON.stringify(row));
      }
    }
    return digest.digest('hex');
  } finally {
    file.close();
  }
}

export class WholeFile {
  readonly #client: Database.Database;
  /** What makes the triggers that were set aside. */
  #triggers: string[] = [];

  private constructor(path: string, options: Database.Options) {
    this.#client = new Database(path, options);
    holdFile(path);
  }

  /** Makes a file without rows at a new path (absolute). It is complete after `finish`. */
  static create(path: string): WholeFile {
    const file = performingNow({ kind: 'create', path }, () => new WholeFile(path, {}));
    try {
      file.#begin();
    } catch (error) {
      file.close();
      throw error;
    }
    return file;
  }

  /** Opens the file of this version at `path`, which nobody else uses. */
  static open(path: string): WholeFile {
    return new WholeFile(path, { fileMustExist: true, readonly: true });
  }

  #begin(): void {
    const client = this.#client;
    client.pragma(`page_size = ${PAGE_BYTES}`);
    // Nobody uses the file before it is complete.
    client.pragma('journal_mode = MEMORY');
    client.pragma('synchronous = OFF');
    client.pragma('foreign_keys = OFF');
    migrate(client, { keepCopy: false });
    client.exec('BEGIN');
    const triggers = client.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
    for (const { name, sql } of triggers as { name: string; sql: string }[]) {
      client.exec(`DROP TRIGGER "${name}"`);
      this.#triggers.push(sql);
    }
  }

  /** The columns of a table, in the order of values in a row; last the number of the row. */
  columnsOf({ name, columns, number }: CarriedTable): string[] {
    const [about] = this.#client.pragma(`table_list("${name}")`) as { wr: number }[];
    return number !== null || about?.wr === 1 ? [...columns] : [...columns, 'rowid'];
  }

  /** Replaces the rows of a table. Returns how many there are now. */
  async load(table: CarriedTable, rows: AsyncIterable<Row[]>): Promise<number> {
    const columns = this.columnsOf(table);
    this.#client.exec(`DELETE FROM "${table.name}"`);
    const names = columns.map((column) => `"${column}"`).join();
    const insert = this.#client.prepare(
      `INSERT INTO "${table.name}" (${names}) VALUES (${columns.map(() => '?').join()})`,
    );
    for await (const piece of rows) for (const row of piece) insert.run(row);
    return this.count(table);
  }

  /** Makes what only the file has, and the triggers. Throws when a row points at one that is not there. */
  finish(): void {
    const client = this.#client;
    const { table, column } = DERIVED_KEY;
    client.exec(
      `UPDATE "${table}" SET "${column}" = (SELECT "${column}" FROM instances WHERE instances.rowid = instance_row)`,
    );
    client.exec('INSERT INTO instance_text(rowid, words) SELECT rowid, words FROM instances WHERE tombstone = 0');
    for (const trigger of this.#triggers) client.exec(trigger);
    if ((client.pragma('foreign_key_check') as unknown[]).length > 0) {
      throw new Error('A row of the registry points at one that is not there.');
    }
    client.exec('COMMIT');
  }

  /** Rows in the order of their numbers, `piece` at a time. */
  *rows(table: CarriedTable, piece: number): Generator<unknown[][]> {
    const columns = this.columnsOf(table).map((column) => `"${column}"`);
    const hasNumber = table.number !== null || columns.at(-1) === '"rowid"';
    const order = hasNumber ? ` ORDER BY "${table.number ?? 'rowid'}"` : '';
    const read = this.#client.prepare<[], unknown[]>(`SELECT ${columns.join()} FROM "${table.name}"${order}`).raw();
    let rows: unknown[][] = [];
    for (const row of read.iterate()) {
      rows.push(row);
      if (rows.length < piece) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  }

  count({ name }: CarriedTable): number {
    return this.#client.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get() ?? 0;
  }

  close(): void {
    if (!this.#client.open) return;
    this.#client.close();
    releaseFile(this.#client.name);
  }
}
