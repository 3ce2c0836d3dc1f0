/** Processor time of tenants by day, in the registry's file. */
import type { CpuUseStore } from '../cpu-use.ts';
import { cpuUseStatements } from '../statements/cpu-use.ts';
import type { RegistryDatabase } from './database.ts';
import type { SyncMethods } from './to-async.ts';

export function openCpuUse(database: RegistryDatabase): SyncMethods<CpuUseStore> {
  const { used, limited, forget } = cpuUseStatements(database);
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
