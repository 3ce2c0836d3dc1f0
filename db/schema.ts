/**
 * The registry's tables. Triggers, the text index and what keeps the counts are SQL that drizzle has no words for: they
 * are in db/migrations. Times are epoch seconds unless the name says milliseconds.
 *
 * `labels` and the text index point at instances by SQLite's own rowid. Rows are never removed and rowids are given out
 * as max + 1, so they are 1…n without gaps and even a VACUUM that renumbers them changes none.
 */
import type { State } from '../lib/lifecycle/states.ts';
import type { JobKind } from '../lib/lifecycle/verb-plan.ts';
import type { Fault, Source, Trigger, Via } from '../lib/lifecycle/words.ts';
import type { Ancestor, CopyContent } from '../lib/registry/copies.ts';
import type { JobOutcome, JobState } from '../lib/registry/jobs.ts';
import type { ShareMember } from '../lib/registry/shares.ts';
import type { FileRecord, Intent } from '../lib/registry/types.ts';
import { json } from './columns.ts';
import { blob, index, integer, primaryKey, real, sql, sqliteTable, text, uniqueIndex } from './drizzle.ts';

export * from './auth-schema.ts';

/** `false` as the first migration wrote it: of drizzle's own the next one would make the table anew. */
const NO = 0 as unknown as boolean;

export const instances = sqliteTable(
  'instances',
  {
    id: text('id').primaryKey().notNull(),
    tenant: text('tenant').notNull(),
    state: text('state').$type<State>().notNull(),
    vfsPath: text('vfs_path'),
    updated: integer('updated').notNull(),
    /** 1 exactly when the state is `deleted`: lists leave those out unless asked for them. */
    tombstone: integer('tombstone').notNull().default(0),
    /** The search words, lower-case, each after a space. */
    words: text('words').notNull().default(''),
    /** When the ladder or the ephemeral walk moves it; null when nothing does. */
    dueAt: integer('due_at'),
    name: text('name'),
    generation: integer('generation').notNull().default(0),
    fault: text('fault').$type<Fault>(),
    faultReason: text('fault_reason'),
    /** The intent under way. */
    pending: json<Intent>('pending'),
    created: integer('created').notNull(),
    stateSince: integer('state_since').notNull(),
    keepHot: integer('keep_hot', { mode: 'boolean' }).notNull().default(NO),
    holdUntil: integer('hold_until'),
    ephemeral: integer('ephemeral', { mode: 'boolean' }).notNull().default(NO),
    policy: text('policy').notNull(),
    idleToSuspendSeconds: integer('idle_to_suspend_s'),
    idleToFreezeSeconds: integer('idle_to_freeze_s'),
    bytes: integer('bytes'),
    workbook: text('workbook'),
    lineageBlueprint: text('lineage_blueprint'),
    lineageSnapshot: text('lineage_snapshot'),
    lineageParent: text('lineage_parent'),
    file: json<FileRecord>('file'),
    failures: integer('failures').notNull().default(0),
    /** The labels table is made from it. */
    labels: json<Record<string, string>>('labels').notNull().default({}),
    /**
     * Sort keys: what has no name comes after every name (a blob sorts after text), what has no size after every size.
     */
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
    uniqueIndex('instances_name_taken').on(table.tenant, table.name).where(sql`name is not null and tombstone = 0`),
    // All that a count by kind of move needs is in it; `pending` is null in all of it, and has to be there for the
    // index to be enough.
    index('instances_due')
      .on(table.dueAt, table.state, table.ephemeral, table.tenant, table.pending)
      .where(sql`due_at is not null and pending is null`),
    index('instances_pending').on(table.id).where(sql`pending is not null`),
    index('instances_by_snapshot').on(table.lineageSnapshot, table.created).where(sql`lineage_snapshot is not null`),
    index('instances_by_blueprint').on(table.lineageBlueprint, table.created).where(sql`lineage_blueprint is not null`),
    index('instances_by_source').on(table.vfsPath).where(sql`state = 'created' and vfs_path is not null`),
  ],
);

/**
 * One row per label of a living instance, made from `instances.labels` by triggers, with the sort keys of its instance.
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
  },
  (table) => [
    primaryKey({ columns: [table.instanceRow, table.key] }),
    index('labels_by_updated').on(table.key, table.value, table.updated, table.instanceRow),
    index('labels_by_created').on(table.key, table.value, table.created, table.instanceRow),
    index('labels_by_name').on(table.key, table.value, table.nameKey, table.instanceRow),
    index('labels_by_bytes').on(table.key, table.value, table.bytesKey, table.instanceRow),
  ],
);

/**
 * Bytes of the volumes of an instance's file, as weighed after it was last filed. Goes with the instance's tombstone.
 */
export const instanceVolumes = sqliteTable('instance_volumes', {
  instanceRow: integer('instance_row').primaryKey(),
  tenant: text('tenant').notNull(),
  workspace: integer('workspace').notNull(),
  memory: integer('memory').notNull(),
  tmp: integer('tmp').notNull(),
});

/** The sums of it by tenant, and of how many instances they are; kept by triggers. */
export const volumesByTenant = sqliteTable('volumes_by_tenant', {
  tenant: text('tenant').primaryKey().notNull(),
  instances: integer('instances').notNull(),
  workspace: integer('workspace').notNull(),
  memory: integer('memory').notNull(),
  tmp: integer('tmp').notNull(),
});

/** Counts of instances, kept by triggers. Those by fault and by label leave out what is deleted. */
export const countsByState = sqliteTable('counts_by_state', {
  state: text('state').$type<State>().primaryKey(),
  n: integer('n').notNull(),
});

export const countsByTenant = sqliteTable(
  'counts_by_tenant',
  {
    tenant: text('tenant').notNull(),
    state: text('state').$type<State>().notNull(),
    n: integer('n').notNull(),
    /** Of their files, as the rows know them. */
    bytes: integer('bytes').notNull().default(0),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.state] })],
);

export const countsByFault = sqliteTable('counts_by_fault', {
  fault: text('fault').$type<Fault>().primaryKey(),
  n: integer('n').notNull(),
});

export const countsByLabel = sqliteTable(
  'counts_by_label',
  { key: text('key').notNull(), value: text('value').notNull(), n: integer('n').notNull() },
  (table) => [primaryKey({ columns: [table.key, table.value] })],
);

/**
 * The ledger: append-only, which triggers hold; so no number is ever used again. Each line has the hash of itself and
 * of all before it.
 */
export const events = sqliteTable(
  'events',
  {
    seq: integer('seq').primaryKey(),
    timeMs: integer('time_ms').notNull(),
    instance: text('instance'),
    tenant: text('tenant'),
    type: text('type').notNull(),
    from: text('from').$type<State>(),
    to: text('to').$type<State>(),
    trigger: text('trigger').$type<Trigger>().notNull(),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    source: text('source').$type<Source>(),
    tookMs: real('took_ms'),
    reason: text('reason'),
    error: text('error'),
    requestId: text('request_id'),
    /** The peer's address, where a request had one. */
    address: text('address'),
    /** Lower-case hex. Null only before a line of an older file is chained. */
    hash: text('hash'),
    /**
     * JSON of the signed note that stands for its texts, once they were given up with their tenant; null while they are
     * there.
     */
    blanked: text('blanked'),
  },
  (table) => [
    index('events_blanked').on(table.seq).where(sql`blanked is not null`),
    index('events_by_time').on(table.timeMs),
    index('events_by_instance').on(table.instance, table.timeMs),
    index('events_by_tenant').on(table.tenant, table.timeMs),
    index('events_by_type').on(table.type, table.timeMs),
    index('events_by_actor').on(table.actor, table.timeMs),
    index('events_by_trigger').on(table.trigger, table.timeMs),
  ],
);

/**
 * A month of the ledger, sealed; it stays when its lines are dropped. Triggers let it be exported once and dropped
 * once, no more.
 */
export const ledgerSegments = sqliteTable('ledger_segments', {
  /** `2026-11`. */
  id: text('id').primaryKey().notNull(),
  firstSeq: integer('first_seq').notNull(),
  lastSeq: integer('last_seq').notNull(),
  lines: integer('lines').notNull(),
  /** The hash that the first line's is made with. */
  previousHash: text('previous_hash').notNull(),
  firstHash: text('first_hash').notNull(),
  lastHash: text('last_hash').notNull(),
  sealedMs: integer('sealed_ms').notNull(),
  /** The `did:key` of the signatures. */
  issuer: text('issuer').notNull(),
  signature: text('signature').notNull(),
  exportedMs: integer('exported_ms'),
  /** Set before the first of its lines is dropped. */
  droppedMs: integer('dropped_ms'),
  dropSignature: text('drop_signature'),
});

/** Small facts of the whole registry. */
export const settings = sqliteTable('settings', {
  key: text('key').primaryKey(),
  value: json<unknown>('value').notNull(),
  updated: integer('updated').notNull(),
});

/** What a tenant overrides; null falls through to the global value. A quota that is null does not bind. */
export const tenants = sqliteTable('tenants', {
  tenant: text('tenant').primaryKey(),
  idleToSuspendSeconds: integer('idle_to_suspend_s'),
  idleToFreezeSeconds: integer('idle_to_freeze_s'),
  maxSandboxes: integer('max_sandboxes'),
  maxActive: integer('max_active'),
  maxBytes: integer('max_bytes'),
});

/**
 * Tenants that are being forgotten, and that were. While one is not finished, triggers refuse whatever would be made
 * for its tenant, and let its shares go and its lines of the ledger give up their texts.
 */
export const forgettings = sqliteTable(
  'forgettings',
  {
    /** The id of the job that shows how far it is. */
    job: text('job').primaryKey().notNull(),
    tenant: text('tenant').notNull(),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    started: integer('started').notNull(),
    finished: integer('finished'),
    /** What its later steps need to know of what its earlier ones remove: ids alone; null at the end. */
    about: json<{ actors: string[]; jobs: string[] }>('about'),
  },
  (table) => [
    uniqueIndex('forgettings_open').on(table.tenant).where(sql`finished is null`),
    index('forgettings_by_tenant').on(table.tenant, table.started),
  ],
);

/** Something to be done to many instances. Which ones was decided when it was made and is in `job_pages`. */
export const jobs = sqliteTable(
  'jobs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    verb: text('verb').$type<JobKind>().notNull(),
    reason: text('reason'),
    /** Key to value, or to null for one that goes. */
    labels: json<Record<string, string | null>>('labels'),
    /** What was asked for, as it was asked. */
    asked: json<unknown>('asked').notNull(),
    /** The tenants that it may concern; null: all. */
    tenants: json<string[]>('tenants'),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    address: text('address'),
    state: text('state').$type<JobState>().notNull(),
    created: integer('created').notNull(),
    finished: integer('finished'),
    /** How many were chosen, and what became of them so far. */
    chosen: integer('chosen').notNull(),
    done: integer('done').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    skipped: integer('skipped').notNull().default(0),
  },
  (table) => [
    uniqueIndex('jobs_by_id').on(table.id),
    index('jobs_running').on(table.seq).where(sql`state = 'running'`),
  ],
);

/**
 * The instances of a job in their order, a thousand to a page: rowids of `instances`, four little-endian bytes each; 0
 * for an unknown id.
 */
export const jobPages = sqliteTable(
  'job_pages',
  {
    job: integer('job').notNull(),
    page: integer('page').notNull(),
    rows: blob('rows', { mode: 'buffer' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.job, table.page] })],
);

/** What became of each instance of a job, by its place in the job. */
export const jobResults = sqliteTable(
  'job_results',
  {
    job: integer('job').notNull(),
    position: integer('position').notNull(),
    outcome: text('outcome').$type<JobOutcome>().notNull(),
    reason: text('reason'),
    timeMs: integer('time_ms').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.job, table.position] }),
    index('job_results_by_outcome').on(table.job, table.outcome, table.position).where(sql`outcome <> 'done'`),
  ],
);

/** How long wakes took: a histogram for each day (days since the epoch), path and source. */
export const wakeTimes = sqliteTable(
  'wake_times',
  {
    day: integer('day').notNull(),
    path: text('path').$type<'warm' | 'cold'>().notNull(),
    /** Empty for a warm one. */
    source: text('source').$type<Source | ''>().notNull(),
    /** Upper bound of the bucket in milliseconds; 0 for what is above every bound. */
    boundMs: real('bound_ms').notNull(),
    n: integer('n').notNull(),
    sumMs: real('sum_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.path, table.source, table.boundMs] })],
);

/** What left in bundles: one row per bundle, written before its first byte was sent, never changed. */
export const shares = sqliteTable(
  'shares',
  {
    seq: integer('seq').primaryKey(),
    /** The id in the bundle's manifest. */
    id: text('id').notNull(),
    instance: text('instance').notNull(),
    tenant: text('tenant').notNull(),
    format: text('format').notNull(),
    volumes: json<string[]>('volumes').notNull(),
    privateIncluded: integer('private_included', { mode: 'boolean' }).notNull(),
    /** The `did:key` that signed; null when it is not signed. */
    issuer: text('issuer'),
    /** Each member by its name. */
    members: json<Record<string, ShareMember>>('members').notNull(),
    /** Lower-case hex: of `vfs.sqlite`, and of the whole bundle. */
    diskSha256: text('disk_sha256').notNull(),
    sha256: text('sha256').notNull(),
    bytes: integer('bytes').notNull(),
    created: integer('created').notNull(),
    actor: text('actor').notNull(),
    requestId: text('request_id'),
  },
  (table) => [
    uniqueIndex('shares_by_id').on(table.id),
    index('shares_by_tenant').on(table.tenant, table.seq),
    index('shares_by_instance').on(table.instance, table.seq),
    index('shares_by_sha256').on(table.sha256),
    index('shares_by_disk').on(table.diskSha256),
  ],
);

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
    source: text('source').notNull(),
    tag: text('tag'),
    /** Lower-case hex SHA-256 of the file; equal content is one file. */
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    volumes: json<CopyContent['volumes']>('volumes').notNull(),
    file: json<FileRecord>('file').notNull(),
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
    source: text('source'),
    hash: text('hash').notNull(),
    bytes: integer('bytes').notNull(),
    volumes: json<CopyContent['volumes']>('volumes').notNull(),
    file: json<FileRecord>('file').notNull(),
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
  ids: json<string[]>('ids').notNull(),
  /** The snapshot or blueprint that they are made from. */
  origin: json<Ancestor>('origin').notNull(),
  /** Who asked for it. */
  cause: json<unknown>('cause').notNull(),
});
