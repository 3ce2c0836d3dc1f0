/** Hosts with their terms, claims on work that any host may do, and the ids of writes that must not be done twice. */
import type { ClaimKind } from '../../lib/registry/claims.ts';
import type { HostCapacity, HostDrain } from '../../lib/registry/hosts.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

/**
 * The hosts that have had this registry, with what each said of itself at its last start. A name of nobody is the term
 * that the next one to start begins.
 */
export const hosts = sqliteTable('hosts', {
  name: text('name').primaryKey().notNull(),
  /** Grows with each new name and each restored registry, over all hosts. */
  term: integer('term').notNull(),
  /** Epoch milliseconds when that term began. */
  sinceMs: integer('since_ms').notNull(),
  /** Where other hosts reach it. */
  url: text('url'),
  capacity: jsonColumn<HostCapacity>('capacity'),
  version: text('version'),
  labels: jsonColumn<Record<string, string>>('labels'),
  /** 1: nothing new is placed on it. */
  draining: integer('draining').notNull().default(0),
  /** How it is emptied, and who asked for it; null unless it is draining. */
  drain: jsonColumn<HostDrain>('drain'),
  /** How often the lease was renewed in all. Others judge by this number, and by no time. */
  renewals: integer('renewals').notNull().default(0),
  /** Epoch milliseconds of the last renewal by the host’s own clock: for people, nothing is decided by it. */
  renewedMs: integer('renewed_ms'),
  /** Length of the lease; null: it has none, because nobody else reaches this registry. */
  leaseMs: integer('lease_ms'),
  /** Random, of one start, which alone renews; null: nobody holds the name. */
  token: text('token'),
  /** The Ed25519 key of its data folder, as a `did:key`. */
  publicKey: text('public_key'),
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
