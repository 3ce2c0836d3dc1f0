/** The thresholds as rows, and the stored moment at which each sandbox falls due, computed anew when they change. */
import { type Clock, epochSeconds } from '../../clock.ts';
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import type { Thresholds } from '../registry.ts';
import { dueAt } from '../thresholds.ts';
import type { RegistryDatabase } from './database.ts';

const GLOBAL = 'thresholds';
/** The global thresholds that the stored moments were last computed with. */
const COMPUTED_WITH = 'thresholds_computed_with';

export class ThresholdBook {
  readonly #database: RegistryDatabase;
  readonly #defaults: Thresholds;
  readonly #clock: Clock;

  /** `defaults` apply where nothing was set; when they differ from those of the last start, what falls due is computed anew. */
  constructor(database: RegistryDatabase, defaults: Thresholds, clock: Clock) {
    this.#database = database;
    this.#defaults = defaults;
    this.#clock = clock;
    database.client.function('winterdock_due_at', { deterministic: true }, dueAtOfColumns);
    const global = this.global();
    const before = this.#setting(COMPUTED_WITH);
    if (
      before.idleToSuspendSeconds !== global.idleToSuspendSeconds ||
      before.idleToFreezeSeconds !== global.idleToFreezeSeconds
    ) {
      database.write(() => this.#recompute());
    }
  }

  global(): Thresholds {
    return { ...this.#defaults, ...this.#setting(GLOBAL) };
  }

  ofTenant(tenant: string): Thresholds {
    const own = this.#database
      .sql('SELECT idle_to_suspend_s, idle_to_freeze_s FROM tenants WHERE tenant = ?')
      .get(tenant) as (number | null)[] | undefined;
    const global = this.global();
    if (own === undefined) return global;
    return {
      idleToSuspendSeconds: own[0] ?? global.idleToSuspendSeconds,
      idleToFreezeSeconds: own[1] ?? global.idleToFreezeSeconds,
    };
  }

  /** Inside a write transaction. Recomputes what falls due. */
  setGlobal(patch: Partial<Thresholds>): Thresholds {
    const changed = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    this.#keep(GLOBAL, { ...this.#setting(GLOBAL), ...changed });
    this.#recompute();
    return this.global();
  }

  /** Inside a write transaction. Null falls back to the global value; what is absent stays. Recomputes what falls due. */
  setTenant(tenant: string, patch: { [K in keyof Thresholds]?: number | null }): Thresholds {
    const { idleToSuspendSeconds: toSuspend, idleToFreezeSeconds: toFreeze } = patch;
    this.#database.sql('INSERT INTO tenants(tenant) VALUES (?) ON CONFLICT DO NOTHING').run(tenant);
    const set = (column: string, value: number | null) =>
      this.#database.sql(`UPDATE tenants SET ${column} = ? WHERE tenant = ?`).run(value, tenant);
    if (toSuspend !== undefined) set('idle_to_suspend_s', toSuspend);
    if (toFreeze !== undefined) set('idle_to_freeze_s', toFreeze);
    this.#recompute(tenant);
    return this.ofTenant(tenant);
  }

  /** Rows that have thresholds of their own, and rows that nothing happens to, keep what they have. */
  #recompute(tenant?: string): void {
    const global = this.global();
    this.#database
      .sql(
        `UPDATE instances SET due_at = fresh.due_at FROM (
           SELECT instances.rowid AS hit, winterdock_due_at(state, updated, created, keep_hot, hold_until, ephemeral, fault,
             coalesce(instances.idle_to_suspend_s, tenants.idle_to_suspend_s, ?),
             coalesce(instances.idle_to_freeze_s, tenants.idle_to_freeze_s, ?)) AS due_at
           FROM instances LEFT JOIN tenants USING (tenant)
           WHERE instances.due_at IS NOT NULL AND (? IS NULL OR tenant = ?)
             AND (instances.idle_to_suspend_s IS NULL OR instances.idle_to_freeze_s IS NULL)
         ) AS fresh
         WHERE instances.rowid = fresh.hit AND instances.due_at IS NOT fresh.due_at`,
      )
      .run(global.idleToSuspendSeconds, global.idleToFreezeSeconds, tenant ?? null, tenant ?? null);
    this.#keep(COMPUTED_WITH, global);
  }

  #setting(key: string): Partial<Thresholds> {
    const text = this.#database.value('SELECT value FROM settings WHERE key = ?', key);
    return text === null ? {} : (JSON.parse(String(text)) as Partial<Thresholds>);
  }

  #keep(key: string, value: Partial<Thresholds>): void {
    this.#database
      .sql(
        'INSERT INTO settings(key, value, updated) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, updated = excluded.updated',
      )
      .run(key, JSON.stringify(value), epochSeconds(this.#clock));
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
