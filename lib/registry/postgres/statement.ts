/**
 * Statements of both drivers on Postgres: drizzle's builder for SQLite makes their text, in which `$1` stands for `?`,
 * and its columns decode their rows. What they answer is a promise.
 */
import type { Sql } from 'postgres';
import { fillPlaceholders, type Queries, queriesAsText } from '../../../db/drizzle.ts';
import { inPostgres } from '../statements/dialect.ts';
import { rowDecoder } from '../statements/row-decoder.ts';
import { fromStored, toStored } from './plain-text.ts';

type Answer<M> = M extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;

/** A statement whose answers are promises. */
type AsyncStatement<P> = P extends { get: infer G; all: infer L; run: infer R }
  ? { get: Answer<G>; all: Answer<L>; run: Answer<R> }
  : never;

/** Statements of lib/registry/statements, as Postgres answers them. */
export type Async<S> = S extends (...args: infer A) => infer P
  ? (...args: A) => AsyncStatement<P>
  : { readonly [K in keyof S]: Async<S[K]> };

/** Sends one statement on the connection of this moment. */
export type Send = (text: string, params: unknown[]) => Promise<{ rows: unknown[][]; changes: number }>;

/** The parts of drizzle's prepared statements that are used here; its types do not show them. */
interface Prepared {
  fields?: { path: string[]; field: unknown }[];
  query: { sql: string; params: unknown[] };
}

/** Builds queries as text, with numbered parameters. */
const QUERIES: Queries = queriesAsText();

/** Sends a statement and returns its rows with the number of rows that it changed. */
export async function sendOn(sql: Pick<Sql, 'unsafe'>, text: string, params: unknown[]) {
  const rows = await sql.unsafe(text, params as never[], { prepare: true }).values();
  return { rows: rows as unknown as unknown[][], changes: rows.count ?? 0 };
}

/** The statement that `build` makes, with `all`, `get` and `run`. `suffix`: what drizzle's builder for SQLite lacks. */
export function asyncStatement<T>(build: (queries: Queries) => T, send: Send, suffix = ''): T {
  const { query, fields } = inPostgres(() => build(QUERIES)) as Prepared;
  const text = inWords(query.sql) + suffix;
  const decode = fields && rowDecoder(fields.map(({ path, field }) => [path, field]));
  const ask = (given: Record<string, unknown> = {}) => send(text, fillPlaceholders(query.params, given).map(toBound));
  const all = async (given?: Record<string, unknown>) => {
    const { rows } = await ask(given);
    if (decode === undefined) return rows;
    return rows.map((values) => decode(values.map(fromBound)));
  };
  return {
    all,
    get: async (given?: Record<string, unknown>) => (await all(given))[0],
    async run(given?: Record<string, unknown>) {
      const { changes } = await ask(given);
      return { changes };
    },
  } as T;
}

/** The columns of a conflict are named without their table, which SQLite allows. */
function inWords(text: string): string {
  return text.replaceAll(/ on conflict \([^)]*\)/g, (target) => target.replaceAll(/"[^"]*"\./g, ''));
}

/** A query as text with its values, and what decodes its rows. */
export function queryText(build: (queries: Queries) => unknown, bound: Record<string, unknown>) {
  const { query, fields = [] } = inPostgres(() => build(QUERIES)) as Prepared;
  const decode = rowDecoder(fields.map(({ path, field }) => [path, field]));
  return {
    text: inWords(query.sql),
    params: fillPlaceholders(query.params, bound).map(toBound),
    decode: (values: readonly unknown[]) => decode(values.map(fromBound)),
  };
}

/** A value as Postgres takes it. */
function toBound(value: unknown): unknown {
  if (typeof value === 'string') return toStored(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}

function fromBound(value: unknown): unknown {
  return typeof value === 'string' ? fromStored(value) : value;
}
