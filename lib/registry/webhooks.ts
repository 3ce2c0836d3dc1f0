/** Webhooks: who is told of ledger lines, and what is to be delivered or was. */
import type { LedgerEntry, RowPage } from './types.ts';

export type DeliveryState = 'pending' | 'delivered' | 'failed';

/** What somebody decides about a webhook. */
interface WebhookSettings {
  name: string;
  url: string;
  /** Types of lines, `instance.*` for a whole subject, `problems` for faults and refusals; null: all. */
  types: readonly string[] | null;
}

export interface NewWebhook extends WebhookSettings {
  id: string;
  /** The only tenant whose lines it is told; null: all lines. */
  tenant: string | null;
  /** Encrypted. */
  secret: string;
  /** The last ledger line that it is not told of. */
  cursor: number;
  created: number;
  createdBy: string;
}

export interface WebhookRow extends NewWebhook {
  /** The secret before the last rotation, which signs too until `oldSecretUntil` (epoch seconds). */
  oldSecret: string | null;
  oldSecretUntil: number | null;
  enabled: boolean;
  /** Why the server turned it off; null when a person did. */
  offReason: string | null;
  /** Consecutive attempts without success, and when the first of them was made. */
  failures: number;
  failingSinceMs: number | null;
  lastSuccessMs: number | null;
}

/** What is encrypted of a webhook. */
export type WebhookSecrets = Pick<WebhookRow, 'secret' | 'oldSecret'>;

export type WebhookPatch = Partial<
  WebhookSettings & Pick<WebhookRow, 'secret' | 'oldSecret' | 'oldSecretUntil' | 'enabled' | 'offReason' | 'cursor'>
>;

export interface NewDelivery {
  id: string;
  webhook: string;
  /** Number of the ledger line; null for a test. */
  line: number | null;
  type: string;
  createdMs: number;
  /** When it is tried next; null: nobody tries it. */
  nextMs: number | null;
}

/** A part of the ledger that one webhook is told of. */
interface DeliveryStep {
  webhook: string;
  /** Its cursor before and after. */
  from: number;
  to: number;
  deliveries: NewDelivery[];
}

export interface DeliveryRow extends NewDelivery {
  state: DeliveryState;
  attempts: number;
  /** Of the last attempt: when it began, how long it took, the answer's status, why it is no success. */
  attemptedMs: number | null;
  tookMs: number | null;
  status: number | null;
  error: string | null;
}

type DeliveryAttempt = Pick<DeliveryRow, 'state' | 'nextMs' | 'status' | 'error'> & {
  attemptedMs: number;
  tookMs: number;
};

/** What an attempt tells of the webhook itself. */
export type WebhookHealth = Pick<WebhookRow, 'failures' | 'failingSinceMs' | 'lastSuccessMs'>;

export interface WebhookStore {
  /** Throws `quota_exceeded` when there are `most`, and `conflict` while its tenant is being forgotten. */
  add(webhook: NewWebhook, most: number, ledger: LedgerEntry): Promise<WebhookRow>;
  get(id: string): Promise<WebhookRow | null>;
  /** The tenant of a webhook; null for one of all tenants, and for an unknown one, which takes as long. */
  tenantOf(id: string): Promise<string | null>;
  /** Oldest first. */
  list(): Promise<WebhookRow[]>;
  /** Null when there is none. Enabling clears its failures and lets what is pending be tried at `nowMs`. */
  change(id: string, patch: WebhookPatch, nowMs: number, ledger: LedgerEntry): Promise<WebhookRow | null>;
  /**
   * Puts other sealed texts in the place of those of `from`, which seal the same. Leaves out what was changed since.
   * Returns how many were replaced.
   */
  reseal(changes: readonly { from: WebhookSecrets & { id: string }; to: WebhookSecrets }[]): Promise<number>;
  /** Removes it with its deliveries. False when there is none. */
  remove(id: string, ledger: LedgerEntry): Promise<boolean>;

  /**
   * Moves cursors on, together with what is to be delivered for the lines between: all or nothing. Leaves out webhooks
   * that are gone, off, or whose cursor is not at `from` any more; returns the steps that were taken. Survives a kill
   * at once, and a power loss with the next transaction: until then the lines are simply looked at again.
   */
  plan(steps: readonly DeliveryStep[]): Promise<DeliveryStep[]>;
  /** Number of pending deliveries of a webhook, counted up to `most`. */
  pending(webhook: string, most: number): Promise<number>;
  /** Those to be tried by `nowMs`, earliest first. */
  due(webhook: string, nowMs: number, limit: number): Promise<DeliveryRow[]>;
  /** When the next one of a webhook is to be tried; null when none is. */
  earliest(webhook: string): Promise<number | null>;
  /**
   * Records an attempt, and how its webhook fares by it, and removes the oldest that ended beyond `keep`. With `off`
   * the webhook is turned off for that reason, with its line. Survives as `plan` does.
   */
  recordAttempt(
    delivery: Pick<DeliveryRow, 'id' | 'webhook'>,
    attempt: DeliveryAttempt,
    health: WebhookHealth,
    keep: number,
    off: { reason: string; ledger: LedgerEntry } | null,
  ): Promise<void>;
  /** Lets all pending deliveries of a webhook be tried at `nowMs`: it answers again. */
  hasten(webhook: string, nowMs: number): Promise<void>;
  /**
   * The same for those alone that wait for a time of another clock, because it was set back since: never tried and not
   * due yet, tried last at a time ahead of `nowMs`, or due later than `longestMs` from it.
   */
  hastenAhead(webhook: string, nowMs: number, longestMs: number): Promise<void>;
  /** Stores a test, which is not tried again. */
  addTest(delivery: NewDelivery, ledger: LedgerEntry): Promise<DeliveryRow>;
  getDelivery(id: string): Promise<DeliveryRow | null>;
  /** Newest first. */
  deliveries(
    webhook: string,
    state: DeliveryState | undefined,
    limit: number,
    cursor?: string,
  ): Promise<RowPage<DeliveryRow>>;
  /** Makes a delivery pending, to be tried at `nowMs`. Null when there is none. */
  resend(id: string, nowMs: number, ledger: LedgerEntry): Promise<DeliveryRow | null>;
}
