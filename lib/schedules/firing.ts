/**
 * One firing, from its intent to its record. The run is written and claimed, in one transaction, before anything is
 * done, and its end afterwards, so a server that is killed in between finds it at the next start, or another one does
 * when its claim is over. It is `lost` then: with `missed: skip` that is all (at most once), with `once` and `all` it
 * is repeated (at least once).
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Semaphore } from 'async-mutex';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Claims, HeldClaim } from '../claims/claims.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import {
  firingKey,
  type NewRun,
  type PassedOver,
  type RunResult,
  type ScheduleArming,
  type ScheduledOutcome,
  type ScheduleRow,
  type ScheduleRunRow,
} from '../registry/schedules.ts';
import { longestCallMs } from '../sandboxes/admission/longest-call.ts';
import type { AuditContext } from '../sandboxes/sandboxes.ts';
import type { ScheduleAllowance } from './allowance.ts';
import { armingAfter, type EndedRun, isFailure } from './arming.ts';
import { type Executed, execute, logFiring, type SandboxCalls } from './execution.ts';
import { nextTime, timesInWords } from './timing.ts';

/** How soon an end that the registry could not take is written again. */
const AGAIN_MS = 1000;

/** Steps at which tests kill the server. */
export type ScheduleStep = 'schedule:begun' | 'schedule:ran' | 'schedule:recorded';

export interface FiringParts {
  config: Pick<Config, 'maxCallMs' | 'scheduleSpreadSeconds'>;
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'facts' | 'instances' | 'quotas' | 'schedules'>;
  sandboxes: SandboxCalls;
  claims: Claims;
  room: Pick<ScheduleAllowance, 'noteUse' | 'wait'>;
  /** Places for wakes that nobody waits for. */
  wakes: Semaphore;
  /** Counts a run; `lateMs`: how late it began, null for one that was missed or that somebody asked for. */
  observe(result: RunResult, lateMs: number | null): void;
  failpoint?: (step: ScheduleStep) => void;
}

/** Who the ledger names: the schedule itself. */
export function scheduleAudit({ id }: Pick<ScheduleRow, 'id'>, run: string | null): AuditContext {
  return { trigger: 'schedule', actor: `schedule:${id}`, via: 'schedule', requestId: run, address: null, reason: null };
}

/** A run under way, and its claim. */
interface ClaimedRun {
  run: ScheduleRunRow;
  claim: HeldClaim;
}

export class Firing {
  readonly #parts: FiringParts;
  readonly #stop: AbortSignal;

  constructor(parts: FiringParts, stop: AbortSignal) {
    this.#parts = parts;
    this.#stop = stop;
  }

  /**
   * Waits for what a wake needs, and resolves with the release of its place. Null when there is no room, or the server
   * stops.
   */
  async takePlace({ instance }: Pick<ScheduleRow, 'instance'>): Promise<(() => void) | null> {
    const { registry, room, wakes } = this.#parts;
    const isAwake = async () => (await registry.instances.get(instance))?.state === 'active';
    if (await isAwake()) return () => {};
    const [, release] = await wakes.acquire();
    if ((await isAwake()) || (await room.wait(this.#stop))) return release;
    release();
    return null;
  }

  /** Writes and claims the run. Null when the schedule changed meanwhile, or runs, here or elsewhere. */
  async begin(
    row: ScheduleRow,
    { planned, missed, actor }: Pick<NewRun, 'planned' | 'missed' | 'actor'>,
  ): Promise<ClaimedRun | null> {
    const { claims, clock, registry } = this.#parts;
    const run: NewRun = { id: newId('run'), schedule: row.id, planned, missed, startedMs: clock.now(), actor };
    const claim = await claims.acquireWith('firing', firingKey(run), (ticket) =>
      registry.schedules.beginRun(row, run, ticket),
    );
    if (claim === null) return null;
    this.#parts.failpoint?.('schedule:begun');
    return { run: { ...run, ...NOT_ENDED }, claim };
  }

  /** Does what the schedule is for, and records it. Gives the place back once the sandbox is awake. */
  async finish(
    row: ScheduleRow,
    { run, claim }: ClaimedRun,
    audit: AuditContext,
    release: (() => void) | null,
  ): Promise<void> {
    const { log, registry, room, sandboxes, observe, clock } = this.#parts;
    const instance = row.timeoutMs === null ? null : await registry.instances.get(row.instance);
    const longestMs = instance === null ? undefined : await longestCallMs(this.#parts, instance);
    // Paused in between: another host has called it lost.
    if (claim.isOver) return this.#tellLost(row.id, run);
    const executed = await execute(sandboxes, { ...row, longestMs }, audit, {
      makesRoom: release === null,
      onWoken: release ?? (() => {}),
    });
    release?.();
    this.#parts.failpoint?.('schedule:ran');
    room.noteUse(row.instance, executed.woke === 'cold');
    // Components write their own entry, in the transaction of what they did.
    if (row.target === 'command' && !executed.isUnbegun && !this.#stop.aborted && !claim.isOver) {
      await logFiring({ sandboxes, log }, row.instance, entryOf(row, run, executed, epochSeconds(clock)), audit);
    }
    // A stop ends the calls of all sandboxes: what did not end well by itself was interrupted.
    const isInterrupted = this.#stop.aborted && executed.result === 'failed';
    const lateMs = run.planned === null || run.missed ? null : run.startedMs - run.planned * 1000;
    if (isInterrupted) {
      const outcome = { ...executed, result: 'failed', error: 'The server stopped while it ran.' } as const;
      return this.#settle(row, { run, claim }, outcome, executed.isUnbegun);
    }
    const ended: EndedRun = { ...executed, planned: run.planned, isRepeated: false };
    if (await this.#record(row.id, { run, claim }, executed, ended, audit)) observe(executed.result, lateMs);
  }

  /** Settles a run whose server was killed, or did not renew its claim. `claim`: the one that replaces that. */
  settle({ schedule, run }: LeftRun, claim: HeldClaim): Promise<void> {
    return this.#settle(schedule, { run, claim }, LOST, false);
  }

  async #settle(row: ScheduleRow, one: ClaimedRun, outcome: ScheduledOutcome, isUnbegun: boolean): Promise<void> {
    const { planned, id } = one.run;
    const { result } = outcome;
    const ended: EndedRun = { planned, result, isUnbegun, isRepeated: planned !== null && row.missed !== 'skip' };
    if (await this.#record(row.id, one, outcome, ended, scheduleAudit(row, id))) this.#parts.observe(result, null);
  }

  /**
   * Writes the end of a run with the next times, as often as it takes: what was done must not be done again. False when
   * its end is not this server's to write.
   */
  async #record(
    id: string,
    { run, claim }: ClaimedRun,
    { result, tookMs, error, exitCode, woke }: ScheduledOutcome,
    ended: EndedRun,
    audit: AuditContext,
  ): Promise<boolean> {
    const { claims, clock, config, log, registry } = this.#parts;
    while (!claim.isOver) {
      try {
        const row = await registry.schedules.get(id);
        if (row === null || row.run !== run.id) {
          await claim.release();
          return false;
        }
        const now = epochSeconds(clock);
        const failures = isFailure(result) ? row.failures + 1 : 0;
        const next = armingAfter(row, ended, failures, now, config.scheduleSpreadSeconds);
        const type = isFailure(result) ? 'schedule.failed' : 'schedule.fired';
        const line = ledgerEntry({ clock }, { id: row.instance, tenant: row.tenant }, audit, type, { tookMs, error });
        const outcome = { result, tookMs, error, exitCode, woke, at: now, failures, fault: error };
        const passedOver = passedOverBy(row, run, result, next, now);
        const end = await registry.schedules.endRun(row, run.id, outcome, next, line, claim.ticket, passedOver);
        if (end === 'changed') continue;
        claims.drop(claim);
        if (end === 'lost') break;
        this.#parts.failpoint?.('schedule:recorded');
        return true;
      } catch (failure) {
        log.error({ schedule: id, error: messageOf(failure) }, 'the end of a run was not recorded yet');
        // The next start settles it.
        if (this.#stop.aborted) return false;
        await pause(AGAIN_MS);
      }
    }
    this.#tellLost(id, run);
    return false;
  }

  #tellLost(schedule: string, { id }: ScheduleRunRow): void {
    this.#parts.log.warn({ schedule, run: id }, 'the claim of a run was lost: whoever has it records its end');
  }
}

const NOT_ENDED = { tookMs: null, result: null, error: null, exitCode: null, woke: null } as const;
const LOST: ScheduledOutcome = {
  ...NOT_ENDED,
  result: 'lost',
  error: 'The server was killed while it ran, or could not be reached: nobody knows how far it came.',
};

/** A run that no server carries out any more. */
export interface LeftRun {
  schedule: ScheduleRow;
  run: ScheduleRunRow;
}

/** What the registry knows of a run that a schedule is left with. Its record may have gone with the oldest. */
export function leftRun({ schedule, run }: { schedule: ScheduleRow; run: ScheduleRunRow | null }): LeftRun {
  const gone = { id: schedule.run ?? '', schedule: schedule.id, planned: schedule.nextAt, missed: false, startedMs: 0 };
  return { schedule, run: run ?? { ...gone, ...NOT_ENDED, actor: '' } };
}

/** The times that are left out because of a run: they came while it ran, or while a failure keeps the schedule back. */
function passedOverBy(
  row: ScheduleRow,
  { planned, actor }: ScheduleRunRow,
  result: RunResult,
  next: ScheduleArming,
  now: number,
): PassedOver | undefined {
  // What counts from the end of a run leaves nothing out.
  if (planned === null || row.repeat?.startsWith('.+')) return undefined;
  const first = nextTime(row, planned);
  const times = first === null ? null : timesInWords(row, first, (next.nextAt ?? now + 1) - 1);
  if (times === null) return undefined;
  const why = whyPassedOver(result);
  const startedMs = now * 1000;
  return {
    id: newId('run'),
    schedule: row.id,
    planned: first,
    missed: false,
    startedMs,
    actor,
    error: `It was due and left out, as ${why}: ${times}.`,
  };
}

/** Why times after a run are left out. How long a lost one ran is not known, nor since when no server was there. */
function whyPassedOver(result: RunResult): string {
  if (result === 'lost') return 'the run before was under way still, or no server ran';
  return isFailure(result) ? 'the run before failed, and the next one waits' : 'the run before took as long';
}

function entryOf(row: ScheduleRow, run: ScheduleRunRow, executed: Executed, at: number) {
  const { result, tookMs, exitCode, error, output } = executed;
  return {
    at,
    title: `schedule ${result}: ${row.action}`,
    properties: {
      SCHEDULE: row.id,
      RUN: run.id,
      RESULT: result,
      TOOK_MS: tookMs ?? 0,
      ...(run.planned === null ? {} : { PLANNED: new Date(run.planned * 1000).toISOString() }),
      ...(exitCode === null ? {} : { EXIT_CODE: exitCode }),
      ...(error === null ? {} : { ERROR: error }),
    },
    body: output,
  };
}
