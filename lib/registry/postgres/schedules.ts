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
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { ScheduleAllowanceCheck } from './schedule-allowance.ts';

/** `runsKept`: runs that each schedule keeps. */
export function openSchedules(
  database: PostgresDatabase,
  ledger: LedgerTable,
  claims: ClaimTable,
  room: ScheduleAllowanceCheck,
  runsKept: number,
): ScheduleStore {
  const statements = database.with(scheduleStatements);

  /** Runs `work` and appends the line, where there is one, in one transaction. */
  const recorded = <T>(entry: LedgerEntry | null, work: () => Promise<T>): Promise<T> =>
    ledger.recorded(entry === null ? [] : [entry], work);
  const get = async (id: string): Promise<ScheduleRow | null> => (await statements.get().get({ id })) ?? null;
  /** The schedule, if it is as the caller has read it. */
  const asRead = async ({ id, revision }: Pick<ScheduleRow, 'id' | 'revision'>): Promise<ScheduleRow | null> => {
    const row = await get(id);
    return row !== null && row.revision === revision ? row : null;
  };
  /** The times of a schedule that may be paused, resting or running. */
  const armed = async (row: ScheduleRow, arming: ScheduleArming): Promise<ScheduleRow> => {
    const { nextAt } = arming;
    const others = nextAt === null ? [] : await statements.dueAt().all({ nextAt, limit: SPREAD_ABOVE + 1 });
    return armedSchedule(row, arming, others);
  };
  const update = async (row: ScheduleRow): Promise<ScheduleRow> => {
    const after = { ...row, revision: row.revision + 1 };
    await statements.update().run({ ...after });
    return after;
  };
  const insert = async (
    schedule: NewSchedule,
    arming: ScheduleArming,
    limits: ScheduleLimits,
  ): Promise<ScheduleRow> => {
    const state = (await statements.stateOf().get({ instance: schedule.instance }))?.state;
    if (state === undefined || state === 'deleted') {
      throw new WinterdockError('gone', `The sandbox "${schedule.instance}" was deleted.`);
    }
    const { instance, tenant, source } = schedule;
    const ofInstance = (await statements.ofInstance().get({ instance }))?.n ?? 0;
    requireScheduleLimit({ instance }, limits, ofInstance, 1);
    const used = await room.usedBy(tenant, source === 'workbook' ? instance : '');
    requireScheduleLimit({ tenant }, limits, used, 1);
    const row = await armed(newSchedule(schedule, state), arming);
    await statements.insert().run({ ...row });
    return row;
  };
  const change = async (
    row: ScheduleRow,
    patch: Partial<ScheduleSettings>,
    arming: ScheduleArming | null,
  ): Promise<ScheduleRow> => {
    const changed: ScheduleRow = { ...row, ...givenOf(patch) };
    return await update(arming === null ? changed : await armed({ ...changed, failures: 0, fault: null }, arming));
  };
  const insertRun = async (
    run: NewRun,
    ended: Partial<ScheduleRunRow> = {},
    by: Pick<ClaimTicket, 'host' | 'token'> | null = null,
  ) => {
    const row = newScheduleRun(run, ended);
    await statements.insertRun().run({ ...row, ownerHost: by?.host ?? null, ownerToken: by?.token ?? null });
    const surplus = await statements.surplusRun().get({ schedule: run.schedule, keep: runsKept });
    if (surplus !== undefined) await statements.removeRuns().run({ schedule: run.schedule, seq: surplus.seq });
  };

  const insertPassedOver = async ({ error, ...run }: PassedOver) =>
    await insertRun(run, { result: 'skipped', error, tookMs: 0 });

  return {
    add: (schedule, arming, limits, entry) => recorded(entry, () => insert(schedule, arming, limits)),
    get,
    getOf: async (instance, id) => (await statements.getOf().get({ instance, id })) ?? null,
    async list(instance, limit, cursor) {
      const [after] = cursor === undefined ? [0] : readCursor(cursor, isNumberPosition);
      const found = await statements.list().all({ instance, seq: after, limit: limit + 1 });
      return pageByNumber(found, limit);
    },
    usedBy: async (tenant) => await room.usedBy(tenant),
    declared: async (instance) => await statements.declared().all({ instance }),
    change: (read, patch, arming, entry) =>
      recorded(entry, async () => {
        const row = await asRead(read);
        return row === null ? null : await change(row, patch, arming);
      }),
    remove: (id, entry) => recorded(entry, async () => (await statements.remove().run({ id })).changes === 1),
    async synchronise(changes, limits, entry) {
      await recorded(entry, async () => {
        for (const id of changes.remove) await statements.remove().run({ id });
        for (const { read, patch, arming } of changes.change) {
          const row = (await asRead(read)) ?? (await get(read.id));
          if (row !== null) await change(row, patch, arming);
        }
        for (const { schedule, arming } of changes.add) await insert(schedule, arming, limits);
        return true;
      });
    },

    unsynchronised: async (limit) => (await statements.unsynchronised().all({ limit })).map(({ instance }) => instance),
    markSynchronised: async ({ id, workbook, workbookVersion }) =>
      await database.write(async () => {
        const now = await statements.dockedTo().get({ id });
        const isSame = now?.workbook === workbook && now.workbookVersion === workbookVersion;
        if (isSame || now === undefined) await statements.removeSync().run({ id });
      }),

    due: async (now, limit, host) =>
      host === undefined
        ? await statements.due().all({ now, limit })
        : await statements.dueOf().all({ now, limit, host }),
    earliest: async (host) =>
      (host === undefined ? await statements.earliest().get() : await statements.earliestOf().get({ host }))?.fireAt ??
      null,
    armed: async (seq, limit) => await statements.armed().all({ seq, limit }),
    arm: async (read, arming) =>
      await database.write(async () => {
        const row = await asRead(read);
        if (row === null) return false;
        await update(await armed(row, arming));
        return true;
      }),
    beginRun: async (read, run, claim) =>
      await database.write(async () => {
        const row = await asRead(read);
        if (row === null || row.run !== null || !(await claims.take(claim))) return false;
        await update({ ...row, run: run.id, fireAt: null });
        await insertRun(run, {}, claim);
        return true;
      }),
    async endRun(read, run, { at, failures, fault, ...outcome }, arming, entry, claim, passedOver) {
      let isLost = false;
      const done = await recorded(entry, async () => {
        const row = await get(read.id);
        if (row !== null && row.run === run && row.revision !== read.revision) return null;
        isLost = !(await claims.give(claim));
        if (isLost) return null;
        if (row === null || row.run !== run) return true;
        const { result, tookMs } = outcome;
        const ended = { ...row, run: null, lastAt: at, lastResult: result, lastTookMs: tookMs, failures, fault };
        await update(await armed(ended, arming));
        await statements.endRun().run({ ...outcome, id: run });
        if (passedOver !== undefined) await insertPassedOver(passedOver);
        return true;
      });
      return done !== null ? 'ended' : isLost ? 'lost' : 'changed';
    },
    passOver: (read, passed, arming, entry) =>
      recorded(entry, async () => {
        const row = await asRead(read);
        if (row === null || row.run !== null) return false;
        await update(await armed({ ...row, lastResult: 'skipped' }, arming));
        await insertPassedOver(passed);
        return true;
      }),
    interrupted: async () =>
      Promise.all(
        (await statements.interrupted().all()).map(async (schedule) => ({
          schedule,
          run: (await statements.getRun().get({ id: schedule.run })) ?? null,
        })),
      ),
    failing: (least, limit) => statements.failing().all({ least, limit }),
    getRun: async (id) => (await statements.getRun().get({ id })) ?? null,
    async runs(schedule, limit, cursor) {
      const [before] = cursor === undefined ? [Number.MAX_SAFE_INTEGER] : readCursor(cursor, isNumberPosition);
      return pageByNumber(await statements.runs().all({ schedule, seq: before, limit: limit + 1 }), limit);
    },
    async counts(now) {
      return {
        armed: (await statements.countArmed().get())?.n ?? 0,
        due: (await statements.countDue().get({ now }))?.n ?? 0,
        running: (await statements.countRunning().get())?.n ?? 0,
        failing: (await statements.countFailing().get())?.n ?? 0,
        resting: (await statements.countResting().get())?.n ?? 0,
      };
    },
  };
}
