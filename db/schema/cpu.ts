/** Processor time of tenants' sandboxes. */
import { integer, primaryKey, real, sqliteTable, text } from '../drizzle.ts';

/** Processor seconds that a tenant's processes took on a day (days since the epoch, UTC). */
export const cpuByDay = sqliteTable(
  'cpu_by_day',
  {
    tenant: text('tenant').notNull(),
    day: integer('day').notNull(),
    seconds: real('seconds').notNull(),
  },
  (table) => [primaryKey({ columns: [table.tenant, table.day] })],
);
