/** Hosts with their terms, claims on work that any host may do, and the ids of writes that must not be done twice. */
import type { ClaimKind } from '../../lib/registry/claims.ts';
import { index, integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

/** The hosts that have had this registry. A name of nobody is the term that the next one to start begins. */
export const hosts = sqliteTable('hosts', {
  name: text('name').primaryKey().notNull(),
  /** Grows with each new name and each restored registry, over all hosts. */
  term: integer('term').notNull(),
  /** Epoch milliseconds when that term began. */
  sinceMs: integer('since_ms').notNull(),
});

/** Work that one host does and no other meanwhile. A released claim is removed. */
export const claims = sqliteTable(
  'claims',
  {
    kind: text('kind').$type<ClaimKind>().notNull(),
    /** The work's key within its kind; empty where there is one piece of it. */
    work: text('work').notNull(),
    host: text('host').notNull(),
    term: integer('term').notNull(),
    /** Random, of one acquisition. */
    token: text('token').notNull(),
    /** Epoch milliseconds, by the clock of the database. */
    acquiredMs: integer('acquired_ms').notNull(),
    /** It is anybody's from this moment on. */
    expiresMs: integer('expires_ms').notNull(),
    renewals: integer('renewals').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.kind, table.work] }), index('claims_by_host').on(table.host, table.kind)],
);

/** Ids of writes that no row has, so that one whose answer was lost is not made again. */
export const writes = sqliteTable(
  'writes',
  {
    id: text('id').primaryKey().notNull(),
    atMs: integer('at_ms').notNull(),
  },
  (table) => [index('writes_by_time').on(table.atMs)],
);
