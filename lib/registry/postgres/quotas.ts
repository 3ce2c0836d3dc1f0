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
import type { PostgresDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';

export class QuotaTable implements QuotaStore {
  readonly #database: PostgresDatabase;
  readonly #ledger: LedgerTable;

  readonly #statements;

  constructor(database: PostgresDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    this.#statements = database.with(quotaStatements);
  }

  async tenants(
    { among, text = '', ownThresholds = false }: TenantFilter,
    limit: number,
    cursor?: string,
  ): Promise<RowPage<TenantRow>> {
    const [after] = cursor === undefined ? [''] : readCursor(cursor, isTextPosition);
    const bound = { after, among: JSON.stringify(among ?? []), text, limit: limit + 1 };
    const names = await this.#statements.names(among !== undefined, ownThresholds).all(bound);
    const found = await Promise.all(names.slice(0, limit).map(({ tenant }) => this.tenant(tenant)));
    const rows = found.filter((row) => row !== null);
    const last = rows.at(-1);
    return { rows, next: names.length > limit && last !== undefined ? writeCursor([last.tenant]) : null };
  }

  async tenant(tenant: string): Promise<TenantRow | null> {
    const counted = await this.#statements.counted().all({ tenant });
    const own = await this.#statements.overrides().get({ tenant });
    if (counted.length === 0 && own === undefined) return null;
    return tenantRow(tenant, counted, own, await this.#statements.volumes().get({ tenant }));
  }

  async set(tenant: string, patch: Partial<QuotaLimits>, entry: LedgerEntry): Promise<QuotaLimits> {
    await this.#override(tenant, patch, entry);
    return (await this.tenant(tenant))?.quotas ?? NO_QUOTAS;
  }

  async replicateOf(tenant: string): Promise<string | null> {
    return (await this.#statements.overrides().get({ tenant }))?.replicate ?? null;
  }

  async setReplicate(tenant: string, replicate: string | null, entry: LedgerEntry): Promise<string | null> {
    await this.#override(tenant, { replicate }, entry);
    return replicate;
  }

  async replicated(): Promise<{ tenant: string; replicate: string }[]> {
    return (await this.#statements.replicated().all({})).flatMap(({ tenant, replicate }) =>
      replicate === null ? [] : { tenant, replicate },
    );
  }

  async limited(): Promise<string[]> {
    return (await this.#statements.limited().all({})).map(({ tenant }) => tenant);
  }

  async maxRunSeconds(tenant: string): Promise<number | null> {
    return (await this.#statements.overrides().get({ tenant }))?.maxRunSeconds ?? null;
  }

  async maxCallSeconds(tenant: string): Promise<number | null> {
    return (await this.#statements.overrides().get({ tenant }))?.maxCallSeconds ?? null;
  }

  async bytesLeft(tenant: string): Promise<number | null> {
    const limit = await this.#limit('maxBytes', tenant);
    return limit === null ? null : Math.max(0, limit - (await this.#usedBytes(tenant)));
  }

  async reserve(id: InstanceId, tenant: string, bytes: number): Promise<void> {
    if ((await this.#limit('maxBytes', tenant)) === null) return;
    await this.#database.write(async () => {
      await this.needBytes(tenant, bytes);
      await this.#statements.reserve().run({ more: bytes, id });
    });
  }

  /** Runs inside the transaction that adds this many sandboxes. Throws `quota_exceeded`. */
  async needSandboxes(tenant: string, more: number): Promise<void> {
    const limit = await this.#limit('maxSandboxes', tenant);
    if (limit === null || more === 0) return;
    const used =
      (await this.#used(this.#statements.sandboxes, tenant)) +
      ((await this.#statements.admitted().get({ tenant }))?.sandboxes ?? 0);
    if (used + more > limit) throw quotaExceeded(tenant, 'max_sandboxes', limit, used, 'sandboxes', 'Delete one');
  }

  /** Runs inside the transaction that wakes a sandbox; with `waking`, pending wakes count. Throws `quota_exceeded`. */
  async needActive(tenant: string, { waking }: { waking: boolean }): Promise<void> {
    const limit = await this.#limit('maxActive', tenant);
    if (limit === null) return;
    const used = (await this.#used(this.#statements.active, tenant)) + (waking ? await this.#wakes(tenant) : 0);
    requireActiveLeft(tenant, limit, used);
  }

  /** Runs inside the transaction that adds this many bytes. Throws `quota_exceeded`. */
  async needBytes(tenant: string, more: number): Promise<void> {
    const limit = await this.#limit('maxBytes', tenant);
    if (limit === null || more <= 0) return;
    const used = await this.#usedBytes(tenant);
    if (used + more > limit)
      throw quotaExceeded(tenant, 'max_bytes', limit, used, 'bytes', 'Delete files or sandboxes');
  }

  /**
   * Runs inside the transaction that added a snapshot: checks the tenant's bytes of snapshots and sandboxes together.
   * Throws `quota_exceeded`.
   */
  async needSnapshots(tenant: string): Promise<void> {
    const limit = await this.#limit('maxBytes', tenant);
    if (limit === null) return;
    const used = (await this.#usedBytes(tenant)) + (await this.#used(this.#statements.snapshotBytes, tenant));
    requireSnapshotBytes(tenant, limit, used);
  }

  /** Writes overrides of a tenant with their ledger line. */
  async #override(
    tenant: string,
    patch: Readonly<Record<string, string | number | null | undefined>>,
    entry: LedgerEntry,
  ) {
    await this.#ledger.recorded([entry], async () => {
      await this.#statements.make().run({ tenant });
      const given = Object.entries(patch).filter(([, value]) => value !== undefined);
      if (given.length > 0)
        await this.#statements.change(given.map(([name]) => name)).run({ ...Object.fromEntries(given), tenant });
    });
  }

  async #limit(quota: CheckedQuota, tenant: string): Promise<number | null> {
    return (await this.#statements.limits[quota]().get({ tenant }))?.limit ?? null;
  }

  async #used(
    statement: () => { get(values: { tenant: string }): Promise<{ used: number | null } | undefined> },
    tenant: string,
  ): Promise<number> {
    return (await statement().get({ tenant }))?.used ?? 0;
  }

  /** With those of sandboxes that are admitted and not inserted yet. */
  async #usedBytes(tenant: string): Promise<number> {
    return (
      (await this.#used(this.#statements.bytes, tenant)) +
      ((await this.#statements.admitted().get({ tenant }))?.bytes ?? 0)
    );
  }

  /** Sandboxes with a pending wake, from the few with a pending operation. */
  async #wakes(tenant: string): Promise<number> {
    return (await this.#statements.waking().all({ tenant })).filter(
      ({ pending }) => pending !== null && WAKE_VERBS.some((verb) => verb === pending.verb),
    ).length;
  }
}
