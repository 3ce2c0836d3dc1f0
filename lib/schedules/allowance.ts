/**
 * Room for the wakes of schedules. People come first: the last places and the last started worker are theirs, and none
 * of their sandboxes is suspended for a schedule. What schedules woke, and nobody has used since, makes room for the
 * next.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { nextMove } from '../lifecycle/ladder.ts';
import { isBlocking } from '../lifecycle/words.ts';
import type { Registry } from '../registry/registry.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { InstancePool } from '../workers/protocol/instance.ts';

/** Share of the process slots that schedules leave to people. */
const KEPT_SHARE = 0.1;
/** How long a wake waits for a second spare worker: the first one is left to people. */
const WORKER_WAIT_MS = 5000;
const POLL_MS = 25;
/** Sandboxes that are remembered as woken by a schedule. */
const REMEMBERED = 1000;
/** Every idle time has passed: what the ladder still refuses may not be moved. */
const AT_ONCE = { idleToSuspendSeconds: 0, idleToFreezeSeconds: 0 };
const AUDIT: AuditContext = {
  trigger: 'pressure',
  actor: 'schedules',
  via: 'schedule',
  requestId: null,
  address: null,
  reason: 'woken by a schedule, not used since, and its place is needed for the next',
};

export interface ScheduleAllowanceParts {
  config: Pick<Config, 'maxActive' | 'poolSize'>;
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'instances'>;
  sandboxes: Pick<Sandboxes, 'live' | 'suspend'>;
  pool: Pick<InstancePool, 'active' | 'ready' | 'shortage'>;
}

export class ScheduleAllowance {
  readonly #parts: ScheduleAllowanceParts;
  /** What schedules woke, with the epoch seconds of their last use by one; the oldest first. */
  readonly #woken = new Map<InstanceId, number>();

  constructor(parts: ScheduleAllowanceParts) {
    this.#parts = parts;
  }

  /** A schedule has used a sandbox; `woke`: it had no process before. */
  noteUse(id: InstanceId, woke: boolean): void {
    if (!woke && !this.#woken.has(id)) return;
    this.#woken.delete(id);
    this.#woken.set(id, epochSeconds(this.#parts.clock));
    const [oldest] = this.#woken.keys();
    if (oldest !== undefined && this.#woken.size > REMEMBERED) this.#woken.delete(oldest);
  }

  /** Waits for what one more wake needs. False when there is no room that may be taken. */
  async wait(stop: AbortSignal): Promise<boolean> {
    const { config, pool } = this.#parts;
    while (this.#isShort()) if (stop.aborted || !(await this.#suspendOne())) return false;
    const enough = Math.min(2, config.poolSize);
    const until = performance.now() + WORKER_WAIT_MS;
    while (pool.ready < enough && performance.now() < until && !stop.aborted) await pause(POLL_MS);
    return !stop.aborted;
  }

  #isShort(): boolean {
    const { config, pool } = this.#parts;
    const kept = Math.max(1, Math.floor(config.maxActive * KEPT_SHARE));
    // Where there is one place in all, it is everybody's.
    return pool.active >= Math.max(1, config.maxActive - kept) || pool.shortage !== null;
  }

  /** Suspends the sandbox that a schedule woke, and nobody used since, longest ago. False when there is none. */
  async #suspendOne(): Promise<boolean> {
    for (const [id, usedAt] of this.#woken) {
      this.#woken.delete(id);
      if (await this.#suspend(id, usedAt)) return true;
    }
    return false;
  }

  async #suspend(id: InstanceId, usedAt: number): Promise<boolean> {
    const { registry, sandboxes, log } = this.#parts;
    try {
      const row = await registry.instances.get(id);
      if (row === null || row.state !== 'active') return false;
      const { attached, calls, updated } = sandboxes.live(row);
      const move = nextMove({ ...row, updated, blocked: isBlocking(row.fault), attached: attached + calls }, AT_ONCE);
      if (updated > usedAt || move?.state !== 'suspended' || move.at > epochSeconds(this.#parts.clock)) return false;
      await sandboxes.suspend(id, AUDIT);
      return true;
    } catch (error) {
      log.warn({ id, error: messageOf(error) }, 'not suspended to make room for a schedule');
      return false;
    }
  }
}
