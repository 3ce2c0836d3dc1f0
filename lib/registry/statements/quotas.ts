/** Statements over quotas and the counts that they are checked with. */
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
import { STATES, type State } from '../../lifecycle/state-map.ts';
import type { QuotaLimits, TenantRow } from '../quotas.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { contains, inBoundList, plusBound, selectBy, sumOrZero } from './raw.ts';
import type { StatementMaker } from './statements.ts';

/** The quotas that are checked in transactions of the registry. */
export type CheckedQuota = Exclude<keyof QuotaLimits, 'maxDailyCpuSeconds' | 'maxRunSeconds' | 'maxCallSeconds'>;

const { tenant: _, ...OVERRIDES } = getTableColumns(tenants);

type Overrides = { [K in keyof typeof OVERRIDES]: (typeof OVERRIDES)[K]['_']['data'] | null };

/** What is known of a tenant. `counted`: by state; `own`: what was set of it, if anything. */
export function tenantRow(
  tenant: string,
  counted: readonly { state: State; n: number; bytes: number }[],
  own: Overrides | undefined,
  volumes: TenantRow['volumes'] = { instances: 0, workspace: 0, memory: 0, tmp: 0 },
): TenantRow {
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
    volumes,
    thresholds: { hotToWarmSeconds, idleToSuspendSeconds, idleToFreezeSeconds },
    quotas: { maxSandboxes, maxActive, maxBytes, maxDailyCpuSeconds, maxRunSeconds, maxCallSeconds },
    replicate,
  };
}

export function quotaStatements(database: StatementMaker) {
  const limit = (quota: CheckedQuota) =>
    database.statement((queries) =>
      queries
        .select({ limit: tenants[quota] })
        .from(tenants)
        .where(eq(tenants.tenant, placeholder('tenant')))
        .prepare(),
    );
  const limits = {
    maxSandboxes: limit('maxSandboxes'),
    maxActive: limit('maxActive'),
    maxBytes: limit('maxBytes'),
  };
  const isOfTenant = eq(countsByTenant.tenant, placeholder('tenant'));
  const sandboxes = database.statement((queries) =>
    queries
      .select({ used: sum(countsByTenant.n).mapWith(Number) })
      .from(countsByTenant)
      .where(and(isOfTenant, ne(countsByTenant.state, 'deleted')))
      .prepare(),
  );
  const active = database.statement((queries) =>
    queries
      .select({ used: countsByTenant.n })
      .from(countsByTenant)
      .where(and(isOfTenant, eq(countsByTenant.state, 'active')))
      .prepare(),
  );
  const waking = database.statement((queries) =>
    selectBy(queries, { pending: instances.pending }, instances, 'instances_pending')
      .where(
        and(isNotNull(instances.pending), eq(instances.tenant, placeholder('tenant')), ne(instances.state, 'active')),
      )
      .prepare(),
  );
  const bytes = database.statement((queries) =>
    queries
      .select({ used: sum(countsByTenant.bytes).mapWith(Number) })
      .from(countsByTenant)
      .where(isOfTenant)
      .prepare(),
  );
  const admitted = database.statement((queries) =>
    queries
      .select({ sandboxes: sumOrZero(seedingChunks.sandboxes), bytes: sumOrZero(seedingChunks.bytes) })
      .from(seedingChunks)
      .where(eq(seedingChunks.tenant, placeholder('tenant')))
      .prepare(),
  );
  const snapshotBytes = database.statement((queries) => {
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
  const counted = database.statement((queries) =>
    queries
      .select({ state: countsByTenant.state, n: countsByTenant.n, bytes: countsByTenant.bytes })
      .from(countsByTenant)
      .where(isOfTenant)
      .prepare(),
  );
  const overrides = database.statement((queries) =>
    queries
      .select(OVERRIDES)
      .from(tenants)
      .where(eq(tenants.tenant, placeholder('tenant')))
      .prepare(),
  );
  const { tenant, ...ofVolumes } = getTableColumns(volumesByTenant);
  const volumes = database.statement((queries) =>
    queries
      .select(ofVolumes)
      .from(volumesByTenant)
      .where(eq(tenant, placeholder('tenant')))
      .prepare(),
  );
  const make = database.statement((queries) =>
    queries
      .insert(tenants)
      .values({ tenant: boundValue('tenant') })
      .onConflictDoNothing()
      .prepare(),
  );
  const replicated = database.statement((queries) =>
    selectBy(queries, { tenant: tenants.tenant, replicate: tenants.replicate }, tenants, 'tenants_with_replicate')
      .where(isNotNull(tenants.replicate))
      .prepare(),
  );
  const limited = database.statement((queries) =>
    queries
      .select({ tenant: tenants.tenant })
      .from(tenants)
      .where(
        or(
          isNotNull(tenants.maxSandboxes),
          isNotNull(tenants.maxActive),
          isNotNull(tenants.maxBytes),
          isNotNull(tenants.maxDailyCpuSeconds),
        ),
      )
      .prepare(),
  );
  const reserve = database.statement((queries) =>
    queries
      .update(instances)
      .set({ bytes: plusBound(instances.bytes, 'more') })
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  const change = (names: readonly string[]) =>
    database.shape(`tenants: set ${names.join()}`, (queries) =>
      queries
        .update(tenants)
        .set(boundColumns(Object.fromEntries(names.map((name) => [name, true]))))
        .where(eq(tenants.tenant, placeholder('tenant')))
        .prepare(),
    );

  /** Names in order after `after` that contain `text`. */
  const names = (amongSome: boolean, ownThresholds: boolean) =>
    database.shape(`tenants: names ${amongSome} ${ownThresholds}`, (queries) => {
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
  return {
    limits,
    sandboxes,
    active,
    waking,
    bytes,
    admitted,
    snapshotBytes,
    counted,
    overrides,
    volumes,
    make,
    reserve,
    replicated,
    limited,
    change,
    names,
  };
}
