/** Snapshots and blueprints, the files that no row claims, and clones that are still to be started. */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { Ancestor, CopyContent } from '../../lib/registry/copies.ts';
import type { FileRecord } from '../../lib/registry/types.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, sql, sqliteTable, text } from '../drizzle.ts';

/**
 * Copies that outlive what they were made from. A deleted one stays as a row, the ancestor of what came from it; its
 * file goes with the last row that needs it.
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
  },
  (table) => [
    index('snapshots_by_created').on(table.created, table.id).where(sql`deleted is null`),
    index('snapshots_by_tenant').on(table.tenant, table.created, table.id).where(sql`deleted is null`),
    index('snapshots_by_source').on(table.source, table.created, table.id),
    index('snapshots_by_tag').on(table.tag, table.created, table.id).where(sql`deleted is null and tag is not null`),
    index('snapshots_by_hash').on(table.hash).where(sql`deleted is null`),
  ],
);

/**
 * Bases that clones are made from, by their names, which are the installation's. `tenant` and `source` tell where one
 * came from.
 */
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
  },
  (table) => [index('blueprints_by_hash').on(table.hash)],
);

/**
 * Files of copies, relative to the data folder, that are to go unless a row needs them: put there before its row, or
 * left by the last one.
 */
export const unclaimedFiles = sqliteTable('unclaimed_files', { path: text('path').primaryKey().notNull() });

/**
 * Instances of one call that are to be resumed after they were made, named by the first of them; the row goes when that
 * is done.
 */
export const starts = sqliteTable('starts', {
  first: text('first').primaryKey().notNull(),
  tenant: text('tenant').notNull(),
  ids: jsonColumn<InstanceId[]>('ids').notNull(),
  /** The snapshot or blueprint that they are made from. */
  origin: jsonColumn<Ancestor>('origin').notNull(),
  /** Who asked for it. */
  cause: jsonColumn<unknown>('cause').notNull(),
});
