/** Rows as they begin and how some of them change, alike in every driver. Pure. */
import type { State } from '../lifecycle/state-map.ts';
import type { NewRunRow, RunRow } from './runs.ts';
import type { NewSchedule, ScheduleArming, NewRun as ScheduledRun, ScheduleRow, ScheduleRunRow } from './schedules.ts';
import { SPREAD_ABOVE } from './schedules.ts';
import type { SecretRow, SecretTerms } from './secrets.ts';
import type { TenantUse } from './usage.ts';
import type { DeliveryRow, NewDelivery, NewWebhook, WebhookRow } from './webhooks.ts';

/** The members of a patch that are given. */
export function givenOf<T extends object>(patch: T): Partial<T> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** A schedule of a sandbox in this state, not armed yet. */
export function newSchedule(schedule: NewSchedule, state: State): ScheduleRow {
  return {
    ...schedule,
    resting: state === 'archived',
    nextAt: null,
    fireAt: null,
    backlogUntil: null,
    run: null,
    lastAt: null,
    lastResult: null,
    lastTookMs: null,
    failures: 0,
    fault: null,
    revision: 0,
  };
}

/** The times of a schedule that may be paused, resting or running. `dueThen`: what is due at its next one. */
export function armedSchedule(
  row: ScheduleRow,
  { nextAt, notBefore, spread, backlogUntil }: ScheduleArming,
  dueThen: readonly Pick<ScheduleRow, 'id'>[],
): ScheduleRow {
  if (row.paused || row.resting) return { ...row, nextAt: null, fireAt: null, backlogUntil: null };
  if (nextAt === null || row.run !== null) return { ...row, nextAt, fireAt: null, backlogUntil };
  const others = dueThen.filter(({ id }) => id !== row.id).length;
  const spreadAt = nextAt + (others >= SPREAD_ABOVE ? spread : 0);
  return { ...row, nextAt, fireAt: Math.max(spreadAt, notBefore ?? 0), backlogUntil };
}

/** A run that has begun, or has `ended` so. */
export function newScheduleRun(run: ScheduledRun, ended: Partial<ScheduleRunRow> = {}): ScheduleRunRow {
  return { ...run, tookMs: null, result: null, error: null, exitCode: null, woke: null, ...ended };
}

/** Nothing was sent to it yet. */
export function newWebhook(webhook: NewWebhook): WebhookRow {
  return {
    ...webhook,
    oldSecret: null,
    oldSecretUntil: null,
    enabled: true,
    offReason: null,
    failures: 0,
    failingSinceMs: null,
    lastSuccessMs: null,
  };
}

/** A webhook that is turned on again begins anew. */
export function changedWebhook(row: WebhookRow, patch: Partial<WebhookRow>): WebhookRow {
  const after: WebhookRow = { ...row, ...givenOf(patch) };
  return after.enabled && !row.enabled ? { ...after, offReason: null, failures: 0, failingSinceMs: null } : after;
}

/** A delivery that was not tried. */
export function newDelivery(delivery: NewDelivery): DeliveryRow {
  return { state: 'pending', attempts: 0, attemptedMs: null, tookMs: null, status: null, error: null, ...delivery };
}

/** Nothing of it has happened yet. */
export function newRun(run: NewRunRow): RunRow {
  const times = { startedMs: null, endedMs: null, tookMs: null };
  return { ...run, ...times, ending: null, exitCode: null, timedOut: false, reason: null, woke: null, outputBytes: 0 };
}

/** A secret as it is after it was set by `actor`; `before`: as it was, if it was there. */
export function newSecretRow(
  secret: SecretTerms & { sealed: string },
  before: SecretRow | undefined,
  { now, actor }: { now: number; actor: string },
): SecretRow {
  const made = { created: before?.created ?? now, createdBy: before?.createdBy ?? actor };
  return { ...secret, ...made, updated: now, updatedBy: actor, lastUsed: null };
}

/** What a tenant used in an hour, beside what the ledger counts. `bytes`: on disk at its end. */
export function usedInHour(hour: number, { tenant, cpuMs, calls, memoryBytes }: TenantUse, bytes: number) {
  const ofLedger = { wakes: 0, faults: 0, activeChange: 0, activeMs: 0 };
  return { tenant, hour, cpuMs, calls, memoryBytes, bytes, ...ofLedger };
}
