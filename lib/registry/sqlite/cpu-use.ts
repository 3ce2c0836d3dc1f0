/** Processor time of tenants by day, in the registry's file. */
import { and, eq, getTableColumns, isNotNull, lt, placeholder } from '../../../db/drizzle.ts';
import { cpuByDay, tenants } from '../../../db/schema.ts';
import type { CpuUseStore } from '../cpu-use.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { plusBound } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** The statement that adds to the seconds of a tenant's day; a trigger ignores tenants that are being forgotten. */
export function cpuDays(database: RegistryDatabase) {
  const { tenant, day, seconds } = getTableColumns(cpuByDay);
  return database.statement((queries) =>
    queries
      .insert(cpuByDay)
      .values(boundColumns(getTableColumns(cpuByDay)))
      .onConflictDoUpdate({ target: [tenant, day], set: { seconds: plusBound(seconds, 'seconds') } })
      .prepare(),
  );
}

export function openCpuUse(database: RegistryDatabase): SyncMethods<CpuUseStore> {
  const { tenant, day, seconds } = getTableColumns(cpuByDay);
  const used = database.statement((queries) =>
    queries
      .select({ seconds })
      .from(cpuByDay)
      .where(and(eq(tenant, placeholder('tenant')), eq(day, placeholder('day'))))
      .prepare(),
  );
  const limited = database.statement((queries) =>
    queries
      .select({ tenant: tenants.tenant, limit: tenants.maxDailyCpuSeconds, used: seconds })
      .from(tenants)
      .leftJoin(cpuByDay, and(eq(tenant, tenants.tenant), eq(day, placeholder('day'))))
      .where(isNotNull(tenants.maxDailyCpuSeconds))
      .prepare(),
  );
  const forget = database.statement((queries) =>
    queries
      .delete(cpuByDay)
      .where(lt(day, placeholder('before')))
      .prepare(),
  );
  return {
    of: (tenant, day) => used().get({ tenant, day })?.seconds ?? 0,
    limited: (day) =>
      limited()
        .all({ day })
        .flatMap(({ tenant, limit, used }) => (limit === null ? [] : [{ tenant, limit, used: used ?? 0 }])),
    deleteBefore(before) {
      database.write(() => {
        forget().run({ before });
      });
    },
  };
}
