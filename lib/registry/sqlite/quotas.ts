/**
 * What a tenant may have and what it has. The counts are kept by triggers, so a check costs a row or two; it runs inside the transaction of
 * what it allows. Decides only what is a number; who may set one is decided above.
 */
import { WinterdockError } from '../../errors.ts';
import { STATES, type State } from '../../lifecycle/states.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { QuotaLimits, Quotas, TenantFilter, TenantRow } from '../quotas.ts';
import type { LedgerEntry, Page } from '../registry.ts';
import type { RegistryDatabase } from './database.ts';
import type { Ledger } from './ledger.ts';

const COLUMN: Readonly<Record<keyof QuotaLimits, string>> = {
  maxSandboxes: 'max_sandboxes',
  maxActive: 'max_active',
  maxBytes: 'max_bytes',
};
const LIMIT: Readonly<Record<keyof QuotaLimits, string>> = {
  maxSandboxes: 'SELECT max_sandboxes FROM tenants WHERE tenant = ?',
  maxActive: 'SELECT max_active FROM tenants WHERE tenant = ?',
  maxBytes: 'SELECT max_bytes FROM tenants WHERE tenant = ?',
};
const SANDBOXES = `SELECT coalesce(sum(n), 0) FROM counts_by_tenant WHERE tenant = ? AND state <> 'deleted'`;
const ACTIVE = `SELECT n FROM counts_by_tenant WHERE tenant = ? AND state = 'active'`;
const BYTES = 'SELECT coalesce(sum(bytes), 0) FROM counts_by_tenant WHERE tenant = ?';
const SNAPSHOT_BYTES = `SELECT coalesce(sum(bytes), 0) FROM
  (SELECT DISTINCT hash, bytes FROM snapshots INDEXED BY snapshots_by_tenant WHERE tenant = ? AND deleted IS NULL)`;
const WAKING = `SELECT count(*) FROM instances INDEXED BY instances_pending
  WHERE pending IS NOT NULL AND tenant = ? AND state <> 'active' AND pending ->> '$.verb' IN ('resume', 'revive')`;
const TENANTS = `SELECT tenant FROM (SELECT tenant FROM counts_by_tenant UNION SELECT tenant FROM tenants)
  WHERE tenant > ? AND (? IS NULL OR tenant IN (SELECT value FROM json_each(?))) AND instr(tenant, ?) > 0
  AND (tenant NOT IN (SELECT tenant FROM forgettings) OR tenant IN (SELECT tenant FROM forgettings WHERE finished IS NULL)
    OR tenant IN (SELECT tenant FROM tenants) OR tenant IN (SELECT tenant FROM counts_by_tenant WHERE state <> 'deleted' AND n > 0))
  AND (? = 0 OR tenant IN (SELECT tenant FROM tenants WHERE idle_to_suspend_s IS NOT NULL OR idle_to_freeze_s IS NOT NULL))
  ORDER BY tenant LIMIT ?`;
const COUNTS = 'SELECT state, n, bytes FROM counts_by_tenant WHERE tenant = ?';
const VOLUME_SUMS = 'SELECT instances, workspace, memory, tmp FROM volumes_by_tenant WHERE tenant = ?';
const OWN = `SELECT idle_to_suspend_s, idle_to_freeze_s, max_sandboxes, max_active, max_bytes FROM tenants WHERE tenant = ?`;
const RESERVE = 'UPDATE instances SET bytes = coalesce(bytes, 0) + ? WHERE id = ?';

export class QuotaBook implements Quotas {
  readonly #database: RegistryDatabase;
  readonly #ledger: Ledger;

  constructor(database: RegistryDatabase, ledger: Ledger) {
    this.#database = database;
    this.#ledger = ledger;
  }

  tenants({ among, text = '', ownThresholds = false }: TenantFilter, limit: number, cursor?: string): Page<TenantRow> {
    const [after] = cursor === undefined ? [''] : readCursor(cursor, isName);
    const asked = among === undefined ? null : JSON.stringify(among);
    const names = this.#database
      .sql(TENANTS)
      .all(after, asked, asked, text, Number(ownThresholds), limit + 1)
      .map(([name]) => String(name));
    const rows = names.slice(0, limit).flatMap((name) => this.tenant(name) ?? []);
    const last = rows.at(-1);
    return { rows, next: names.length > limit && last !== undefined ? writeCursor([last.tenant]) : null };
  }

  tenant(tenant: string): TenantRow | null {
    const counted = this.#database.sql(COUNTS).all(tenant);
    const own = this.#database.sql(OWN).get(tenant) as (number | null)[] | undefined;
    if (counted.length === 0 && own === undefined) return null;
    const byState = (column: 1 | 2) => {
      const known = new Map(counted.map((values) => [values[0], Number(values[column])]));
      return Object.fromEntries(STATES.map((state) => [state, known.get(state) ?? 0])) as Record<State, number>;
    };
    const sums = this.#database.sql(VOLUME_SUMS).get(tenant) as number[] | undefined;
    const [instances = 0, workspace = 0, memory = 0, tmp = 0] = sums ?? [];
    return {
      tenant,
      counts: byState(1),
      bytes: byState(2),
      volumes: { instances, workspace, memory, tmp },
      thresholds: { idleToSuspendSeconds: own?.[0] ?? null, idleToFreezeSeconds: own?.[1] ?? null },
      quotas: { maxSandboxes: own?.[2] ?? null, maxActive: own?.[3] ?? null, maxBytes: own?.[4] ?? null },
    };
  }

  set(tenant: string, patch: Partial<QuotaLimits>, entry: LedgerEntry): QuotaLimits {
    const [limits, lines] = this.#database.write(() => {
      this.#database.sql('INSERT INTO tenants(tenant) VALUES (?) ON CONFLICT DO NOTHING').run(tenant);
      for (const [name, value] of Object.entries(patch) as [keyof QuotaLimits, number | null | undefined][]) {
        if (value === undefined) continue;
        this.#database.sql(`UPDATE tenants SET ${COLUMN[name]} = ? WHERE tenant = ?`).run(value, tenant);
      }
      const after = this.tenant(tenant)?.quotas ?? { maxSandboxes: null, maxActive: null, maxBytes: null };
      return [after, this.#ledger.append([entry])] as const;
    });
    this.#ledger.announce(lines);
    return limits;
  }

  bytesLeft(tenant: string): number | null {
    const limit = this.#limit('maxBytes', tenant);
    return limit === null ? null : Math.max(0, limit - this.#database.integer(BYTES, tenant));
  }

  reserve(id: string, tenant: string, bytes: number): void {
    if (this.#limit('maxBytes', tenant) === null) return;
    this.#database.write(() => {
      this.needBytes(tenant, bytes);
      this.#database.sql(RESERVE).run(bytes, id);
    });
  }

  /** Inside the transaction that adds so many sandboxes. Throws `quota_exceeded`. */
  needSandboxes(tenant: string, more: number): void {
    const limit = this.#limit('maxSandboxes', tenant);
    if (limit === null || more === 0) return;
    const used = this.#database.integer(SANDBOXES, tenant);
    if (used + more > limit) throw exceeded(tenant, 'max_sandboxes', limit, used, 'sandboxes', 'Delete one');
  }

  /** Inside the transaction that wakes one; with `waking` those whose wake is under way count. Throws `quota_exceeded`. */
  needActive(tenant: string, { waking }: { waking: boolean }): void {
    const limit = this.#limit('maxActive', tenant);
    if (limit === null) return;
    const used = this.#database.integer(ACTIVE, tenant) + (waking ? this.#database.integer(WAKING, tenant) : 0);
    if (used >= limit)
      throw exceeded(tenant, 'max_active', limit, used, 'active sandboxes', 'Suspend one, or wait until one idles');
  }

  /** Inside the transaction that adds so many bytes. Throws `quota_exceeded`. */
  needBytes(tenant: string, more: number): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null || more <= 0) return;
    const used = this.#database.integer(BYTES, tenant);
    if (used + more > limit) throw exceeded(tenant, 'max_bytes', limit, used, 'bytes', 'Delete files or sandboxes');
  }

  /** After a snapshot was added, in its transaction: those of a tenant and its sandboxes together have no more bytes than it may have. Throws `quota_exceeded`. */
  needSnapshots(tenant: string): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null) return;
    const used = this.#database.integer(BYTES, tenant) + this.#database.integer(SNAPSHOT_BYTES, tenant);
    if (used <= limit) return;
    throw exceeded(
      tenant,
      'max_bytes',
      limit,
      used,
      'bytes, with this snapshot',
      'Delete snapshots, files or sandboxes',
    );
  }

  #limit(quota: keyof QuotaLimits, tenant: string): number | null {
    return this.#database.value(LIMIT[quota], tenant) as number | null;
  }
}

function exceeded(
  tenant: string,
  quota: string,
  limit: number,
  used: number,
  what: string,
  hint: string,
): WinterdockError {
  return new WinterdockError('quota_exceeded', `The tenant "${tenant}" may have ${limit} ${what} and has ${used}.`, {
    hint: `${hint}, or have the quota raised.`,
    extra: { quota, limit, used },
  });
}

function isName(position: unknown[]): position is [string] {
  return position.length === 1 && typeof position[0] === 'string';
}
