/**
 * Quotas and usage of tenants. The counts are kept by triggers, so a check costs a row or two; it runs inside the
 * transaction that it allows. Checks numbers only; callers check who may set a quota.
 */
import {
  and,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNotNull,
  isNull,
  ne,
  notInArray,
  or,
  placeholder,
  sum,
  union,
} from '../../../db/drizzle.ts';
import {
  countsByTenant,
  instances,
  seedingChunks,
  snapshots,
  tenantForgettings,
  tenants,
  volumesByTenant,
} from '../../../db/schema.ts';
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { STATES, type State, WAKE_VERBS } from '../../lifecycle/states.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { NO_QUOTAS, type QuotaLimits, type QuotaStore, type TenantFilter, type TenantRow } from '../quotas.ts';
import type { LedgerEntry, RowPage } from '../types.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import type { LedgerTable } from './ledger.ts';
import { contains, inBoundList, plusBound, selectBy, sumOrZero } from './raw.ts';
import type { SyncMethods } from './to-async.ts';

/** The quotas that are checked in transactions of the registry. */
type CheckedQuota = Exclude<keyof QuotaLimits, 'maxDailyCpuSeconds' | 'maxRunSeconds' | 'maxCallSeconds'>;

const { tenant: _, ...OVERRIDES } = getTableColumns(tenants);

export class QuotaTable implements SyncMethods<QuotaStore> {
  readonly #database: RegistryDatabase;
  readonly #ledger: LedgerTable;

  readonly #limits;
  readonly #sandboxes;
  readonly #active;
  readonly #waking;
  readonly #bytes;
  readonly #admitted;
  readonly #snapshotBytes;
  readonly #counted;
  readonly #overrides;
  readonly #volumes;
  readonly #make;
  readonly #reserve;
  readonly #replicated;

  constructor(database: RegistryDatabase, ledger: LedgerTable) {
    this.#database = database;
    this.#ledger = ledger;
    const limit = (quota: CheckedQuota) =>
      database.statement((queries) =>
        queries
          .select({ limit: tenants[quota] })
          .from(tenants)
          .where(eq(tenants.tenant, placeholder('tenant')))
          .prepare(),
      );
    this.#limits = {
      maxSandboxes: limit('maxSandboxes'),
      maxActive: limit('maxActive'),
      maxBytes: limit('maxBytes'),
    };
    const counted = eq(countsByTenant.tenant, placeholder('tenant'));
    this.#sandboxes = database.statement((queries) =>
      queries
        .select({ used: sum(countsByTenant.n).mapWith(Number) })
        .from(countsByTenant)
        .where(and(counted, ne(countsByTenant.state, 'deleted')))
        .prepare(),
    );
    this.#active = database.statement((queries) =>
      queries
        .select({ used: countsByTenant.n })
        .from(countsByTenant)
        .where(and(counted, eq(countsByTenant.state, 'active')))
        .prepare(),
    );
    this.#waking = database.statement((queries) =>
      selectBy(queries, { pending: instances.pending }, instances, 'instances_pending')
        .where(
          and(isNotNull(instances.pending), eq(instances.tenant, placeholder('tenant')), ne(instances.state, 'active')),
        )
        .prepare(),
    );
    this.#bytes = database.statement((queries) =>
      queries
        .select({ used: sum(countsByTenant.bytes).mapWith(Number) })
        .from(countsByTenant)
        .where(counted)
        .prepare(),
    );
    this.#admitted = database.statement((queries) =>
      queries
        .select({ sandboxes: sumOrZero(seedingChunks.sandboxes), bytes: sumOrZero(seedingChunks.bytes) })
        .from(seedingChunks)
        .where(eq(seedingChunks.tenant, placeholder('tenant')))
        .prepare(),
    );
    this.#snapshotBytes = database.statement((queries) => {
      const files = queries
        .selectDistinct({ hash: snapshots.hash, bytes: snapshots.bytes })
        .from(snapshots)
        .where(and(eq(snapshots.tenant, placeholder('tenant')), isNull(snapshots.deleted)))
        .as('files');
      return queries
        .select({ used: sum(files.bytes).mapWith(Number) })
        .from(files)
        .prepare();
    });
    this.#counted = database.statement((queries) =>
      queries
        .select({ state: countsByTenant.state, n: countsByTenant.n, bytes: countsByTenant.bytes })
        .from(countsByTenant)
        .where(counted)
        .prepare(),
    );
    this.#overrides = database.statement((queries) =>
      queries
        .select(OVERRIDES)
        .from(tenants)
        .where(eq(tenants.tenant, placeholder('tenant')))
        .prepare(),
    );
    const { tenant, ...volumes } = getTableColumns(volumesByTenant);
    this.#volumes = database.statement((queries) =>
      queries
        .select(volumes)
        .from(volumesByTenant)
        .where(eq(tenant, placeholder('tenant')))
        .prepare(),
    );
    this.#make = database.statement((queries) =>
      queries
        .insert(tenants)
        .values({ tenant: boundValue('tenant') })
        .onConflictDoNothing()
        .prepare(),
    );
    this.#replicated = database.statement((queries) =>
      selectBy(queries, { tenant: tenants.tenant, replicate: tenants.replicate }, tenants, 'tenants_with_replicate')
        .where(isNotNull(tenants.replicate))
        .prepare(),
    );
    this.#reserve = database.statement((queries) =>
      queries
        .update(instances)
        .set({ bytes: plusBound(instances.bytes, 'more') })
        .where(eq(instances.id, placeholder('id')))
        .prepare(),
    );
  }

  tenants(
    { among, text = '', ownThresholds = false }: TenantFilter,
    limit: number,
    cursor?: string,
  ): RowPage<TenantRow> {
    const [after] = cursor === undefined ? [''] : readCursor(cursor, isName);
    const names = this.#names(among !== undefined, ownThresholds)
      .all({ after, among: JSON.stringify(among ?? null), text, limit: limit + 1 })
      .map(({ tenant }) => tenant);
    const rows = names.slice(0, limit).flatMap((name) => this.tenant(name) ?? []);
    const last = rows.at(-1);
    return { rows, next: names.length > limit && last !== undefined ? writeCursor([last.tenant]) : null };
  }

  tenant(tenant: string): TenantRow | null {
    const counted = this.#counted().all({ tenant });
    const own = this.#overrides().get({ tenant });
    if (counted.length === 0 && own === undefined) return null;
    const byState = (column: 'n' | 'bytes') => {
      const known = new Map(counted.map((row) => [row.state, row[column]]));
      return Object.fromEntries(STATES.map((state) => [state, known.get(state) ?? 0])) as Record<State, number>;
    };
    const { hotToWarmSeconds = null, idleToSuspendSeconds = null, idleToFreezeSeconds = null } = own ?? {};
    const { maxSandboxes = null, maxActive = null, maxBytes = null } = own ?? {};
    const { maxDailyCpuSeconds = null, maxRunSeconds = null, maxCallSeconds = null, replicate = null } = own ?? {};
    return {
      tenant,
      counts: byState('n'),
      bytes: byState('bytes'),
      volumes: this.#volumes().get({ tenant }) ?? { instances: 0, workspace: 0, memory: 0, tmp: 0 },
      thresholds: { hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds },
      quotas: { maxSandboxes, maxActive, maxBytes, maxDailyCpuSeconds, maxRunSeconds, maxCallSeconds },
      replicate,
    };
  }

  set(tenant: string, patch: Partial<QuotaLimits>, entry: LedgerEntry): QuotaLimits {
    this.#override(tenant, patch, entry);
    return this.tenant(tenant)?.quotas ?? NO_QUOTAS;
  }

  replicateOf(tenant: string): string | null {
    return this.#overrides().get({ tenant })?.replicate ?? null;
  }

  setReplicate(tenant: string, replicate: string | null, entry: LedgerEntry): string | null {
    this.#override(tenant, { replicate }, entry);
    return replicate;
  }

  replicated(): { tenant: string; replicate: string }[] {
    return this.#replicated()
      .all({})
      .flatMap(({ tenant, replicate }) => (replicate === null ? [] : { tenant, replicate }));
  }

  maxRunSeconds(tenant: string): number | null {
    return this.#overrides().get({ tenant })?.maxRunSeconds ?? null;
  }

  maxCallSeconds(tenant: string): number | null {
    return this.#overrides().get({ tenant })?.maxCallSeconds ?? null;
  }

  bytesLeft(tenant: string): number | null {
    const limit = this.#limit('maxBytes', tenant);
    return limit === null ? null : Math.max(0, limit - this.#usedBytes(tenant));
  }

  reserve(id: InstanceId, tenant: string, bytes: number): void {
    if (this.#limit('maxBytes', tenant) === null) return;
    this.#database.write(() => {
      this.needBytes(tenant, bytes);
      this.#reserve().run({ more: bytes, id });
    });
  }

  /** Runs inside the transaction that adds this many sandboxes. Throws `quota_exceeded`. */
  needSandboxes(tenant: string, more: number): void {
    const limit = this.#limit('maxSandboxes', tenant);
    if (limit === null || more === 0) return;
    const used = this.#used(this.#sandboxes, tenant) + (this.#admitted().get({ tenant })?.sandboxes ?? 0);
    if (used + more > limit) throw exceeded(tenant, 'max_sandboxes', limit, used, 'sandboxes', 'Delete one');
  }

  /** Runs inside the transaction that wakes a sandbox; with `waking`, pending wakes count. Throws `quota_exceeded`. */
  needActive(tenant: string, { waking }: { waking: boolean }): void {
    const limit = this.#limit('maxActive', tenant);
    if (limit === null) return;
    const used = this.#used(this.#active, tenant) + (waking ? this.#wakes(tenant) : 0);
    if (used >= limit)
      throw exceeded(tenant, 'max_active', limit, used, 'active sandboxes', 'Suspend one, or wait until one idles');
  }

  /** Runs inside the transaction that adds this many bytes. Throws `quota_exceeded`. */
  needBytes(tenant: string, more: number): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null || more <= 0) return;
    const used = this.#usedBytes(tenant);
    if (used + more > limit) throw exceeded(tenant, 'max_bytes', limit, used, 'bytes', 'Delete files or sandboxes');
  }

  /**
   * Runs inside the transaction that added a snapshot: checks the tenant's bytes of snapshots and sandboxes together.
   * Throws `quota_exceeded`.
   */
  needSnapshots(tenant: string): void {
    const limit = this.#limit('maxBytes', tenant);
    if (limit === null) return;
    const used = this.#usedBytes(tenant) + this.#used(this.#snapshotBytes, tenant);
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

  /** Writes overrides of a tenant with their ledger line. */
  #override(tenant: string, patch: Readonly<Record<string, string | number | null | undefined>>, entry: LedgerEntry) {
    const lines = this.#database.write(() => {
      this.#make().run({ tenant });
      const given = Object.entries(patch).filter(([, value]) => value !== undefined);
      if (given.length > 0) this.#change(given.map(([name]) => name)).run({ ...Object.fromEntries(given), tenant });
      return this.#ledger.append([entry]);
    });
    this.#ledger.announce(lines);
  }

  #limit(quota: CheckedQuota, tenant: string): number | null {
    return this.#limits[quota]().get({ tenant })?.limit ?? null;
  }

  #used(statement: () => { get(values: { tenant: string }): { used: number | null } | undefined }, tenant: string) {
    return statement().get({ tenant })?.used ?? 0;
  }

  /** With those of sandboxes that are admitted and not inserted yet. */
  #usedBytes(tenant: string): number {
    return this.#used(this.#bytes, tenant) + (this.#admitted().get({ tenant })?.bytes ?? 0);
  }

  /** Sandboxes with a pending wake, from the few with a pending operation. */
  #wakes(tenant: string): number {
    return this.#waking()
      .all({ tenant })
      .filter(({ pending }) => pending !== null && WAKE_VERBS.some((verb) => verb === pending.verb)).length;
  }

  #change(names: string[]) {
    return this.#database.shape(`tenants: set ${names.join()}`, (queries) =>
      queries
        .update(tenants)
        .set(boundColumns(Object.fromEntries(names.map((name) => [name, true]))))
        .where(eq(tenants.tenant, placeholder('tenant')))
        .prepare(),
    );
  }

  /** Names in order after `after` that contain `text`. */
  #names(amongSome: boolean, ownThresholds: boolean) {
    return this.#database.shape(`tenants: names ${amongSome} ${ownThresholds}`, (queries) => {
      const known = union(
        queries.select({ tenant: countsByTenant.tenant }).from(countsByTenant),
        queries.select({ tenant: tenants.tenant }).from(tenants),
      ).as('known');
      const forgotten = () => queries.select({ tenant: tenantForgettings.tenant }).from(tenantForgettings);
      const own = () => queries.select({ tenant: tenants.tenant }).from(tenants);
      const living = queries
        .select({ tenant: countsByTenant.tenant })
        .from(countsByTenant)
        .where(and(ne(countsByTenant.state, 'deleted'), gt(countsByTenant.n, 0)));
      return queries
        .select({ tenant: known.tenant })
        .from(known)
        .where(
          and(
            gt(known.tenant, placeholder('after')),
            amongSome ? inBoundList(known.tenant, 'among') : undefined,
            contains(known.tenant, 'text'),
            or(
              notInArray(known.tenant, forgotten()),
              inArray(known.tenant, forgotten().where(isNull(tenantForgettings.finished))),
              inArray(known.tenant, own()),
              inArray(known.tenant, living),
            ),
            ownThresholds
              ? inArray(
                  known.tenant,
                  own().where(
                    or(
                      isNotNull(tenants.hotToWarmSeconds),
                      isNotNull(tenants.idleToSuspendSeconds),
                      isNotNull(tenants.idleToFreezeSeconds),
                    ),
                  ),
                )
              : undefined,
          ),
        )
        .orderBy(known.tenant)
        .limit(placeholder('limit'))
        .prepare();
    });
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
