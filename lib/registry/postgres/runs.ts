/**
 * Runs: a row is written before anything of the run is done, and once more at its end. A trigger
 * removes those of a deleted instance. Knows nothing of processes or output.
 */

import { WinterdockError } from '../../base/errors.ts';
import { isNumberPosition, pageByNumber, readCursor } from '../cursor.ts';
import { newRun } from '../new-rows.ts';
import { tooManyRuns } from '../registry-errors.ts';
import type { RunStore } from '../runs.ts';
import { runStatements } from '../statements/runs.ts';
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export function openRuns(database: PostgresDatabase, ledger: LedgerTable): RunStore {
  const {
    insert,
    update,
    begin,
    get,
    list,
    underWay,
    underWayOf,
    countOf,
    countOfTenant,
    surplus,
    removeOlder,
    stateOf,
  } = database.with(runStatements);
  return {
    add: async (run, { perSandbox, perTenant, keptPerSandbox }, host) =>
      await database.write(async () => {
        const { instance, tenant } = run;
        const state = (await stateOf().get({ instance }))?.state;
        if (state === undefined || state === 'deleted') {
          throw new WinterdockError('gone', `The sandbox "${instance}" was deleted.`);
        }
        const used = (await countOf().get({ instance }))?.n ?? 0;
        if (used >= perSandbox) throw tooManyRuns(`The sandbox "${instance}"`, perSandbox, used, 'SANDBOX');
        const usedByTenant = (await countOfTenant().get({ tenant }))?.n ?? 0;
        if (usedByTenant >= perTenant) throw tooManyRuns(`The tenant "${tenant}"`, perTenant, usedByTenant, 'TENANT');
        const row = newRun(run);
        await insert().run({ ...row, ownerHost: host ?? null });
        const oldest = await surplus().get({ instance, keep: keptPerSandbox });
        if (oldest !== undefined) await removeOlder().run({ instance, seq: oldest.seq + 1 });
        return row;
      }),
    async begun(id, startedMs) {
      await database.write(async () => await begin().run({ id, startedMs }));
    },
    async end(id, ended, entries) {
      await ledger.recorded(entries, async () => (await update().run({ ...ended, id })).changes === 1);
    },
    get: async (instance, id) => (await get().get({ instance, id })) ?? null,
    async list(instance, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageByNumber(await list().all({ instance, seq: before, limit: limit + 1 }), limit);
    },
    underWay: async (limit, host) =>
      host === undefined ? await underWay().all({ limit }) : await underWayOf().all({ limit, host }),
  };
}
