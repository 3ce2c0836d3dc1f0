/**
 * Sandboxes, their labels and the sizes of their volumes. Triggers, the text index and what keeps the counts are SQL
 * that drizzle has no words for: they are in db/migrations. Times are epoch seconds unless the name says milliseconds.
 *
 * `labels` and the text index point at instances by SQLite's own rowid. Rows are never removed and rowids are given out
 * as max + 1, so they are 1…n without gaps, and not even a VACUUM that renumbers them changes one.
 */
import type { InstanceId } from '../../lib/base/ids.ts';
import type { State } from '../../lib/lifecycle/state-map.ts';
import type { Fault } from '../../lib/lifecycle/words.ts';
import type { FileRecord, Intent, StoredObject } from '../../lib/registry/types.ts';
import { jsonColumn } from '../columns.ts';
import { blob, index, integer, primaryKey, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** `false` as the first migration wrote it: of drizzle's own the next one would make the table anew. */
const FALSE = 0 as unknown as boolean;

export const instances = sqliteTable(
  'instances',
  {
    id: text('id').$type<InstanceId>().primaryKey().notNull(),
    tenant: text('tenant').notNull(),
    state: text('state').$type<State>().notNull(),
    vfsPath: text('vfs_path'),
    updated: integer('updated').notNull(),
    /** 1 exactly when the state is `deleted`: lists leave deleted rows out by default. */
    tombstone: integer('tombstone').notNull().default(0),
    /** The search text: words of id, tenant, name and label values (lib/registry/search-words.ts). */
    words: text('words').notNull().default(''),
    /**
     * When it moves by itself, down the ladder or to its end as an ephemeral sandbox; null when it has no automatic
     * move.
     */
    dueAt: integer('due_at'),
    name: text('name'),
    generation: integer('generation').notNull().default(0),
    fault: text('fault').$type<Fault>(),
    faultReason: text('fault_reason'),
    /** The intent of the pending operation. */
    pending: jsonColumn<Intent>('pending'),
    created: integer('created').notNull(),
    stateSince: integer('state_since').notNull(),
    keepHot: integer('keep_hot', { mode: 'boolean' }).notNull().default(FALSE),
    holdUntil: integer('hold_until'),
    ephemeral: integer('ephemeral', { mode: 'boolean' }).notNull().default(FALSE),
    policy: text('policy').notNull(),
    hotToWarmSeconds: integer('hot_to_warm_s'),
    idleToSuspendSeconds: integer('idle_to_suspend_s'),
    idleToFreezeSeconds: integer('idle_to_freeze_s'),
    /** What is promised of its replica; null: what its tenant's or the server's setting says. */
    replicate: text('replicate'),
    bytes: integer('bytes'),
    workbook: text('workbook'),
    /** The version that it is docked to; null without one, and for a name from before there were workbooks. */
    workbookVersion: integer('workbook_version'),
    lineageBlueprint: text('lineage_blueprint'),
    lineageSnapshot: text('lineage_snapshot'),
    lineageParent: text('lineage_parent').$type<InstanceId>(),
    file: jsonColumn<FileRecord>('file'),
    failures: integer('failures').notNull().default(0),
    /** The labels table is derived from it. */
    labels: jsonColumn<Record<string, string>>('labels').notNull().default({}),
    /** The host that has it awake, moves it, or has its newest bytes on its own disk; null: anybody's. */
    ownerHost: text('owner_host'),
    ownerTerm: integer('owner_term'),
    /** Random, of one acquisition: while it is awake, and while an operation is under way. */
    ownerToken: text('owner_token'),
    /** What orders the series of its replica: it grows when a host acquires it that another one had before. */
    seriesTerm: integer('series_term'),
    /** The term of the host that acquired it last; null: none has since there is this column. */
    seriesHostTerm: integer('series_host_term'),
    /** The id of the last intent or transition that was written. */
    writeId: text('write_id'),
    /** The last whole object in the store. */
    stored: jsonColumn<StoredObject>('stored'),
    /** Sort keys: rows without a name sort last (a blob sorts after text), and rows without a size too. */
    nameKey: text('name_key').generatedAlwaysAs(sql`coalesce(name, x'')`, { mode: 'virtual' }),
    bytesKey: integer('bytes_key').generatedAlwaysAs(sql`coalesce(bytes, -1)`, { mode: 'virtual' }),
  },
  (table) => [
    index('instances_whose').on(table.id, table.tenant),
    index('instances_by_updated').on(table.tombstone, table.updated),
    index('instances_by_created').on(table.tombstone, table.created),
    index('instances_by_name').on(table.tombstone, table.nameKey),
    index('instances_by_bytes').on(table.tombstone, table.bytesKey),
    index('instances_by_tenant_updated').on(table.tenant, table.tombstone, table.updated),
    index('instances_by_tenant_created').on(table.tenant, table.tombstone, table.created),
    index('instances_by_tenant_name').on(table.tenant, table.tombstone, table.nameKey),
    index('instances_by_tenant_bytes').on(table.tenant, table.tombstone, table.bytesKey),
    index('instances_by_state_updated').on(table.state, table.updated),
    index('instances_by_tenant_state_updated').on(table.tenant, table.state, table.updated),
    index('instances_by_fault_updated').on(table.fault, table.updated).where(sql`fault is not null and tombstone = 0`),
    index('instances_by_fault_created').on(table.fault, table.created).where(sql`fault is not null and tombstone = 0`),
    index('instances_by_fault_name').on(table.fault, table.nameKey).where(sql`fault is not null and tombstone = 0`),
    index('instances_by_fault_bytes').on(table.fault, table.bytesKey).where(sql`fault is not null and tombstone = 0`),
    index('instances_by_host_updated')
      .on(table.ownerHost, table.updated)
      .where(sql`owner_host is not null and tombstone = 0`),
    uniqueIndex('instances_name_taken').on(table.tenant, table.name).where(sql`name is not null and tombstone = 0`),
    // All that a count by kind of move needs is in it; `pending` is null in all of it, and has to be there for the
    // index to be enough.
    index('instances_due')
      .on(table.dueAt, table.state, table.ephemeral, table.tenant, table.pending)
      .where(sql`due_at is not null and pending is null`),
    index('instances_by_tenant_due')
      .on(table.tenant, table.dueAt, table.state, table.ephemeral, table.pending)
      .where(sql`due_at is not null and pending is null`),
    index('instances_pending').on(table.id).where(sql`pending is not null`),
    index('instances_by_snapshot').on(table.lineageSnapshot, table.created).where(sql`lineage_snapshot is not null`),
    index('instances_by_blueprint').on(table.lineageBlueprint, table.created).where(sql`lineage_blueprint is not null`),
    index('instances_by_workbook')
      .on(table.tenant, table.workbook, table.workbookVersion)
      .where(sql`workbook is not null and tombstone = 0`),
    // What rests in a drawer on disk that a store may be below, and is not in it: what is to be uploaded, by tenant.
    index('instances_upload_due')
      .on(table.tenant, table.id, table.stateSince)
      .where(sql`vfs_path glob 'cold/*' or vfs_path glob 'archive/*'`),
    index('instances_in_store').on(table.id).where(sql`vfs_path glob 'cloud:*'`),
    index('instances_by_source').on(table.vfsPath).where(sql`state = 'created' and vfs_path is not null`),
  ],
);

/**
 * One row per label of a living instance, made from `instances.labels` by triggers, with the sort keys of its instance.
 * Its tenant and state are in the index by time, so that a list of a label within them reads no row of another.
 */
export const labels = sqliteTable(
  'labels',
  {
    instanceRow: integer('instance_row').notNull(),
    key: text('key').notNull(),
    value: text('value').notNull(),
    updated: integer('updated').notNull(),
    created: integer('created').notNull(),
    nameKey: blob('name_key').notNull(),
    bytesKey: integer('bytes_key').notNull(),
    tenant: text('tenant').notNull().default(''),
    state: text('state').$type<State>().notNull().default('created'),
  },
  (table) => [
    primaryKey({ columns: [table.instanceRow, table.key] }),
    index('labels_by_updated').on(table.key, table.value, table.updated, table.instanceRow, table.tenant, table.state),
    index('labels_by_created').on(table.key, table.value, table.created, table.instanceRow),
    index('labels_by_name').on(table.key, table.value, table.nameKey, table.instanceRow),
    index('labels_by_bytes').on(table.key, table.value, table.bytesKey, table.instanceRow),
  ],
);

/**
 * Bytes of the volumes of an instance's file, as measured after its last filing. Removed with the instance's tombstone.
 */
export const instanceVolumes = sqliteTable('instance_volumes', {
  instanceRow: integer('instance_row').primaryKey(),
  tenant: text('tenant').notNull(),
  workspace: integer('workspace').notNull(),
  memory: integer('memory').notNull(),
  tmp: integer('tmp').notNull(),
});
