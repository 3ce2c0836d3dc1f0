/** Processor time of tenants by day. */
import type { CpuUseStore } from '../cpu-use.ts';
import { cpuUseStatements } from '../statements/cpu-use.ts';
import type { PostgresDatabase } from './database.ts';

export function openCpuUse(database: PostgresDatabase): CpuUseStore {
  const { used, limited, forget } = database.with(cpuUseStatements);
  return {
    of: async (tenant, day) => (await used().get({ tenant, day }))?.seconds ?? 0,
    limited: async (day) =>
      (await limited().all({ day })).flatMap(({ tenant, limit, used }) =>
        limit === null ? [] : [{ tenant, limit, used: used ?? 0 }],
      ),
    async deleteBefore(before) {
      await forget().run({ before });
    },
  };
}
