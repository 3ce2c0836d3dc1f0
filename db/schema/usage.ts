/** Usage by the hour (hours since the epoch, in UTC): of sandboxes, of tenants, and of the whole server. */
import { integer, sqliteTable, text, uniqueIndex } from '../drizzle.ts';

/** An hour in which a sandbox did something. Rows are numbered in the order of their hours; the oldest go first. */
export const sandboxHours = sqliteTable(
  'sandbox_hours',
  {
    seq: integer('seq').primaryKey(),
    /** SQLite's own row number of the instance. */
    instanceRow: integer('instance_row').notNull(),
    hour: integer('hour').notNull(),
    cpuMs: integer('cpu_ms').notNull(),
    calls: integer('calls').notNull(),
    /** The most private memory that its process had when it was measured; 0 when it was not. */
    memoryBytes: integer('memory_bytes').notNull(),
    /** Of its file, when the row was last written; null when it had none. */
    bytes: integer('bytes'),
  },
  (table) => [uniqueIndex('sandbox_hours_of').on(table.instanceRow, table.hour)],
);

/**
 * An hour in which a sandbox of a tenant did something; the empty tenant is the whole server. What comes from the
 * ledger is counted later than the rest, each line once.
 */
export const tenantHours = sqliteTable(
  'tenant_hours',
  {
    seq: integer('seq').primaryKey(),
    tenant: text('tenant').notNull(),
    hour: integer('hour').notNull(),
    cpuMs: integer('cpu_ms').notNull().default(0),
    calls: integer('calls').notNull().default(0),
    /** The most memory of all its processes together, as last measured. */
    memoryBytes: integer('memory_bytes').notNull().default(0),
    /** Of all its files, when the row was last written. */
    bytes: integer('bytes').notNull().default(0),
    /** From the ledger: processes started, faults raised. */
    wakes: integer('wakes').notNull().default(0),
    faults: integer('faults').notNull().default(0),
    /** From the ledger: how many more sandboxes are active at the end of the hour than at its beginning. */
    activeChange: integer('active_change').notNull().default(0),
    /** What these changes add to the hour's active time: each counts from its moment to the end of the hour. */
    activeMs: integer('active_ms').notNull().default(0),
  },
  (table) => [uniqueIndex('tenant_hours_of').on(table.tenant, table.hour)],
);
