/**
 * Thresholds as rows, and the stored time at which each sandbox falls due, which is recomputed when those of the ladder
 * change. Read with each write of a row, in one statement each.
 */
import { type Clock, epochSeconds } from '../../base/clock.ts';
import { settingStatements } from '../statements/facts.ts';
import {
  COMPUTED_WITH,
  GLOBAL_THRESHOLDS,
  isOfLadder,
  recomputeBindings,
  type TenantThresholds,
  thresholdStatements,
} from '../statements/thresholds.ts';
import type { Thresholds } from '../types.ts';
import type { PostgresDatabase } from './database.ts';

export class ThresholdTable {
  readonly #database: PostgresDatabase;
  readonly #defaults: Thresholds;
  readonly #clock: Clock;
  readonly #statements;
  readonly #settings;

  /** `defaults` apply where nothing was set. */
  constructor(database: PostgresDatabase, defaults: Thresholds, clock: Clock) {
    this.#database = database;
    this.#defaults = defaults;
    this.#clock = clock;
    this.#statements = database.with(thresholdStatements);
    this.#settings = database.with(settingStatements);
  }

  /** Recomputes due times when the defaults are others than at the last start. */
  async start(): Promise<void> {
    const [before, global] = [await this.#read(COMPUTED_WITH), await this.global()];
    if (
      before.idleToSuspendSeconds !== global.idleToSuspendSeconds ||
      before.idleToFreezeSeconds !== global.idleToFreezeSeconds
    ) {
      await this.#database.write(() => this.#recompute());
    }
  }

  async global(): Promise<Thresholds> {
    return { ...this.#defaults, ...(await this.#read(GLOBAL_THRESHOLDS)) };
  }

  async ofTenant(tenant: string): Promise<Thresholds> {
    const [own, global] = await Promise.all([this.#statements.own().get({ tenant }), this.global()]);
    return {
      hotToWarmSeconds: own?.hotToWarmSeconds ?? global.hotToWarmSeconds,
      idleToSuspendSeconds: own?.idleToSuspendSeconds ?? global.idleToSuspendSeconds,
      idleToFreezeSeconds: own?.idleToFreezeSeconds ?? global.idleToFreezeSeconds,
    };
  }

  /** Runs inside a write transaction. Recomputes due times when the ladder's thresholds change. */
  async setGlobal(patch: Partial<Thresholds>): Promise<Thresholds> {
    const changed = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    await this.#write(GLOBAL_THRESHOLDS, { ...(await this.#read(GLOBAL_THRESHOLDS)), ...changed });
    if (isOfLadder(changed)) await this.#recompute();
    return this.global();
  }

  /** Runs inside a write transaction. Null falls back to the global value, absent members stay. */
  async setTenant(tenant: string, patch: TenantThresholds): Promise<Thresholds> {
    const set = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    await this.#statements.set(Object.keys(set)).run({ ...set, tenant });
    if (isOfLadder(set)) await this.#recompute(tenant);
    return this.ofTenant(tenant);
  }

  async #recompute(tenant?: string): Promise<void> {
    const global = await this.global();
    await this.#statements.recompute(tenant !== undefined).run({ ...recomputeBindings(global), tenant });
    await this.#write(COMPUTED_WITH, global);
  }

  async #read(key: string): Promise<Partial<Thresholds>> {
    return ((await this.#settings.read().get({ key }))?.value ?? {}) as Partial<Thresholds>;
  }

  async #write(key: string, value: Partial<Thresholds>): Promise<void> {
    await this.#settings.keep().run({ key, value, updated: epochSeconds(this.#clock) });
  }
}
