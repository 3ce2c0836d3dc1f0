/**
 * Schedules and the history of their runs. Every change compares and sets a schedule's revision, so a firing and an
 * edit never overwrite each other. Triggers let the schedules of an archived instance rest and remove those of a
 * deleted one. Knows nothing of cron or of clocks.
 */
import { WinterdockError } from '../../base/errors.ts';
import type { ClaimTicket } from '../claims.ts';
import { isNumberPosition, pageByNumber, readCursor } from '../cursor.ts';
import { armedSchedule, givenOf, newSchedule, newScheduleRun } from '../new-rows.ts';
import { requireScheduleLimit } from '../registry-errors.ts';
import {
  type NewRun,
  type NewSchedule,
  type PassedOver,
  type ScheduleArming,
  type ScheduleLimits,
  type ScheduleRow,
  type ScheduleRunRow,
  type ScheduleSettings,
  type ScheduleStore,
  SPREAD_ABOVE,
} from '../schedules.ts';
import { scheduleStatements } from '../statements/schedules.ts';
import type { LedgerEntry } from '../types.ts';
import type { ClaimTable } from './claims.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { ScheduleAllowanceCheck } from './schedule-allowance.ts';
import type { SyncMethods } from './to-async.ts';

/** `runsKept`: runs that each schedule keeps. */
export function openSchedules(
  database: RegistryDatabase,
  ledger: LedgerTable,
  claims: ClaimTable,
  room: ScheduleAllowanceCheck,
  runsKept: number,
): SyncMethods<ScheduleStore> {
  const statements = scheduleStatements(database);

  /** Runs `work` and appends the line in one transaction. Without a result nothing is written. */
  const logged = <T>(entry: LedgerEntry | null, work: () => T | null): T | null => {
    const [result, lines] = database.write(() => {
      const done = work();
      return [done, done === null || entry === null ? [] : ledger.append([entry])] as const;
    });
    ledger.announce(lines);
    return result;
  };
  const get = (id: string): ScheduleRow | null => statements.get().get({ id }) ?? null;
  /** The schedule, if it is as the caller has read it. */
  const asRead = ({ id, revision }: Pick<ScheduleRow, 'id' | 'revision'>): ScheduleRow | null => {
    const row = get(id);
    return row !== null && row.revision === revision ? row : null;
  };
  /** The times of a schedule that may be paused, resting or running. */
  const armed = (row: ScheduleRow, arming: ScheduleArming): ScheduleRow => {
    const { nextAt } = arming;
    const others = nextAt === null ? [] : statements.dueAt().all({ nextAt, limit: SPREAD_ABOVE + 1 });
    return armedSchedule(row, arming, others);
  };
  const update = (row: ScheduleRow): ScheduleRow => {
    const after = { ...row, revision: row.revision + 1 };
    statements.update().run({ ...after });
    return after;
  };
  const insert = (schedule: NewSchedule, arming: ScheduleArming, limits: ScheduleLimits): ScheduleRow => {
    const state = statements.stateOf().get({ instance: schedule.instance })?.state;
    if (state === undefined || state === 'deleted') {
      throw new WinterdockError('gone', `The sandbox "${schedule.instance}" was deleted.`);
    }
    const { instance, tenant, source } = schedule;
    const ofInstance = statements.ofInstance().get({ instance })?.n ?? 0;
    requireScheduleLimit({ instance }, limits, ofInstance, 1);
    const used = room.usedBy(tenant, source === 'workbook' ? instance : '');
    requireScheduleLimit({ tenant }, limits, used, 1);
    const row = armed(newSchedule(schedule, state), arming);
    statements.insert().run({ ...row });
    return row;
  };
  const change = (row: ScheduleRow, patch: Partial<ScheduleSettings>, arming: ScheduleArming | null): ScheduleRow => {
    const changed: ScheduleRow = { ...row, ...givenOf(patch) };
    return update(arming === null ? changed : armed({ ...changed, failures: 0, fault: null }, arming));
  };
  const insertRun = (
    run: NewRun,
    ended: Partial<ScheduleRunRow> = {},
    by: Pick<ClaimTicket, 'host' | 'token'> | null = null,
  ) => {
    const row = newScheduleRun(run, ended);
    statements.insertRun().run({ ...row, ownerHost: by?.host ?? null, ownerToken: by?.token ?? null });
    const surplus = statements.surplusRun().get({ schedule: run.schedule, keep: runsKept });
    if (surplus !== undefined) statements.removeRuns().run({ schedule: run.schedule, seq: surplus.seq });
  };

  const insertPassedOver = ({ error, ...run }: PassedOver) => insertRun(run, { result: 'skipped', error, tookMs: 0 });

  return {
    add(schedule, arming, limits, entry) {
      const row = logged(entry, () => insert(schedule, arming, limits));
      if (row === null) throw new Error('A schedule was not stored.');
      return row;
    },
    get,
    getOf: (instance, id) => statements.getOf().get({ instance, id }) ?? null,
    list(instance, limit, cursor) {
      const [after] = cursor === undefined ? [0] : readCursor(cursor, isNumberPosition);
      const found = statements.list().all({ instance, seq: after, limit: limit + 1 });
      return pageByNumber(found, limit);
    },
    usedBy: (tenant) => room.usedBy(tenant),
    declared: (instance) => statements.declared().all({ instance }),
    change: (read, patch, arming, entry) =>
      logged(entry, () => {
        const row = asRead(read);
        return row === null ? null : change(row, patch, arming);
      }),
    remove: (id, entry) => logged(entry, () => (statements.remove().run({ id }).changes === 1 ? true : null)) ?? false,
    synchronise(changes, limits, entry) {
      logged(entry, () => {
        for (const id of changes.remove) statements.remove().run({ id });
        for (const { read, patch, arming } of changes.change) {
          const row = asRead(read) ?? get(read.id);
          if (row !== null) change(row, patch, arming);
        }
        for (const { schedule, arming } of changes.add) insert(schedule, arming, limits);
        return true;
      });
    },

    unsynchronised: (limit) =>
      statements
        .unsynchronised()
        .all({ limit })
        .map(({ instance }) => instance),
    markSynchronised: ({ id, workbook, workbookVersion }) =>
      database.write(() => {
        const now = statements.dockedTo().get({ id });
        const isSame = now?.workbook === workbook && now.workbookVersion === workbookVersion;
        if (isSame || now === undefined) statements.removeSync().run({ id });
      }),

    due: (now, limit, host) =>
      host === undefined ? statements.due().all({ now, limit }) : statements.dueOf().all({ now, limit, host }),
    earliest: (host) =>
      (host === undefined ? statements.earliest().get() : statements.earliestOf().get({ host }))?.fireAt ?? null,
    armed: (seq, limit) => statements.armed().all({ seq, limit }),
    arm: (read, arming) =>
      database.write(() => {
        const row = asRead(read);
        if (row === null) return false;
        update(armed(row, arming));
        return true;
      }),
    beginRun: (read, run, claim) =>
      database.write(() => {
        const row = asRead(read);
        if (row === null || row.run !== null || !claims.take(claim)) return false;
        update({ ...row, run: run.id, fireAt: null });
        insertRun(run, {}, claim);
        return true;
      }),
    endRun(read, run, { at, failures, fault, ...outcome }, arming, entry, claim, passedOver) {
      let isLost = false;
      const done = logged(entry, () => {
        const row = get(read.id);
        if (row !== null && row.run === run && row.revision !== read.revision) return null;
        isLost = !claims.give(claim);
        if (isLost) return null;
        if (row === null || row.run !== run) return true;
        const { result, tookMs } = outcome;
        const ended = { ...row, run: null, lastAt: at, lastResult: result, lastTookMs: tookMs, failures, fault };
        update(armed(ended, arming));
        statements.endRun().run({ ...outcome, id: run });
        if (passedOver !== undefined) insertPassedOver(passedOver);
        return true;
      });
      return done !== null ? 'ended' : isLost ? 'lost' : 'changed';
    },
    passOver: (read, passed, arming, entry) =>
      logged(entry, () => {
        const row = asRead(read);
        if (row === null || row.run !== null) return null;
        update(armed({ ...row, lastResult: 'skipped' }, arming));
        insertPassedOver(passed);
        return true;
      }) ?? false,
    interrupted: () =>
      statements
        .interrupted()
        .all()
        .map((schedule) => ({ schedule, run: statements.getRun().get({ id: schedule.run }) ?? null })),
    failing: (least, limit) => statements.failing().all({ least, limit }),
    getRun: (id) => statements.getRun().get({ id }) ?? null,
    runs(schedule, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageByNumber(statements.runs().all({ schedule, seq: before, limit: limit + 1 }), limit);
    },
    counts(now) {
      return {
        armed: statements.countArmed().get()?.n ?? 0,
        due: statements.countDue().get({ now })?.n ?? 0,
        running: statements.countRunning().get()?.n ?? 0,
        failing: statements.countFailing().get()?.n ?? 0,
        resting: statements.countResting().get()?.n ?? 0,
      };
    },
  };
}
