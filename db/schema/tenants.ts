/** Tenants' overrides, tenants that are being forgotten, and the settings of the whole registry. */
import type { Via } from '../../lib/lifecycle/words.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** A tenant's overrides; null falls back to the global value. A null quota is no limit. */
export const tenants = sqliteTable(
  'tenants',
  {
    tenant: text('tenant').primaryKey(),
    hotToWarmSeconds: integer('hot_to_warm_s'),
    idleToSuspendSeconds: integer('idle_to_suspend_s'),
    idleToFreezeSeconds: integer('idle_to_freeze_s'),
    maxSandboxes: integer('max_sandboxes'),
    maxActive: integer('max_active'),
    maxBytes: integer('max_bytes'),
    maxDailyCpuSeconds: integer('max_daily_cpu_s'),
    /** The longest time of a run; null: the server's. */
    maxRunSeconds: integer('max_run_s'),
    /** The longest time that a call may ask for; null: its policy's. */
    maxCallSeconds: integer('max_call_s'),
    /** What is promised of the replicas of its sandboxes; null: what the server promises. */
    replicate: text('replicate'),
  },
  (table) => [index('tenants_with_replicate').on(table.tenant, table.replicate).where(sql`replicate is not null`)],
);

/**
 * Tenants that are being or were forgotten. While a forgetting is open, triggers refuse new rows for its tenant, and
 * allow the removal of its shares and of the texts of its ledger lines.
 */
export const tenantForgettings = sqliteTable(
  'forgettings',
  {
    /** The id of the job that shows its progress. */
    job: text('job').primaryKey().notNull(),
    tenant: text('tenant').notNull(),
    actor: text('actor').notNull(),
    via: text('via').$type<Via>().notNull(),
    started: integer('started').notNull(),
    finished: integer('finished'),
    /** Ids of removed people and jobs that later steps need; null at the end. */
    forgottenIds: jsonColumn<{ actors: string[]; jobs: string[] }>('about'),
  },
  (table) => [
    uniqueIndex('forgettings_open').on(table.tenant).where(sql`finished is null`),
    index('forgettings_by_tenant').on(table.tenant, table.started),
  ],
);

/** Small facts of the whole registry. */
export const settings = sqliteTable('settings', {
  key: text('key').primaryKey(),
  value: jsonColumn<unknown>('value').notNull(),
  updated: integer('updated').notNull(),
});
