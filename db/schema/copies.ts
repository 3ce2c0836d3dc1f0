/** Snapshots and blueprints, files that no row claims, clones that are still to be inserted or resumed. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { Ancestor, CopyContent, PendingStart } from '../../lib/registry/copies.ts';
import type { FileRecord, InstanceRow, LedgerEntry } from '../../lib/registry/types.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/**
 * Copies that outlive their sources, and named moments, which do not. A deleted one stays as a row, the ancestor of its
 * clones; its file is removed with the last row that needs it.
 */
export const snapshots = sqliteTable(
  'snapshots',
  {
    id: text('id').primaryKey().notNull(),
    tenant: text('tenant').notNull(),
    /** The instance that it was made from. */
    source: text('source').$type<InstanceId>().notNull(),
    tag: text('tag'),
    /** Lower-case hex SHA-256 of the file; equal content is one file. */
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    volumes: jsonColumn<CopyContent['volumes']>('volumes').notNull(),
    file: jsonColumn<FileRecord>('file').notNull(),
    created: integer('created').notNull(),
    actor: text('actor').notNull(),
    deleted: integer('deleted'),
    /** Of a named moment of `source`, which has the name as its tag: when it was committed. Null: a snapshot. */
    momentMs: integer('moment_ms'),
  },
  (table) => [
    index('snapshots_by_created').on(table.created, table.id).where(sql`deleted is null`),
    index('snapshots_by_tenant').on(table.tenant, table.created, table.id).where(sql`deleted is null`),
    index('snapshots_by_source').on(table.source, table.created, table.id),
    index('snapshots_by_tag').on(table.tag, table.created, table.id).where(sql`deleted is null and tag is not null`),
    index('snapshots_by_hash').on(table.hash).where(sql`deleted is null`),
    uniqueIndex('snapshots_by_moment')
      .on(table.source, table.tag)
      .where(sql`deleted is null and moment_ms is not null`),
  ],
);

/** Bases of clones, by name; names are unique in the installation. `tenant` and `source` record the origin. */
export const blueprints = sqliteTable(
  'blueprints',
  {
    name: text('name').primaryKey().notNull(),
    tenant: text('tenant'),
    source: text('source').$type<InstanceId>(),
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    volumes: jsonColumn<CopyContent['volumes']>('volumes').notNull(),
    file: jsonColumn<FileRecord>('file').notNull(),
    created: integer('created').notNull(),
    actor: text('actor').notNull(),
    /** What is set for its clones; null: nothing. */
    replicate: text('replicate'),
  },
  (table) => [index('blueprints_by_hash').on(table.hash)],
);

/**
 * Marked files of copies, relative to the data folder, that are removed unless a row needs them: stored before their
 * row, or left by the last one.
 */
export const unclaimedFiles = sqliteTable('unclaimed_files', { path: text('path').primaryKey().notNull() });

/** Pending resumes of one call's instances, identified by the first of them; the row is removed when they are done. */
export const starts = sqliteTable('starts', {
  first: text('first').primaryKey().notNull(),
  tenant: text('tenant').notNull(),
  ids: jsonColumn<InstanceId[]>('ids').notNull(),
  /** The snapshot or blueprint that they were made from. */
  origin: jsonColumn<Ancestor>('origin').notNull(),
  /** The audit context of the caller. */
  cause: jsonColumn<unknown>('cause').notNull(),
});

/**
 * Instances of one call that are admitted and not inserted yet, some at a time, so that no transaction is long. They
 * count towards quotas, hold their names and need their file. The columns that are searched lie before the long ones.
 */
export const seedingChunks = sqliteTable('seeding_chunks', {
  /** Order of insertion. */
  number: integer('number').primaryKey().notNull(),
  /** The first instance of the call, which identifies it. */
  first: text('first').$type<InstanceId>().notNull(),
  tenant: text('tenant').notNull(),
  /** The copy's file, relative to the data folder. */
  path: text('path').notNull(),
  sandboxes: integer('sandboxes').notNull(),
  bytes: integer('bytes').notNull(),
  rows: jsonColumn<InstanceRow[]>('rows').notNull(),
  ledger: jsonColumn<LedgerEntry[]>('ledger').notNull(),
  /** With the last chunk of a call: the pending resume of all its instances. */
  start: jsonColumn<PendingStart>('start'),
});
