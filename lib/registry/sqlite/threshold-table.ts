/**
 * Thresholds as rows, and the stored time at which each sandbox falls due, which is recomputed when those of the ladder
 * change.
 */
import { type Clock, epochSeconds } from '../../base/clock.ts';
import type { State } from '../../lifecycle/state-map.ts';
import type { Fault } from '../../lifecycle/words.ts';
import { settingStatements } from '../statements/facts.ts';
import {
  COMPUTED_WITH,
  GLOBAL_THRESHOLDS,
  isOfLadder,
  recomputeBindings,
  type TenantThresholds,
  thresholdStatements,
} from '../statements/thresholds.ts';
import { dueAt } from '../thresholds.ts';
import type { Thresholds } from '../types.ts';
import type { RegistryDatabase } from './database.ts';

export class ThresholdTable {
  readonly #defaults: Thresholds;
  readonly #clock: Clock;
  readonly #statements;
  readonly #settings;

  /**
   * `defaults` apply where nothing was set. When they differ from those of the last start, due times are recomputed.
   */
  constructor(database: RegistryDatabase, defaults: Thresholds, clock: Clock) {
    this.#defaults = defaults;
    this.#clock = clock;
    this.#statements = thresholdStatements(database);
    this.#settings = settingStatements(database);
    database.client.function('winterdock_due_at', { deterministic: true }, dueAtOfColumns);
    const global = this.global();
    const before = this.#read(COMPUTED_WITH);
    if (
      before.idleToSuspendSeconds !== global.idleToSuspendSeconds ||
      before.idleToFreezeSeconds !== global.idleToFreezeSeconds
    ) {
      database.write(() => this.#recompute());
    }
  }

  global(): Thresholds {
    return { ...this.#defaults, ...this.#read(GLOBAL_THRESHOLDS) };
  }

  ofTenant(tenant: string): Thresholds {
    const own = this.#statements.own().get({ tenant });
    const global = this.global();
    return {
      hotToWarmSeconds: own?.hotToWarmSeconds ?? global.hotToWarmSeconds,
      idleToSuspendSeconds: own?.idleToSuspendSeconds ?? global.idleToSuspendSeconds,
      idleToFreezeSeconds: own?.idleToFreezeSeconds ?? global.idleToFreezeSeconds,
    };
  }

  /** Runs inside a write transaction. Recomputes due times when the ladder's thresholds change. */
  setGlobal(patch: Partial<Thresholds>): Thresholds {
    const changed = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    this.#write(GLOBAL_THRESHOLDS, { ...this.#read(GLOBAL_THRESHOLDS), ...changed });
    if (isOfLadder(changed)) this.#recompute();
    return this.global();
  }

  /**
   * Runs inside a write transaction. Null falls back to the global value, absent members stay. Recomputes due
   * times when the ladder's thresholds change.
   */
  setTenant(tenant: string, patch: TenantThresholds): Thresholds {
    const set = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    this.#statements.set(Object.keys(set)).run({ ...set, tenant });
    if (isOfLadder(set)) this.#recompute(tenant);
    return this.ofTenant(tenant);
  }

  /** Rows with thresholds of their own, and rows without automatic moves, are left unchanged. */
  #recompute(tenant?: string): void {
    const global = this.global();
    this.#statements.recompute(tenant !== undefined).run({ ...recomputeBindings(global), tenant });
    this.#write(COMPUTED_WITH, global);
  }

  #read(key: string): Partial<Thresholds> {
    return (this.#settings.read().get({ key })?.value ?? {}) as Partial<Thresholds>;
  }

  #write(key: string, value: Partial<Thresholds>): void {
    this.#settings.keep().run({ key, value, updated: epochSeconds(this.#clock) });
  }
}

/** `dueAt` over columns, for the one statement that recomputes many rows. */
function dueAtOfColumns(
  state: State,
  updated: number,
  created: number,
  keepHot: number,
  holdUntil: number | null,
  ephemeral: number,
  fault: Fault | null,
  idleToSuspendSeconds: number,
  idleToFreezeSeconds: number,
): number | null {
  const thresholds = { idleToSuspendSeconds, idleToFreezeSeconds };
  return dueAt(
    { state, updated, created, keepHot: keepHot === 1, holdUntil, ephemeral: ephemeral === 1, fault, ...thresholds },
    thresholds,
  );
}
