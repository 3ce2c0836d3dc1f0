/** Operations on schedules: when something of a sandbox runs by itself, and how that went. lib/schedules fires them. */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import { READS } from '../contract/access.ts';
import type {
  CreateScheduleInput,
  PatchScheduleInput,
  Schedule,
  ScheduleRun,
  SchedulesQuery,
} from '../contract/schema.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type * as Rows from '../registry/schedules.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import { armingFrom } from '../schedules/arming.ts';
import type { Scheduler } from '../schedules/scheduler.ts';
import { requireTiming } from '../schedules/timing.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { type DockedInstance, DockedPlans, findScheduled } from '../workbooks/docked.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import { allowedTime } from './call-time.ts';
import type { ListPage } from './list-page.ts';

/** How often an edit is tried again when the schedule fires at the same time. */
const ATTEMPTS = 10;

export interface ScheduleOperations {
  listSchedules(caller: Caller, id: InstanceId, query: SchedulesQuery): Promise<ListPage<Schedule>>;
  createSchedule(caller: Caller, id: InstanceId, input: CreateScheduleInput): Promise<Schedule>;
  getSchedule(caller: Caller, id: InstanceId, schedule: string): Promise<Schedule>;
  /** One that the workbook declares can be paused only. */
  patchSchedule(caller: Caller, id: InstanceId, schedule: string, input: PatchScheduleInput): Promise<Schedule>;
  deleteSchedule(caller: Caller, id: InstanceId, schedule: string): Promise<void>;
  /** Runs it now; answers when that has begun. */
  runSchedule(caller: Caller, id: InstanceId, schedule: string): Promise<ScheduleRun>;
  scheduleRuns(caller: Caller, id: InstanceId, schedule: string, query: SchedulesQuery): Promise<ListPage<ScheduleRun>>;
}

export function scheduleOperations(parts: {
  registry: Registry;
  scheduler: Pick<Scheduler, 'changed' | 'run'>;
  clock: Clock;
  auth: { actors: ActorDirectory };
  config: Pick<Config, 'maxCallMs' | 'scheduleSpreadSeconds' | 'schedulesPerSandbox' | 'schedulesPerTenant'>;
}): ScheduleOperations {
  const { registry, scheduler, clock, config } = parts;
  const { actors } = parts.auth;

  /** The schedule of a sandbox. Throws `not_found`, also for that of another one. */
  const rowOf = async (id: InstanceId, schedule: string): Promise<Rows.ScheduleRow> => {
    await requireInstance({ registry }, id);
    const row = await registry.schedules.getOf(id, schedule);
    if (row !== null) return row;
    throw new WinterdockError('not_found', `The sandbox "${id}" has no schedule "${schedule}".`);
  };
  const lineOf = (caller: Caller, row: Pick<Rows.ScheduleRow, 'instance' | 'tenant'>, type: string, reason: string) =>
    ledgerEntry({ clock }, { id: row.instance, tenant: row.tenant }, auditContextOf(caller, reason), type);
  const armed = (id: string, timing: Rows.ScheduleTiming) =>
    armingFrom(id, timing, epochSeconds(clock), config.scheduleSpreadSeconds);

  const plans = new DockedPlans(registry.workbooks);
  /** What runs. Throws `conflict` without a workbook, `not_found` and `validation` for what it has not. */
  const targetOf = async (
    row: DockedInstance,
    command: string | undefined,
    component: string | undefined,
  ): Promise<Pick<Rows.ScheduleSettings, 'target' | 'action'>> => {
    if (command !== undefined && component === undefined) return { target: 'command', action: command };
    if (component === undefined || command !== undefined)
      throw invalid('command', 'or component is needed, and not both');
    const { plan } = await plans.requiredPlan(row);
    const { path, target } = findScheduled(plan, component);
    return { target, action: path };
  };

  /** Does `work` with the schedule as it is, again while it fires meanwhile. Throws `conflict`. */
  const compareAndSet = async <T>(
    id: InstanceId,
    schedule: string,
    work: (row: Rows.ScheduleRow) => Promise<T | null>,
  ): Promise<T> => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const done = await work(await rowOf(id, schedule));
      if (done !== null) return done;
    }
    throw new WinterdockError('conflict', `The schedule "${schedule}" is being changed all the time.`, {
      hint: 'Try again.',
    });
  };

  return {
    async listSchedules(caller, id, { limit, cursor }) {
      await requireInstance({ registry }, id);
      const page = await registry.schedules.list(id, limit, cursor);
      return { items: page.rows.map((row) => scheduleOf(row, caller)), next: page.next };
    },

    async createSchedule(caller, id, input) {
      const instance = await requireInstance({ registry }, id);
      const { tenant } = instance;
      const { command, component, cron = null, at = null, repeat = null, timezone = 'UTC' } = input;
      await allowedTime(parts, caller, id, input.timeout_ms ?? undefined);
      const timing: Rows.ScheduleTiming = { cron, at, repeat, timezone };
      requireTiming(timing);
      const schedule: Rows.NewSchedule = {
        ...timing,
        ...(await targetOf(instance, command, component)),
        id: newId('sched'),
        instance: id,
        tenant,
        source: 'api',
        declaration: null,
        input: input.input ?? null,
        timeoutMs: input.timeout_ms ?? null,
        missed: input.missed ?? 'skip',
        paused: input.paused ?? false,
        created: epochSeconds(clock),
        actor: caller.actor,
      };
      const arming = armed(schedule.id, timing);
      if (arming.nextAt === null) throw neverDue(at);
      const limits = { perSandbox: config.schedulesPerSandbox, perTenant: config.schedulesPerTenant };
      const line = lineOf(caller, schedule, 'schedule.created', wordsOf(schedule));
      const row = await registry.schedules.add(schedule, arming, limits, line);
      scheduler.changed();
      return scheduleOf(row, caller);
    },

    getSchedule: async (caller, id, schedule) => scheduleOf(await rowOf(id, schedule), caller),

    async patchSchedule(caller, id, schedule, input) {
      await allowedTime(parts, caller, id, input.timeout_ms ?? undefined);
      const row = await compareAndSet(id, schedule, async (before) => {
        const { paused, ...rest } = input;
        if (before.source === 'workbook' && Object.values(rest).some((value) => value !== undefined)) {
          throw new WinterdockError('conflict', `The schedule "${schedule}" is declared by the workbook.`, {
            hint: 'It can be paused here. Change the rest in the workbook, and upgrade the sandbox to it.',
          });
        }
        const { command, component } = input;
        const isSame = command === undefined && component === undefined;
        const target = isSame ? null : await targetOf(await requireInstance({ registry }, id), command, component);
        const patch = patchOf(input, target);
        const timing = { ...before, ...patch };
        const isRetimed = input.cron !== undefined || input.timezone !== undefined;
        if (isRetimed) requireTiming(timing);
        const arming =
          isRetimed || (paused !== undefined && paused !== before.paused) ? armed(before.id, timing) : null;
        if (isRetimed && arming?.nextAt === null) throw neverDue(null);
        return registry.schedules.change(
          before,
          patch,
          arming,
          lineOf(caller, before, 'schedule.changed', wordsOf({ ...before, ...patch })),
        );
      });
      scheduler.changed();
      return scheduleOf(row, caller);
    },

    async deleteSchedule(caller, id, schedule) {
      const row = await rowOf(id, schedule);
      if (row.source === 'workbook') {
        throw new WinterdockError('conflict', `The schedule "${schedule}" is declared by the workbook.`, {
          hint: 'Pause it, or take it out of the workbook and upgrade the sandbox to it.',
        });
      }
      await registry.schedules.remove(schedule, lineOf(caller, row, 'schedule.removed', wordsOf(row)));
    },

    async runSchedule(caller, id, schedule) {
      const run = await compareAndSet(id, schedule, async (row) => {
        if (row.resting) {
          throw new WinterdockError('archived', `The sandbox "${id}" is archived; a schedule does not revive it.`, {
            hint: 'Revive it first.',
          });
        }
        if (row.run !== null) {
          throw new WinterdockError('conflict', `The schedule "${schedule}" is running already.`, {
            hint: 'Wait until it has ended.',
          });
        }
        return scheduler.run(row, auditContextOf(caller));
      });
      return withActorName(actors, 'actor', runOf(run));
    },

    async scheduleRuns(_caller, id, schedule, { limit, cursor }) {
      await rowOf(id, schedule);
      const page = await registry.schedules.runs(schedule, limit, cursor);
      return { items: await withActorNames(actors, 'actor', page.rows.map(runOf)), next: page.next };
    },
  };
}

function invalid(path: string, message: string): WinterdockError {
  return new WinterdockError('validation', `The schedule is not valid: ${path} ${message}.`, {
    extra: { errors: [{ path, message }] },
  });
}

function neverDue(at: number | null): WinterdockError {
  return at === null ? invalid('cron', 'is never due') : invalid('at', 'has passed');
}

/** The members that change. */
function patchOf(
  input: PatchScheduleInput,
  target: Pick<Rows.ScheduleSettings, 'target' | 'action'> | null,
): Partial<Rows.ScheduleSettings> {
  const { cron, timezone, missed, paused } = input;
  // A cron expression takes the place of a time.
  const timing = cron === undefined ? {} : { cron, at: null, repeat: null };
  const values = { timezone, missed, paused, input: input.input, timeoutMs: input.timeout_ms };
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return { ...given, ...timing, ...target, ...(target?.target === 'command' ? { input: null } : {}) };
}

/** What the ledger says of a schedule: never its command, which more people would see than may. */
function wordsOf({ id, cron, at, repeat, timezone, target, paused }: Rows.NewSchedule): string {
  const time = cron ?? `${at === null ? '' : new Date(at * 1000).toISOString()}${repeat === null ? '' : ` ${repeat}`}`;
  return `${id}: a ${target}, ${time} ${timezone}${paused ? ', paused' : ''}`;
}

function scheduleOf(row: Rows.ScheduleRow, { role }: Pick<Caller, 'role'>): Schedule {
  const isShown = READS[role].length === VOLUMES.length;
  return {
    id: row.id,
    instance: row.instance,
    cron: row.cron,
    at: row.at,
    repeat: row.repeat,
    timezone: row.timezone,
    command: row.target === 'command' && isShown ? row.action : null,
    component: row.target === 'command' ? null : row.action,
    ...(row.input === null || !isShown ? {} : { input: row.input }),
    timeout_ms: row.timeoutMs,
    missed: row.missed,
    paused: row.paused,
    source: row.source,
    next_at: row.nextAt,
    last_at: row.lastAt,
    last_result: row.lastResult,
    last_took_ms: row.lastTookMs,
    failures: row.failures,
    fault: row.fault,
    resting: row.resting,
    created_at: row.created,
  };
}

function runOf(run: Rows.ScheduleRunRow): Omit<ScheduleRun, 'actor_name'> {
  return {
    id: run.id,
    schedule: run.schedule,
    planned_at: run.planned,
    missed: run.missed,
    started_ms: run.startedMs,
    took_ms: run.tookMs,
    result: run.result,
    error: run.error,
    exit_code: run.exitCode,
    woke: run.woke,
    actor: run.actor,
  };
}
