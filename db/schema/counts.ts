/** Counts of instances and sums of their volumes. Triggers (db/migrations) keep them; nothing else writes them. */
import type { State } from '../../lib/lifecycle/state-map.ts';
import type { Fault } from '../../lib/lifecycle/words.ts';
import { integer, primaryKey, sqliteTable, text } from '../drizzle.ts';

/** Counts of instances, kept by triggers. Counts by fault and by label leave out deleted instances. */
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
    /** Bytes of their files, from the rows. */
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

/** The sums by tenant, and the number of measured instances; kept by triggers. */
export const volumesByTenant = sqliteTable('volumes_by_tenant', {
  tenant: text('tenant').primaryKey().notNull(),
  instances: integer('instances').notNull(),
  workspace: integer('workspace').notNull(),
  memory: integer('memory').notNull(),
  tmp: integer('tmp').notNull(),
});
