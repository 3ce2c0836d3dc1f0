/** The operations about damaged files over the real engine: contract input in, contract objects out. */
import type { Clock } from '../base/clock.ts';
import { newId } from '../base/ids.ts';
import type { Repairs } from '../copies/repairs.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { causeOf } from './audit-context.ts';
import type { RepairsOperations } from './interfaces/repairs.ts';
import { showing } from './showing.ts';

/** Makes them. */
export function repairsOperations(parts: {
  registry: Registry;
  sessions: Pick<Sessions, 'live'>;
  clock: Clock;
  repairs: Repairs;
}): RepairsOperations {
  const { repairs } = parts;
  const { show } = showing(parts);
  return {
    raw: (caller, id, { part, reason }, signal) => repairs.raw(id, part, causeOf(caller, reason), signal),
    async salvage(caller, id, { id: own, name, reason }, signal) {
      const made = { id: own ?? newId('sb'), name: name ?? null };
      const { row, salvaged } = await repairs.salvage(id, made, causeOf(caller, reason), signal);
      return {
        instance: await show(row),
        recovered: salvaged.recovered,
        recovered_bytes: salvaged.recoveredBytes,
        lost: salvaged.lost,
        lost_count: salvaged.lostCount,
        list: salvaged.list,
      };
    },
    restoreInstance: async (caller, id, { snapshot, reason }) =>
      show(await repairs.restore(id, snapshot, causeOf(caller, reason))),
  };
}
