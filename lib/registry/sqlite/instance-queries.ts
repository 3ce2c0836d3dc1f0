/** Rows that the engine looks up for its own work: due, unsettled, with a file; and the tenant of an id. */
import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, max, ne, or, placeholder } from '../../../db/drizzle.ts';
import { instances, settings } from '../../../db/schema.ts';
import type { InstanceId } from '../../base/ids.ts';
import { STATES } from '../../lifecycle/states.ts';
import type { InstanceRow } from '../types.ts';
import { boundValue } from './bound-values.ts';
import type { RegistryDatabase } from './database.ts';
import { INSTANCE_COLUMNS } from './instance-rows.ts';
import { selectBy } from './raw.ts';

const LIVING = STATES.filter((state) => state !== 'deleted');

/** Rows that are the host's that is bound as `host`, or nobody's. */
export function isOwnOrFree() {
  return or(isNull(instances.ownerHost), eq(instances.ownerHost, placeholder('host')));
}

/** Rows due up to `until` (epoch seconds), of all or some tenants and hosts, soonest first. */
export function readDueRows(
  database: RegistryDatabase,
  until: number,
  limit: number,
  { tenants, host }: { tenants?: readonly string[]; host?: string },
): InstanceRow[] {
  const index = tenants === undefined ? 'instances_due' : 'instances_by_tenant_due';
  const statement = database.shape(`due: ${index} ${host === undefined}`, (queries) =>
    selectBy(queries, { ...INSTANCE_COLUMNS, dueAt: instances.dueAt }, instances, index)
      .where(
        and(
          lte(instances.dueAt, placeholder('until')),
          isNotNull(instances.dueAt),
          isNull(instances.pending),
          tenants === undefined ? undefined : eq(instances.tenant, placeholder('tenant')),
          host === undefined ? undefined : isOwnOrFree(),
        ),
      )
      .orderBy(asc(instances.dueAt))
      .limit(placeholder('limit'))
      .prepare(),
  );
  const found = eachOrAll(tenants).flatMap((bound) => statement.all({ until, limit, host, ...bound }));
  if (tenants !== undefined) found.sort((one, other) => Number(one.dueAt) - Number(other.dueAt));
  return found.slice(0, limit).map(({ dueAt: _, ...row }) => row);
}

/** What to bind for each of some tenants, or once for all of them: an index begins with at most one tenant. */
export function eachOrAll(tenants?: readonly string[]): { tenant?: string }[] {
  return tenants === undefined ? [{}] : [...new Set(tenants)].map((tenant) => ({ tenant }));
}

/** Read from an index alone, so that a known id takes as long as an unknown one. */
export function readTenantOf(database: RegistryDatabase, id: InstanceId): string | null {
  const statement = database.shape('due: tenant of', (queries) =>
    selectBy(queries, { tenant: max(instances.tenant) }, instances, 'instances_whose')
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  return statement.get({ id })?.tenant ?? null;
}

/** Rows with an intent, and active rows, of all hosts or of one and of nobody. */
export function readUnsettledRows(database: RegistryDatabase, host?: string): InstanceRow[] {
  const whose = host === undefined ? undefined : isOwnOrFree();
  const intended = database.shape(`due: intended ${host === undefined}`, (queries) =>
    selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_pending')
      .where(and(isNotNull(instances.pending), whose))
      .prepare(),
  );
  const active = database.shape(`due: active ${host === undefined}`, (queries) =>
    selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_by_state_updated')
      .where(and(eq(instances.state, 'active'), isNull(instances.pending), whose))
      .prepare(),
  );
  return [...intended.all({ host }), ...active.all({ host })];
}

/** Rows that are not deleted and were last used after `time` (epoch seconds), of all hosts or of one and of nobody. */
export function readRowsLaterThan(
  database: RegistryDatabase,
  time: number,
  limit: number,
  host?: string,
): InstanceRow[] {
  const statement = database.shape(`due: later ${host === undefined}`, (queries) =>
    selectBy(queries, INSTANCE_COLUMNS, instances, 'instances_by_state_updated')
      .where(
        and(
          inArray(instances.state, LIVING),
          gt(instances.updated, placeholder('time')),
          host === undefined ? undefined : isOwnOrFree(),
        ),
      )
      .limit(placeholder('limit'))
      .prepare(),
  );
  return statement.all({ time, limit, host });
}

/** Rows with a file, in the order of their ids. */
export function readRowsWithFile(database: RegistryDatabase, after: string, limit: number): InstanceRow[] {
  const statement = database.shape('due: filed', (queries) =>
    queries
      .select(INSTANCE_COLUMNS)
      .from(instances)
      .where(and(gt(instances.id, placeholder('after')), ne(instances.vfsPath, ':memory:')))
      .orderBy(asc(instances.id))
      .limit(placeholder('limit'))
      .prepare(),
  );
  return statement.all({ after, limit });
}

/** A round trip that proves that the registry answers and writes. `now` in epoch seconds. */
export function ping(database: RegistryDatabase, now: number): void {
  const statement = database.shape('due: ping', (queries) =>
    queries
      .insert(settings)
      .values({ key: 'ping', value: true, updated: boundValue('now') })
      .onConflictDoUpdate({ target: settings.key, set: { updated: boundValue('now') } })
      .prepare(),
  );
  database.write(() => statement.run({ now }));
}
