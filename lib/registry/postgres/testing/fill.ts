/**
 * A registry on Postgres with the rows of a filled file (lib/registry/sqlite/testing/fill.ts), for measurements. Fast
 * because indexes, triggers and counts are made at the end. For a new registry only.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Sql } from 'postgres';
import { getTableColumns } from '../../../../db/drizzle.ts';
import { INDEX_TEXTS } from '../../../../db/postgres/texts.ts';
import { instances } from '../../../../db/schema.ts';
import { filledRow } from '../../sqlite/testing/fill.ts';
import { toStored } from '../plain-text.ts';

const TABLES = ['instances', 'labels', 'instance_texts'];
/** Rows that are sent at once. */
const PIECE = 1000;

/** Fills the registry that `sql` is connected to, whose tables are there and empty. */
export async function fillPostgres(sql: Sql, rows: number): Promise<void> {
  const list = TABLES.map((table) => `'${table}'`).join();
  const indexes = await sql.unsafe<{ indexname: string; indexdef: string }[]>(
    `select indexname, indexdef from pg_indexes
      where schemaname = current_schema() and tablename in (${list}) and indexdef like 'CREATE INDEX%'`,
  );
  for (const { indexname } of indexes) await sql.unsafe(`drop index ${indexname}`);
  for (const table of TABLES) await sql.unsafe(`alter table ${table} disable trigger user`);
  const { nameKey: _, bytesKey: __, ...columns } = getTableColumns(instances);
  const named = Object.entries(columns);
  const names = [...named.map(([, { name }]) => `"${name}"`), 'rowid'].join();
  const lines = function* () {
    for (let from = 0; from < rows; from += PIECE) {
      let piece = '';
      for (let n = from; n < Math.min(rows, from + PIECE); n += 1) {
        const { row, kept } = filledRow(n, rows);
        const values: Record<string, unknown> = { ...row, ...kept, tombstone: 0 };
        const own = named.map(([name, column]) => {
          const value = values[name] ?? null;
          return asText(value === null ? null : column.mapToDriverValue(value));
        });
        piece += `${own.join('\t')}\t${n + 1}\n`;
      }
      yield piece;
    }
  };
  const copy = await sql.unsafe(`copy instances (${names}) from stdin`).writable();
  await pipeline(Readable.from(lines()), copy);
  for (const statement of DERIVED) await sql.unsafe(statement);
  for (const { indexdef } of indexes) await sql.unsafe(indexdef);
  for (const table of TABLES) await sql.unsafe(`alter table ${table} enable trigger user`);
  await sql.unsafe('vacuum (freeze, analyze)');
}

/** A value as `copy` takes it. */
function asText(value: unknown): string {
  if (value === null) return '\\N';
  const text = typeof value === 'string' ? toStored(value) : String(value);
  return text.replaceAll(/[\\\t\n\r]/g, (one) => (one === '\\' ? '\\\\' : `\\x${one.charCodeAt(0).toString(16)}`));
}

/** What the triggers would have written. */
const DERIVED = [
  `select setval('instances_rowid_seq', count(*)) from instances`,
  `insert into labels (rowid, instance_row, key, value, updated, created, name_key, bytes_key, tenant, state)
    select row_number() over (), rowid, one.key, one.value, updated, created, name_key, bytes_key, tenant, state
    from instances, json_each_text(labels::json) as one`,
  `select setval('labels_rowid_seq', count(*)) from labels`,
  INDEX_TEXTS,
  `insert into counts_by_state (state, n) select state, count(*) from instances group by 1`,
  `insert into counts_by_tenant (tenant, state, n, bytes)
    select tenant, state, count(*), coalesce(sum(bytes), 0) from instances group by 1, 2`,
  `insert into counts_by_label (key, value, n) select key, value, count(*) from labels group by 1, 2`,
];
