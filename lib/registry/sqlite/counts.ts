/** Counts of instances, nearly all of them kept by triggers. Read only. */
import { and, asc, count, eq, isNotNull, placeholder, sum } from '../../../db/drizzle.ts';
import {
  countsByLabel,
  countsByTenant,
  instances,
  countsByFault as ofFaults,
  countsByState as ofStates,
} from '../../../db/schema.ts';
import { STATES, type State } from '../../lifecycle/states.ts';
import { FAULTS, type Fault } from '../../lifecycle/words.ts';
import type { RegistryDatabase } from './database.ts';
import { inBoundList, selectBy } from './raw.ts';

/** Instances per state, of everything or of one tenant. */
export function readCountsByState(database: RegistryDatabase, tenant?: string): Record<State, number> {
  if (tenant === undefined) {
    const statement = database.shape('counts: states', (queries) =>
      queries.select({ key: ofStates.state, n: ofStates.n }).from(ofStates).prepare(),
    );
    return record(STATES, statement.all());
  }
  const statement = database.shape('counts: states of a tenant', (queries) =>
    queries
      .select({ key: countsByTenant.state, n: countsByTenant.n })
      .from(countsByTenant)
      .where(eq(countsByTenant.tenant, placeholder('tenant')))
      .prepare(),
  );
  return record(STATES, statement.all({ tenant }));
}

/** The same of some tenants together. */
export function readCountsByStateOf(database: RegistryDatabase, tenants: readonly string[]): Record<State, number> {
  const statement = database.shape('counts: states of tenants', (queries) =>
    queries
      .select({ key: countsByTenant.state, n: sum(countsByTenant.n) })
      .from(countsByTenant)
      .where(inBoundList(countsByTenant.tenant, 'tenants'))
      .groupBy(countsByTenant.state)
      .prepare(),
  );
  return record(STATES, statement.all({ tenants: JSON.stringify(tenants) }));
}

/** Bytes of files per state, from the rows. */
export function readBytesByState(database: RegistryDatabase): Record<State, number> {
  const statement = database.shape('counts: bytes', (queries) =>
    queries
      .select({ key: countsByTenant.state, n: sum(countsByTenant.bytes) })
      .from(countsByTenant)
      .groupBy(countsByTenant.state)
      .prepare(),
  );
  return record(STATES, statement.all());
}

/** Instances per fault of some tenants: scans the faulted rows. */
export function readCountsByFaultOf(database: RegistryDatabase, tenants: readonly string[]): Record<Fault, number> {
  const statement = database.shape('counts: faults of tenants', (queries) =>
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
  );
  return record(FAULTS, statement.all({ tenants: JSON.stringify(tenants) }));
}

/** Instances per fault, without deleted ones. */
export function readCountsByFault(database: RegistryDatabase): Record<Fault, number> {
  const statement = database.shape('counts: faults', (queries) =>
    queries.select({ key: ofFaults.fault, n: ofFaults.n }).from(ofFaults).prepare(),
  );
  return record(FAULTS, statement.all());
}

/** Instances that carry a label, without deleted ones. */
export function countOfLabel(database: RegistryDatabase, label: { key: string; value: string }): number {
  const statement = database.shape('counts: label', (queries) =>
    queries
      .select({ n: countsByLabel.n })
      .from(countsByLabel)
      .where(and(eq(countsByLabel.key, placeholder('key')), eq(countsByLabel.value, placeholder('value'))))
      .prepare(),
  );
  return statement.get(label)?.n ?? 0;
}

/** Every tenant that has or had instances, in order. */
export function tenantsWithCounts(database: RegistryDatabase): { tenant: string; counts: Record<State, number> }[] {
  const statement = database.shape('counts: tenants', (queries) =>
    queries
      .select({ tenant: countsByTenant.tenant, key: countsByTenant.state, n: countsByTenant.n })
      .from(countsByTenant)
      .orderBy(asc(countsByTenant.tenant))
      .prepare(),
  );
  const byTenant = Map.groupBy(statement.all(), ({ tenant }) => tenant);
  return [...byTenant].map(([tenant, counted]) => ({ tenant, counts: record(STATES, counted) }));
}

/** Sums come as text. */
function record<K extends string>(
  keys: readonly K[],
  counted: { key: K | null; n: number | string | null }[],
): Record<K, number> {
  const counts = new Map(counted.map(({ key, n }) => [key, Number(n)]));
  return Object.fromEntries(keys.map((key) => [key, counts.get(key) ?? 0])) as Record<K, number>;
}
