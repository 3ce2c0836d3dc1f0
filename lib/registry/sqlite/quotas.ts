/**
 * Quotas and usage of tenants. The counts are kept by triggers, so a check costs a row or two; it runs inside the
 * transaction that it allows. Checks numbers only; callers check who may set a quota.
 */
import type { InstanceId } from '../../base/ids.ts';
import { WAKE_VERBS } from '../../lifecycle/state-map.ts';
import { isTextPosition, readCursor, writeCursor } from '../cursor.ts';
import { NO_QUOTAS, type QuotaLimits, type QuotaStore, type TenantFilter, type TenantRow } from '../quotas.ts';
import { quotaExceeded, requireActiveLeft, requireSnapshotBytes } from '../registry-errors.ts';
import { type CheckedQuota, quotaStatements, tenantRow } from '../statements/quotas.ts';
import type { LedgerEntry, RowPage } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import type { SyncMethods } from './to-async.ts';

export class QuotaTable implements SyncMethods<QuotaStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = quotaStatements(database);
  }

  tenants(
    { among, text = '', ownThresholds = false }: TenantFilter,
    limit: number,
    cursor?: string,
  ): RowPage<TenantRow> {
    const [after] = cursor === undefined ? [''] : readCursor(cursor, isTextPosition);
    const names = this.#statements
      .names(among !== undefined, ownThresholds)
      .all({ after, among: JSON.stringify(among ?? null), text, limit: limit + 1 })
      .map(({ tenant }) => tenant);
    const rows = names.slice(0, limit).flatMap((name) => this.tenant(name) ?? []);
    const last = rows.at(-1);
    return { rows, next: names.length > limit && last !== undefined ? writeCursor([last.tenant]) : null };
  }

  tenant(tenant: string): TenantRow | null {
    const counted = this.#statements.counted().all({ tenant });
    const own = this.#statements.overrides().get({ tenant });
    if (counted.length === 0 && own === undefined) return null;
    return tenantRow(tenant, counted, own, this.#statements.volumes().get({ tenant }));
  }

  set(tenant: string, patch: Partial<QuotaLimits>, entry: LedgerEntry): QuotaLimits {
    this.#override(tenant, patch, entry);
    return this.tenant(tenant)?.quotas ?? NO_QUOTAS;
  }

  replicateOf(tenant: string): string | null {
    return this.#statements.overrides().get({ tenant })?.replicate ?? null;
  }

  setReplicate(tenant: string, replicate: string | null, entry: LedgerEntry): string | null {
    this.#override(tenant, { replicate }, entry);
    return replicate;
  }

  replicated(): { tenant: string; replicate: string }[] {
    return this.#statements
      .replicated()
      .all({})
      .flatMap(({ tenant, replicate }) => (replicate === null ? [] : { tenant, replicate }));
  }

  limited(): string[] {
    return this.#statements
      .limited()
      .all({})
      .map(({ tenant }) => tenant);
  }

  maxRunSeconds(tenant: string): number | null {
    return this.#statements.overrides().get({ tenant })?.maxRunSeconds ?? null;
  }

  maxCallSeconds(tenant: string): number | null {
    return this.#statements.overrides().get({ tenant })?.maxCallSeconds ?? null;
  }

  bytesLeft(tenant: string): number | null {
    const limit = this.#limit('maxBytes', tenant);
    return limit === null ? null : Math.max(0, limit - this.#usedBytes(tenant));
  }

  reserve(id: InstanceId, tenant: string, bytes: number): void {
    if (this.#limit('maxBytes', tenant) === null) return;
    this.#database.write(() => {
      this.needBytes(tenant, bytes);
      this.#statements.reserve().run({ more: bytes, id });
    });
  }

  /** Runs inside the transaction that adds this many sandboxes. Throws `quota_exceeded`. */
  needSandboxes(tenant: string, more: number): void {
    const limit = this.#limit('maxSandboxes', tenant);
    if (limit === null || more === 0) return;
    const used =
      this.#used(this.#statements.sandboxes, tenant) + (this.#statements.admitted().get({ tenant })?.sandboxes ?? 0);
    if (used + more > limit) throw quotaExceeded(tenant, 'max_sandboxes', limit, used, 'sandboxes', 'Delete one');
  }

  /** Runs inside the transaction that wakes a sandbox; with `waking`, pending wakes count. Throws `quota_exceeded`. */
  needActive(tenant: string, { waking }: { waking: boolean }): void {
    const limit = this.#limit('maxActive', tenant);
    if (limit === null) return;
    const used = this.#used(this.#statements.active, tenant) + (waking ? this.#wakes(tenant) : 0);
    requireActiveLeft(tenant, limit, used);
  }

  /** Runs inside the transaction that adds this many bytes. Throws `quota_exceeded`. */
  needBytes(tenant: string, more: number): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null || more <= 0) return;
    const used = this.#usedBytes(tenant);
    if (used + more > limit)
      throw quotaExceeded(tenant, 'max_bytes', limit, used, 'bytes', 'Delete files or sandboxes');
  }

  /**
   * Runs inside the transaction that added a snapshot: checks the tenant's bytes of snapshots and sandboxes together.
   * Throws `quota_exceeded`.
   */
  needSnapshots(tenant: string): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null) return;
    const used = this.#usedBytes(tenant) + this.#used(this.#statements.snapshotBytes, tenant);
    requireSnapshotBytes(tenant, limit, used);
  }

  /** Writes overrides of a tenant with their ledger line. */
  #override(tenant: string, patch: Readonly<Record<string, string | number | null | undefined>>, entry: LedgerEntry) {
    const lines = this.#database.write(() => {
      this.#statements.make().run({ tenant });
      const given = Object.entries(patch).filter(([, value]) => value !== undefined);
      if (given.length > 0)
        this.#statements.change(given.map(([name]) => name)).run({ ...Object.fromEntries(given), tenant });
      return this.#ledger.append([entry]);
    });
    this.#ledger.announce(lines);
  }

  #limit(quota: CheckedQuota, tenant: string): number | null {
    return this.#statements.limits[quota]().get({ tenant })?.limit ?? null;
  }

  #used(statement: () => { get(values: { tenant: string }): { used: number | null } | undefined }, tenant: string) {
    return statement().get({ tenant })?.used ?? 0;
  }

  /** With those of sandboxes that are admitted and not inserted yet. */
  #usedBytes(tenant: string): number {
    return this.#used(this.#statements.bytes, tenant) + (this.#statements.admitted().get({ tenant })?.bytes ?? 0);
  }

  /** Sandboxes with a pending wake, from the few with a pending operation. */
  #wakes(tenant: string): number {
    return this.#statements
      .waking()
      .all({ tenant })
      .filter(({ pending }) => pending !== null && WAKE_VERBS.some((verb) => verb === pending.verb)).length;
  }
}
