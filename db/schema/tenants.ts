/** What a tenant overrides, tenants that are being forgotten, and the settings of the whole registry. */
import type { Via } from '../../lib/lifecycle/words.ts';
import { jsonColumn } from '../columns.ts';
import { index, integer, sql, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

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
export const tenantForgettings = sqliteTable(
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
