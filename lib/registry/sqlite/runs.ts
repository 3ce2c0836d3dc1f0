/**
 * Runs in the registry's file: a row is written before anything of the run is done, and once more at its end. A trigger
 * removes those of a deleted instance. Knows nothing of processes or output.
 */

import { WinterdockError } from '../../base/errors.ts';
import { isNumberPosition, pageByNumber, readCursor } from '../cursor.ts';
import { newRun } from '../new-rows.ts';
import { tooManyRuns } from '../registry-errors.ts';
import type { RunStore } from '../runs.ts';
import { runStatements } from '../statements/runs.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export function openRuns(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<RunStore> {
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
  } = runStatements(database);
  return {
    add: (run, { perSandbox, perTenant, keptPerSandbox }, host) =>
      database.write(() => {
        const { instance, tenant } = run;
        const state = stateOf().get({ instance })?.state;
        if (state === undefined || state === 'deleted') {
          throw new WinterdockError('gone', `The sandbox "${instance}" was deleted.`);
        }
        const used = countOf().get({ instance })?.n ?? 0;
        if (used >= perSandbox) throw tooManyRuns(`The sandbox "${instance}"`, perSandbox, used, 'SANDBOX');
        const usedByTenant = countOfTenant().get({ tenant })?.n ?? 0;
        if (usedByTenant >= perTenant) throw tooManyRuns(`The tenant "${tenant}"`, perTenant, usedByTenant, 'TENANT');
        const row = newRun(run);
        insert().run({ ...row, ownerHost: host ?? null });
        const oldest = surplus().get({ instance, keep: keptPerSandbox });
        if (oldest !== undefined) removeOlder().run({ instance, seq: oldest.seq + 1 });
        return row;
      }),
    begun(id, startedMs) {
      database.write(() => begin().run({ id, startedMs }));
    },
    end(id, ended, entries) {
      const lines = database.write(() =>
        update().run({ ...ended, id }).changes === 1 ? ledger.append(entries) : ledger.append([]),
      );
      ledger.announce(lines);
    },
    get: (instance, id) => get().get({ instance, id }) ?? null,
    list(instance, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageByNumber(list().all({ instance, seq: before, limit: limit + 1 }), limit);
    },
    underWay: (limit, host) => (host === undefined ? underWay().all({ limit }) : underWayOf().all({ limit, host })),
  };
}
