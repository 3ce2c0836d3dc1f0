/** Statements over counts of instances, nearly all of them kept by triggers. */
import { and, asc, count, eq, isNotNull, placeholder, sum } from '../../../db/drizzle.ts';
import {
  countsByLabel,
  countsByTenant,
  instances,
  countsByFault as ofFaults,
  countsByState as ofStates,
} from '../../../db/schema.ts';
import { inBoundList, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

export function countStatements(database: StatementMaker) {
  return {
    states: database.statement((queries) =>
      queries.select({ key: ofStates.state, n: ofStates.n }).from(ofStates).prepare(),
    ),
    statesOf: database.statement((queries) =>
      queries
        .select({ key: countsByTenant.state, n: countsByTenant.n })
        .from(countsByTenant)
        .where(eq(countsByTenant.tenant, placeholder('tenant')))
        .prepare(),
    ),
    statesOfSome: database.statement((queries) =>
      queries
        .select({ key: countsByTenant.state, n: sum(countsByTenant.n) })
        .from(countsByTenant)
        .where(inBoundList(countsByTenant.tenant, 'tenants'))
        .groupBy(countsByTenant.state)
        .prepare(),
    ),
    /** Bytes of files, from the rows. */
    bytes: database.statement((queries) =>
      queries
        .select({ key: countsByTenant.state, n: sum(countsByTenant.bytes) })
        .from(countsByTenant)
        .groupBy(countsByTenant.state)
        .prepare(),
    ),
    faults: database.statement((queries) =>
      queries.select({ key: ofFaults.fault, n: ofFaults.n }).from(ofFaults).prepare(),
    ),
    /** Scans the faulted rows. */
    faultsOfSome: database.statement((queries) =>
      selectBy(queries, { key: instances.fault, n: count() }, instances, 'instances_by_fault_updated')
        .where(
          and(
            isNotNull(instances.fault),
            eq(instances.tombstone, 0).inlineParams(),
            inBoundList(instances.tenant, 'tenants'),
          ),
        )
        .groupBy(instances.fault)
        .prepare(),
    ),
    label: database.statement((queries) =>
      queries
        .select({ n: countsByLabel.n })
        .from(countsByLabel)
        .where(and(eq(countsByLabel.key, placeholder('key')), eq(countsByLabel.value, placeholder('value'))))
        .prepare(),
    ),
    tenants: database.statement((queries) =>
      queries
        .select({ tenant: countsByTenant.tenant, key: countsByTenant.state, n: countsByTenant.n })
        .from(countsByTenant)
        .orderBy(asc(countsByTenant.tenant))
        .prepare(),
    ),
  };
}

/** Counts by key, with those that are 0. Sums come as text. */
export function countsOf<K extends string>(
  keys: readonly K[],
  counted: { key: K | null; n: number | string | null }[],
): Record<K, number> {
  const counts = new Map(counted.map(({ key, n }) => [key, Number(n)]));
  return Object.fromEntries(keys.map((key) => [key, counts.get(key) ?? 0])) as Record<K, number>;
}
