/** Every table of the registry: what drizzle-kit reads to write a migration, and the driver to build its queries. */
export * from './schema/access.ts';
export * from './schema/copies.ts';
export * from './schema/counts.ts';
export * from './schema/cpu.ts';
export * from './schema/guests.ts';
export * from './schema/instances.ts';
export * from './schema/jobs.ts';
export * from './schema/ledger.ts';
export * from './schema/network.ts';
export * from './schema/runs.ts';
export * from './schema/schedules.ts';
export * from './schema/shares.ts';
export * from './schema/tenants.ts';
export * from './schema/usage.ts';
export * from './schema/wake-times.ts';
export * from './schema/webhooks.ts';
export * from './schema/workbooks.ts';
