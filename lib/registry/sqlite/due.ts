/** Rows that the engine looks for of itself: what is due, what is unsettled, what has a file; and whose an id is. */
import { and, asc, eq, gt, isNotNull, isNull, lte, ne, placeholder } from '../../../db/drizzle.ts';
import { instances, settings } from '../../../db/schema.ts';
import type { InstanceRow } from '../types.ts';
import type { RegistryDatabase } from './database.ts';
import { bound } from './placeholders.ts';
import { among, selectBy } from './raw.ts';
import { ROW } from './rows.ts';

/** What falls due up to `until` (epoch seconds), of everything or of some tenants, soonest first. */
export function dueRows(
  database: RegistryDatabase,
  until: number,
  limit: number,
  tenants?: readonly string[],
): InstanceRow[] {
  const statement = database.shape(`due: ${tenants === undefined}`, (queries) =>
    selectBy(queries, ROW, instances, 'instances_due')
      .where(
        and(
          lte(instances.dueAt, placeholder('until')),
          isNotNull(instances.dueAt),
          isNull(instances.pending),
          tenants === undefined ? undefined : among(instances.tenant, 'tenants'),
        ),
      )
      .orderBy(asc(instances.dueAt))
      .limit(placeholder('limit'))
      .prepare(),
  );
  return statement.all({ until, limit, tenants: JSON.stringify(tenants) });
}

/** From an index alone, so that a known id takes as long as an unknown one. */
export function tenantOf(database: RegistryDatabase, id: string): string | null {
  const statement = database.shape('due: tenant of', (queries) =>
    selectBy(queries, { tenant: instances.tenant }, instances, 'instances_whose')
      .where(eq(instances.id, placeholder('id')))
      .prepare(),
  );
  return statement.get({ id })?.tenant ?? null;
}

/** Rows with an intent, and the active ones. */
export function unsettledRows(database: RegistryDatabase): InstanceRow[] {
  const intended = database.shape('due: intended', (queries) =>
    selectBy(queries, ROW, instances, 'instances_pending').where(isNotNull(instances.pending)).prepare(),
  );
  const active = database.shape('due: active', (queries) =>
    selectBy(queries, ROW, instances, 'instances_by_state_updated')
      .where(and(eq(instances.state, 'active'), isNull(instances.pending)))
      .prepare(),
  );
  return [...intended.all(), ...active.all()];
}

/** Rows with a file, in the order of their ids. */
export function filedRows(database: RegistryDatabase, after: string, limit: number): InstanceRow[] {
  const statement = database.shape('due: filed', (queries) =>
    queries
      .select(ROW)
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
      .values({ key: 'ping', value: true, updated: bound('now') })
      .onConflictDoUpdate({ target: settings.key, set: { updated: bound('now') } })
      .prepare(),
  );
  database.write(() => statement.run({ now }));
}
