/**
 * Thresholds as rows, and the stored time at which each sandbox falls due, which is recomputed when those of the ladder
 * change.
 */
import { and, eq, isNotNull, isNull, ne, or, placeholder } from '../../../db/drizzle.ts';
import { instances, settings, tenants } from '../../../db/schema.ts';
import { type Clock, epochSeconds } from '../../base/clock.ts';
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import { dueAt } from '../thresholds.ts';
import type { Thresholds } from '../types.ts';
import { boundColumns } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { dueAtOfRow, rowid, selectedValue } from './raw.ts';

const GLOBAL = 'thresholds';
/** The global thresholds from which the stored due times were last computed. */
const COMPUTED_WITH = 'thresholds_computed_with';

export class ThresholdTable {
  readonly #database: RegistryDatabase;
  readonly #defaults: Thresholds;
  readonly #clock: Clock;
  readonly #own;
  readonly #setting;
  readonly #keep;

  /**
   * `defaults` apply where nothing was set. When they differ from those of the last start, due times are recomputed.
   */
  constructor(database: RegistryDatabase, defaults: Thresholds, clock: Clock) {
    this.#database = database;
    this.#defaults = defaults;
    this.#clock = clock;
    const { tenant, hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds } = tenants;
    this.#own = database.statement((queries) =>
      queries
        .select({ hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds })
        .from(tenants)
        .where(eq(tenant, placeholder('tenant')))
        .prepare(),
    );
    const { key, value, updated } = settings;
    this.#setting = database.statement((queries) =>
      queries
        .select({ value })
        .from(settings)
        .where(eq(key, placeholder('key')))
        .prepare(),
    );
    this.#keep = database.statement((queries) =>
      queries
        .insert(settings)
        .values(boundColumns({ key, value, updated }))
        .onConflictDoUpdate({ target: key, set: boundColumns({ value, updated }) })
        .prepare(),
    );
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
    return { ...this.#defaults, ...this.#read(GLOBAL) };
  }

  ofTenant(tenant: string): Thresholds {
    const own = this.#own().get({ tenant });
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
    this.#write(GLOBAL, { ...this.#read(GLOBAL), ...changed });
    if (isOfLadder(changed)) this.#recompute();
    return this.global();
  }

  /**
   * Runs inside a write transaction. Null falls back to the global value, absent members stay. Recomputes due
   * times when the ladder's thresholds change.
   */
  setTenant(tenant: string, patch: { [K in keyof Thresholds]?: number | null }): Thresholds {
    const set = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    const insert = this.#database.queries.insert(tenants).values({ tenant, ...set });
    (Object.keys(set).length === 0
      ? insert.onConflictDoNothing()
      : insert.onConflictDoUpdate({ target: tenants.tenant, set })
    ).run();
    if (isOfLadder(set)) this.#recompute(tenant);
    return this.ofTenant(tenant);
  }

  /** Rows with thresholds of their own, and rows without automatic moves, are left unchanged. */
  #recompute(tenant?: string): void {
    const global = this.global();
    const { queries } = this.#database;
    const fresh = queries
      .select({ hit: rowid(instances).as('hit'), dueAt: dueAtOfRow(global).as('fresh_due_at') })
      .from(instances)
      .leftJoin(tenants, eq(tenants.tenant, instances.tenant))
      .where(
        and(
          isNotNull(instances.dueAt),
          tenant === undefined ? undefined : eq(instances.tenant, tenant),
          or(isNull(instances.idleToSuspendSeconds), isNull(instances.idleToFreezeSeconds)),
        ),
      )
      .as('fresh');
    queries
      .update(instances)
      .set({ dueAt: selectedValue(fresh.dueAt) })
      .from(fresh)
      .where(and(eq(rowid(instances), fresh.hit), or(isNull(fresh.dueAt), ne(instances.dueAt, fresh.dueAt))))
      .run();
    this.#write(COMPUTED_WITH, global);
  }

  #read(key: string): Partial<Thresholds> {
    return (this.#setting().get({ key })?.value ?? {}) as Partial<Thresholds>;
  }

  #write(key: string, value: Partial<Thresholds>): void {
    this.#keep().run({ key, value, updated: epochSeconds(this.#clock) });
  }
}

/** True for a change that can move due times: when a process is paused moves no sandbox. */
function isOfLadder(patch: { [K in keyof Thresholds]?: unknown }): boolean {
  return patch.idleToSuspendSeconds !== undefined || patch.idleToFreezeSeconds !== undefined;
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
