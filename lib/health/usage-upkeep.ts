/**
 * Keeps the usage by the hour up to date and bounded: counts the lines of the ledger that are new, and deletes what is
 * older or more than the settings allow. Both in small steps, between which other work runs.
 */
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import type { Logger } from '../base/log.ts';
import type { Claims } from '../claims/claims.ts';
import type { Registry } from '../registry/registry.ts';

const EVERY_MS = 15_000;
/** Between two steps in the background, so that others are served meanwhile. */
const REST_MS = 20;
const PRUNE_EVERY_MS = 600_000;
/** Lines counted in one transaction: some milliseconds. */
const LINES = 2000;
/** Steps that a reader waits for. */
const READER_STEPS = 4;
/** Rows deleted in one transaction. */
const ROWS = 2000;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 86_400;

interface UpkeepParts {
  /** One host counts and deletes in the background. */
  claims: Pick<Claims, 'keep'>;
  config: Pick<Config, 'usageKeepDays' | 'usageRows'>;
  clock: Clock;
  log: Logger;
  registry: Pick<Registry, 'usage'>;
}

export class UsageUpkeep {
  readonly #parts: UpkeepParts;
  #counting: Promise<void> | null = null;
  #timers: NodeJS.Timeout[] = [];
  #stopping = false;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
  }

  start(): void {
    const { log } = this.#parts;
    const count = () => void this.#countAll().catch((err) => log.warn({ err }, 'the ledger was not counted'));
    const prune = () => void this.prune().catch((err) => log.warn({ err }, 'old usage was not deleted'));
    this.#timers = [setInterval(count, EVERY_MS).unref(), setInterval(prune, PRUNE_EVERY_MS).unref()];
    count();
    prune();
  }

  /** Counts all lines that are new: years of them after an upgrade. */
  #countAll(): Promise<void> {
    this.#counting ??= (async () => {
      while ((await this.#isMine()) && (await this.#step()) > 0) await setTimeout(REST_MS);
    })().finally(() => {
      this.#counting = null;
    });
    return this.#counting;
  }

  /** Counts lines that are new for a reader who waits, in a few steps: what is left is counted in the background. */
  async count(): Promise<void> {
    for (let step = 0; step < READER_STEPS; step += 1) {
      if ((await this.#step()) === 0) return;
      await setImmediate();
    }
  }

  async #isMine(): Promise<boolean> {
    return !this.#stopping && (await this.#parts.claims.keep('usage', [''])).has('');
  }

  /** Returns how many lines are left. Anybody may: each step is a transaction that counts what no other has counted. */
  #step(): Promise<number> {
    const { registry, clock, config } = this.#parts;
    return registry.usage.countLedger(LINES, clock.now() - config.usageKeepDays * DAY_SECONDS * 1000);
  }

  /** Deletes what is too old or too much. */
  async prune(): Promise<void> {
    const { registry, clock, config } = this.#parts;
    const before = Math.floor(epochSeconds(clock) / HOUR_SECONDS) - config.usageKeepDays * 24;
    while ((await this.#isMine()) && (await registry.usage.prune(before, config.usageRows, ROWS)) > 0)
      await setImmediate();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    await this.#counting?.catch(() => undefined);
  }
}
