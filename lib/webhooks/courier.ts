/**
 * Tells webhooks of ledger lines. Each webhook has a cursor in the ledger: the lines after it become deliveries, in the
 * same transaction that moves it, so a restart or a kill loses none. A delivery keeps its id at every attempt: at least
 * once, and a receiver can tell. One host delivers to a webhook at a time. Each webhook has attempts of its own, so a
 * slow receiver delays only itself. Knows nothing of HTTP's details, or of who made a webhook.
 */
import { messageOf } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import type { Claims, HeldClaim } from '../claims/claims.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry, LedgerLine } from '../registry/types.ts';
import type { DeliveryRow, NewDelivery, WebhookRow } from '../registry/webhooks.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { type AttemptParts, attemptDelivery, PING } from './attempt.ts';
import { isWanted } from './filter.ts';
import { downPauseMs, givenUp, healthAfter, isDown, LONGEST_PAUSE_MS, nextAttemptMs, stateAfter } from './retries.ts';

/** Attempts at the same time for one webhook; one when its receiver is down. */
const AT_ONCE = 4;
/** Deliveries that one webhook may have waiting. What is behind them waits in the ledger. */
const MOST_PENDING = 1000;
/** Lines that are looked at a time. */
const READ = 500;
/** A cursor that only passed lines of no interest is written after so many of them. */
const UNWRITTEN = 5000;
/** How long lines are collected. */
const GATHER_MS = 100;
const LEAST_PAUSE_MS = 50;
/** After an attempt could not be recorded. */
const UNRECORDED_PAUSE_MS = 5000;

/** Of an attempt. `retried`: it failed and is tried again; `failed`: it was the last one. */
export type AttemptOutcome = 'delivered' | 'retried' | 'failed';

export interface CourierParts extends AttemptParts {
  /** One host delivers to a webhook. */
  claims: Pick<Claims, 'keep' | 'onFree'>;
  config: { tickMs: number; webhookHistory: number };
  log: Logger;
  registry: Pick<Registry, 'commitEvents' | 'ledger' | 'webhooks'>;
  /** Told of each attempt that ended, tests included. */
  observe?: (outcome: AttemptOutcome) => void;
  /** For jitter. */
  random?: () => number;
}

/** How far one webhook is, beside what its row says. */
interface WebhookProgress {
  underWay: Set<string>;
  /** Attempts that ended: what was read as due before one of them may be delivered by now. */
  ended: number;
  /** No attempt between these times (epoch milliseconds): a clock that was set back is before both. */
  held: { fromMs: number; untilMs: number };
  /** The last line that was looked at: the cursor, or later. */
  seen: number;
}

const NOT_HELD: WebhookProgress['held'] = { fromMs: 0, untilMs: 0 };

function heldFor(pauseMs: number, nowMs: number): WebhookProgress['held'] {
  return { fromMs: nowMs, untilMs: nowMs + pauseMs };
}

function isHeld({ held: { fromMs, untilMs } }: WebhookProgress, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs < untilMs;
}

export class WebhookCourier {
  readonly #parts: CourierParts;
  readonly #progress = new Map<string, WebhookProgress>();
  readonly #ended = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stopListening: () => void = () => {};
  #leave: () => void = () => {};
  #round: Promise<void> | null = null;
  #hasWebhooks = false;
  /** Of the webhooks that this host delivers to. */
  #claims: ReadonlyMap<string, HeldClaim> = new Map();

  constructor(parts: CourierParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#stopListening = this.#parts.registry.commitEvents.onLedgerAppend(() => {
      if (this.#hasWebhooks) this.#plan(GATHER_MS);
    });
    this.#leave = this.#parts.claims.onFree('deliveries', () => this.#plan(0));
    this.#plan(0);
  }

  /** Breaks off what is under way: it is delivered after the next start, with the same id. Idempotent. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#stopListening();
    this.#leave();
    clearTimeout(this.#timer);
    await this.idle();
  }

  /** Resolves when no round and no attempt is under way. */
  async idle(): Promise<void> {
    await this.#round;
    while (this.#ended.size > 0) await Promise.all(this.#ended);
  }

  /** Webhooks or their deliveries were changed. */
  changed(): void {
    this.#hasWebhooks = true;
    this.#plan(0);
  }

  /** One round: looks at new lines and begins what is due. Rounds never overlap. */
  tick(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => {
      this.#round = null;
    });
    return this.#round;
  }

  /** Sends a test and answers how it went. Its webhook may be off, and fares no better or worse by it. */
  async test(webhook: WebhookRow, line: LedgerEntry): Promise<DeliveryRow> {
    const { clock, registry, config } = this.#parts;
    const { webhooks } = registry;
    const delivery = { id: newId('ping'), webhook: webhook.id, line: null, type: PING, createdMs: clock.now() };
    const row = await webhooks.addTest({ ...delivery, nextMs: null }, line);
    const began = performance.now();
    const { status, error } = await attemptDelivery(this.#parts, webhook, row, this.#stop.signal);
    const attempt = {
      state: error === null ? 'delivered' : 'failed',
      nextMs: null,
      status,
      error,
      attemptedMs: delivery.createdMs,
      tookMs: performance.now() - began,
    } as const;
    const { failures, failingSinceMs, lastSuccessMs } = (await webhooks.get(webhook.id)) ?? webhook;
    await webhooks.recordAttempt(
      row,
      attempt,
      { failures, failingSinceMs, lastSuccessMs },
      config.webhookHistory,
      null,
    );
    this.#parts.observe?.(attempt.state);
    return { ...row, ...attempt, attempts: 1 };
  }

  #plan(milliseconds: number): void {
    const at = performance.now() + milliseconds;
    if (this.#stop.signal.aborted || this.#timerAt <= at) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.tick().catch((error) => {
        this.#parts.log.error({ error: messageOf(error) }, 'webhooks');
        this.#plan(this.#parts.config.tickMs);
      });
    }, milliseconds);
    this.#timer.unref();
  }

  async #runRound(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { webhooks } = this.#parts.registry;
    const all = (await webhooks.list()).filter((webhook) => webhook.enabled);
    this.#hasWebhooks = all.length > 0;
    // One that was turned off keeps its claim until its attempts have ended: nobody else sends them meanwhile.
    const busy = [...this.#progress].filter(([, { underWay }]) => underWay.size > 0);
    const wanted = [...all.map(({ id }) => id), ...busy.map(([id]) => id)];
    this.#claims = await this.#parts.claims.keep('deliveries', wanted);
    const enabled = all.filter(({ id }) => this.#claims.has(id));
    for (const id of this.#progress.keys()) {
      const isGone = !enabled.some((webhook) => webhook.id === id);
      if (isGone && this.#progressOf(id).underWay.size === 0) this.#progress.delete(id);
    }
    await this.#look(enabled);
    const now = this.#parts.clock.now();
    for (const { id } of enabled) {
      await webhooks.hastenAhead(id, now, LONGEST_PAUSE_MS);
      await this.#serve(id);
    }
    await this.#planNext(enabled);
  }

  /** Plans the next round for when the next delivery is due, but no later than the next tick: the clock may jump. */
  async #planNext(enabled: readonly WebhookRow[]): Promise<void> {
    if (!this.#hasWebhooks) return;
    const { clock, config, registry } = this.#parts;
    const now = clock.now();
    let left = config.tickMs;
    for (const { id } of enabled) {
      const progress = this.#progressOf(id);
      const next = await registry.webhooks.earliest(id);
      // With attempts under way, the next one begins as they end.
      if (next === null || progress.underWay.size > 0) continue;
      left = Math.min(left, Math.max(next, isHeld(progress, now) ? progress.held.untilMs : 0) - now);
    }
    this.#plan(Math.max(LEAST_PAUSE_MS, left));
  }

  /** Makes deliveries of the lines after each cursor. Webhooks at the same line share one read. */
  async #look(enabled: readonly WebhookRow[]): Promise<void> {
    const { clock, registry } = this.#parts;
    const last = await registry.ledger.lastSeq();
    const reads = new Map<number, LedgerLine[]>();
    const steps: Parameters<typeof registry.webhooks.plan>[0][number][] = [];
    let isMore = false;
    for (const webhook of enabled) {
      const progress = this.#progressOf(webhook.id);
      progress.seen = Math.max(progress.seen, webhook.cursor);
      if (progress.seen >= last) continue;
      if ((await registry.webhooks.pending(webhook.id, MOST_PENDING)) >= MOST_PENDING) continue;
      const lines = reads.get(progress.seen) ?? (await registry.ledger.after(progress.seen, READ));
      reads.set(progress.seen, lines);
      const to = lines.at(-1)?.seq ?? last;
      const deliveries = lines
        .filter((line) => isWanted(webhook, line))
        .map((line) => deliveryOf(webhook, line, clock.now()));
      if (to < last) isMore = true;
      if (deliveries.length > 0 || to - webhook.cursor >= UNWRITTEN) {
        steps.push({ webhook: webhook.id, from: webhook.cursor, to, deliveries });
      } else progress.seen = to;
    }
    // Only what was written has been looked at: what was not, because the disk refused or the webhook was changed
    // meanwhile, is looked at again.
    for (const { webhook, to } of await registry.webhooks.plan(steps)) this.#progressOf(webhook).seen = to;
    if (isMore) this.#plan(0);
  }

  #progressOf(id: string): WebhookProgress {
    const progress = this.#progress.get(id) ?? { underWay: new Set(), ended: 0, held: NOT_HELD, seen: 0 };
    this.#progress.set(id, progress);
    return progress;
  }

  #isMine(id: string): boolean {
    return this.#claims.get(id)?.isOver === false;
  }

  /** Begins attempts of one webhook up to the number that may run at a time. */
  async #serve(id: string): Promise<void> {
    const { clock, registry } = this.#parts;
    const now = clock.now();
    const progress = this.#progressOf(id);
    const { ended } = progress;
    const webhook = await registry.webhooks.get(id);
    const due = await registry.webhooks.due(id, now, 2 * AT_ONCE);
    if (progress.ended !== ended) return this.#serve(id);
    if (webhook === null || !webhook.enabled || !this.#isMine(id) || isHeld(progress, now)) return;
    const most = isDown(webhook) ? 1 : AT_ONCE;
    for (const delivery of due) {
      if (this.#stop.signal.aborted || progress.underWay.size >= most) return;
      if (progress.underWay.has(delivery.id)) continue;
      progress.underWay.add(delivery.id);
      this.#follow(webhook, delivery, progress);
    }
  }

  /** Delivers, remembers that until it has ended, and begins the next then. */
  #follow(webhook: WebhookRow, delivery: DeliveryRow, progress: WebhookProgress): void {
    const ended = this.#deliver(webhook, delivery, progress)
      .catch((error) => {
        this.#parts.log.error({ error: messageOf(error) }, 'an attempt of a webhook was not recorded');
        progress.held = heldFor(UNRECORDED_PAUSE_MS, this.#parts.clock.now());
      })
      .then(() => {
        progress.underWay.delete(delivery.id);
        progress.ended += 1;
        return this.#stop.signal.aborted ? undefined : this.#serve(webhook.id);
      })
      .catch((error) => this.#parts.log.error({ error: messageOf(error) }, 'webhooks'))
      .finally(() => {
        this.#ended.delete(ended);
        if (progress.underWay.size === 0) this.#plan(LEAST_PAUSE_MS);
      });
    this.#ended.add(ended);
  }

  async #deliver(webhook: WebhookRow, delivery: DeliveryRow, progress: WebhookProgress): Promise<void> {
    const { clock, config, random = Math.random } = this.#parts;
    const { webhooks } = this.#parts.registry;
    const attemptedMs = clock.now();
    const began = performance.now();
    const claim = this.#claims.get(webhook.id);
    if (claim === undefined) return;
    const either = AbortSignal.any([this.#stop.signal, claim.signal]);
    const result = await attemptDelivery(this.#parts, webhook, delivery, either);
    // Broken off by the stop: it stays due. Another host delivers it, under the same id, when the claim is lost.
    if (claim.isOver || (this.#stop.signal.aborted && result.error !== null)) return;
    const tookMs = performance.now() - began;
    const now = clock.now();
    const before = await webhooks.get(webhook.id);
    if (before === null) return;
    const health = healthAfter(before, result, now);
    const nextMs = result.isFinal ? null : nextAttemptMs(delivery.attempts + 1, result, now, random());
    const { status, error } = result;
    const attempt = { ...stateAfter(delivery, result, nextMs), status, error, attemptedMs, tookMs };
    const why = before.enabled ? givenUp(health, result, now) : null;
    const off = why === null ? null : { reason: why, ledger: this.#offLine(before, why) };
    await webhooks.recordAttempt(delivery, attempt, health, config.webhookHistory, off);
    this.#parts.observe?.(attempt.state === 'pending' ? 'retried' : attempt.state);
    if (isDown(health)) progress.held = heldFor(downPauseMs(health), now);
    else if (isDown(before)) {
      progress.held = NOT_HELD;
      await webhooks.hasten(webhook.id, now);
    }
  }

  #offLine(webhook: WebhookRow, why: string): LedgerEntry {
    const line = ledgerEntry(this.#parts, null, systemAudit('schedule'), 'webhook.turned_off', { error: why });
    return { ...line, tenant: webhook.tenant, reason: webhook.id };
  }
}

/** The id is made of what it is about, so the same line is never delivered under two. */
function deliveryOf({ id }: WebhookRow, line: LedgerLine, nowMs: number): NewDelivery {
  return { id: `${id}.${line.seq}`, webhook: id, line: line.seq, type: line.type, createdMs: nowMs, nextMs: nowMs };
}
