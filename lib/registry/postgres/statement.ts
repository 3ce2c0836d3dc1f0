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

/** A statement with its values. */
export interface Bound {
  readonly text: string;
  readonly params: unknown[];
}

/** What a statement answered, and how many rows it changed. */
export interface Sent {
  readonly rows: unknown[][];
  readonly changes: number;
}

/** Sends one statement on the connection of this moment. */
export type Send = (text: string, params: unknown[]) => Promise<Sent>;

/** A statement as text. */
export interface Compiled<Row> {
  readonly text: string;
  bind(given?: Record<string, unknown>): unknown[];
  decode(values: readonly unknown[]): Row;
}

/** The parts of drizzle's prepared statements that are used here; its types do not show them. */
interface Prepared {
  fields?: { path: string[]; field: unknown }[];
  query: { sql: string; params: unknown[] };
}

/** Builds queries as text, with numbered parameters. */
const QUERIES: Queries = queriesAsText();

/** Sends a statement and returns its rows with the number of rows that it changed. */
export async function sendOn(
  sql: Pick<Sql, 'unsafe'>,
  text: string,
  params: unknown[],
  prepare: boolean,
): Promise<Sent> {
  return sentOf(await sql.unsafe(text, params as never[], { prepare }).values());
}

/** What the client says of a statement that it has sent. */
export function sentOf(rows: { count: number | null }): Sent {
  return { rows: rows as unknown as unknown[][], changes: rows.count ?? 0 };
}

/** The statement that `build` makes as text, with its values and rows. `suffix`: what drizzle's builder lacks. */
export function compiled<Row = unknown>(build: (queries: Queries) => unknown, suffix = ''): Compiled<Row> {
  const { query, fields } = inPostgres(() => build(QUERIES)) as Prepared;
  const decode = fields && rowDecoder(fields.map(({ path, field }) => [path, field]));
  return {
    text: inWords(query.sql) + suffix,
    bind: (given = {}) => fillPlaceholders(query.params, given).map(toBound),
    decode: (values) => (decode === undefined ? values : decode(values.map(fromBound))) as Row,
  };
}

/** The same, with `all`, `get` and `run`, which send it. */
export function asyncStatement<T>(build: (queries: Queries) => T, send: Send, suffix = ''): T {
  const { text, bind, decode } = compiled(build, suffix);
  const all = async (given?: Record<string, unknown>) => (await send(text, bind(given))).rows.map(decode);
  return {
    all,
    get: async (given?: Record<string, unknown>) => (await all(given))[0],
    run: async (given?: Record<string, unknown>) => ({ changes: (await send(text, bind(given))).changes }),
  } as T;
}

/** The columns of a conflict are named without their table, which SQLite allows. */
function inWords(text: string): string {
  return text.replaceAll(/ on conflict \([^)]*\)/g, (target) => target.replaceAll(/"[^"]*"\./g, ''));
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
