/**
 * Runs in the registry's file: a row is written before anything of the run is done, and once more at its end. A trigger
 * removes those of a deleted instance. Knows nothing of processes or output.
 */
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  isNotNull,
  isNull,
  lt,
  or,
  placeholder,
} from '../../../db/drizzle.ts';
import { instances, runs } from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { RunRow, RunStore } from '../runs.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

const { seq, ownerHost, ownerToken, ...RUN } = getTableColumns(runs);
const { id: _, instance: _2, tenant: _3, language: _4, command: _5, ...REST } = RUN;
const { cwd: _6, terminal: _7, createdMs: _8, actor: _9, ...ENDED } = REST;

/** What has not happened yet. */
const UNDER_WAY = {
  ending: null,
  startedMs: null,
  endedMs: null,
  exitCode: null,
  tookMs: null,
  timedOut: false,
  reason: null,
  woke: null,
  outputBytes: 0,
} as const;

export function openRuns(database: RegistryDatabase, ledger: LedgerTable): SyncMethods<RunStore> {
  const byId = eq(runs.id, placeholder('id'));
  const isUnderWay = isNull(runs.endedMs);
  const ofInstance = eq(runs.instance, placeholder('instance'));
  const insert = database.statement((queries) =>
    queries
      .insert(runs)
      .values(boundColumns({ ...RUN, ownerHost }))
      .prepare(),
  );
  const update = database.statement((queries) =>
    queries.update(runs).set(boundColumns(ENDED)).where(and(byId, isUnderWay)).prepare(),
  );
  const begin = database.statement((queries) =>
    queries
      .update(runs)
      .set(boundColumns({ startedMs: RUN.startedMs }))
      .where(and(byId, isUnderWay))
      .prepare(),
  );
  const get = database.statement((queries) => queries.select(RUN).from(runs).where(and(byId, ofInstance)).prepare());
  const list = database.statement((queries) =>
    queries
      .select({ ...RUN, seq })
      .from(runs)
      .where(and(ofInstance, lt(seq, placeholder('seq'))))
      .orderBy(desc(seq))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const underWay = database.statement((queries) =>
    queries.select(RUN).from(runs).where(isUnderWay).orderBy(asc(seq)).limit(placeholder('limit')).prepare(),
  );
  const underWayOf = database.statement((queries) =>
    queries
      .select(RUN)
      .from(runs)
      .where(and(isUnderWay, or(isNull(ownerHost), eq(ownerHost, placeholder('host')))))
      .orderBy(asc(seq))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const countOf = database.statement((queries) =>
    queries.select({ n: count() }).from(runs).where(and(ofInstance, isUnderWay)).prepare(),
  );
  const countOfTenant = database.statement((queries) =>
    queries
      .select({ n: count() })
      .from(runs)
      .where(and(eq(runs.tenant, placeholder('tenant')), isUnderWay))
      .prepare(),
  );
  /** The newest of those that are too many. */
  const surplus = database.statement((queries) =>
    queries
      .select({ seq })
      .from(runs)
      .where(and(ofInstance, isNotNull(runs.endedMs)))
      .orderBy(desc(seq))
      .limit(1)
      .offset(placeholder('keep'))
      .prepare(),
  );
  const removeOlder = database.statement((queries) =>
    queries
      .delete(runs)
      .where(and(ofInstance, isNotNull(runs.endedMs), lt(seq, placeholder('seq'))))
      .prepare(),
  );
  const stateOf = database.statement((queries) =>
    queries
      .select({ state: instances.state })
      .from(instances)
      .where(eq(instances.id, placeholder('instance')))
      .prepare(),
  );

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
        const row: RunRow = { ...run, ...UNDER_WAY };
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
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isPosition);
      const found = list().all({ instance, seq: before, limit: limit + 1 });
      const last = found.length > limit ? found[limit - 1] : undefined;
      return {
        rows: found.slice(0, limit).map(({ seq: _, ...row }) => row),
        next: last === undefined ? null : writeCursor([last.seq]),
      };
    },
    underWay: (limit, host) => (host === undefined ? underWay().all({ limit }) : underWayOf().all({ limit, host })),
  };
}

function isPosition(position: unknown[]): position is [number] {
  return position.length === 1 && Number.isSafeInteger(position[0]);
}

function tooManyRuns(who: string, limit: number, used: number, setting: 'SANDBOX' | 'TENANT'): WinterdockError {
  return new WinterdockError('quota_exceeded', `${who} may have ${limit} runs at the same time, and has that many.`, {
    hint: `Wait for one to end, stop one, or raise WB_RUNS_PER_${setting}.`,
    extra: { quota: `runs_per_${setting.toLowerCase()}`, limit, used },
  });
}
