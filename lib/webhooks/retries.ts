/** When a delivery is tried again, and when its webhook is given up. Pure. */
import type { OutgoingAnswer } from '../outgoing/send.ts';
import type { DeliveryRow, WebhookHealth, WebhookRow } from '../registry/webhooks.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses after each attempt without success: more than `GIVE_UP_MS` together, with the least jitter as well. */
const PAUSES_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  6 * HOUR,
  8 * HOUR,
  10 * HOUR,
];
/** A pause is longer or shorter by up to this part, so that what failed together does not come back together. */
const JITTER = 0.2;
/** No delivery waits for longer than this. */
export const LONGEST_PAUSE_MS = Math.max(...PAUSES_MS) * (1 + JITTER);
/** So many failures in a row are the receiver's and not the delivery's. */
const DOWN_AFTER = 3;
const GIVE_UP_MS = 24 * HOUR;

/** What came of an attempt. `status` is null without an answer. */
export interface AttemptResult {
  status: number | null;
  /** Null for a success. */
  error: string | null;
  /** As the answer asks for by `Retry-After`. */
  retryAfterMs: number | null;
}

export function attemptResultOf({ status, headers }: Pick<OutgoingAnswer, 'status' | 'headers'>): AttemptResult {
  const isGood = status >= 200 && status < 300;
  const seconds = Number(headers['retry-after']);
  return {
    status,
    error: isGood
      ? null
      : status >= 300 && status < 400
        ? 'It redirects, which is not followed.'
        : `It answers ${status}.`,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * SECOND, HOUR) : null,
  };
}

/** When a delivery is tried next after `attempts` without success; null when that was the last. */
export function nextAttemptMs(attempts: number, { retryAfterMs }: AttemptResult, nowMs: number, random: number) {
  const pause = PAUSES_MS[attempts - 1];
  if (pause === undefined) return null;
  const jittered = pause * (1 + JITTER * (2 * random - 1));
  return Math.round(nowMs + Math.max(jittered, retryAfterMs ?? 0));
}

/** How a webhook fares after an attempt. */
export function healthAfter(before: WebhookHealth, { error }: AttemptResult, nowMs: number): WebhookHealth {
  if (error === null) return { failures: 0, failingSinceMs: null, lastSuccessMs: nowMs };
  return {
    failures: before.failures + 1,
    // A time ahead is of a clock that was set back since.
    failingSinceMs: Math.min(before.failingSinceMs ?? nowMs, nowMs),
    lastSuccessMs: before.lastSuccessMs,
  };
}

/** True when the receiver itself does not work: one attempt at a time, with pauses, is enough. */
export function isDown({ failures }: Pick<WebhookRow, 'failures'>): boolean {
  return failures >= DOWN_AFTER;
}

/** How long a receiver that is down is left alone. */
export function downPauseMs({ failures }: WebhookHealth): number {
  return PAUSES_MS[Math.min(failures - DOWN_AFTER, PAUSES_MS.length - 1)] ?? 0;
}

/** Why a webhook is turned off after an attempt, or null. */
export function givenUp(health: WebhookHealth, { status }: AttemptResult, nowMs: number): string | null {
  if (status === 410) return 'It answers 410: it does not want to be told any more.';
  const { failingSinceMs } = health;
  if (failingSinceMs === null || nowMs - failingSinceMs < GIVE_UP_MS) return null;
  return 'Every attempt of the last 24 hours failed.';
}

/** The attempt as it is recorded. */
export function stateAfter(delivery: Pick<DeliveryRow, 'line'>, result: AttemptResult, nextMs: number | null) {
  if (result.error === null) return { state: 'delivered', nextMs: null } as const;
  return nextMs === null || delivery.line === null
    ? ({ state: 'failed', nextMs: null } as const)
    : ({ state: 'pending', nextMs } as const);
}
