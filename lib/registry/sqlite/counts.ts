/** Counts of instances, nearly all of them kept by triggers. Read only. */
import { STATES, type State } from '../../lifecycle/state-map.ts';
import { FAULTS, type Fault } from '../../lifecycle/words.ts';
import { countStatements, countsOf } from '../statements/counts.ts';
import type { RegistryDatabase } from './database.ts';

const statements = new WeakMap<RegistryDatabase, ReturnType<typeof countStatements>>();

/** The statements of a connection. */
function of(database: RegistryDatabase) {
  const known = statements.get(database) ?? countStatements(database);
  statements.set(database, known);
  return known;
}

/** Instances per state, of everything or of one tenant. */
export function readCountsByState(database: RegistryDatabase, tenant?: string): Record<State, number> {
  const { states, statesOf } = of(database);
  return countsOf(STATES, tenant === undefined ? states().all() : statesOf().all({ tenant }));
}

/** The same of some tenants together. */
export function readCountsByStateOf(database: RegistryDatabase, tenants: readonly string[]): Record<State, number> {
  return countsOf(
    STATES,
    of(database)
      .statesOfSome()
      .all({ tenants: JSON.stringify(tenants) }),
  );
}

/** Bytes of files per state, from the rows. */
export function readBytesByState(database: RegistryDatabase): Record<State, number> {
  return countsOf(STATES, of(database).bytes().all());
}

/** Instances per fault of some tenants: scans the faulted rows. */
export function readCountsByFaultOf(database: RegistryDatabase, tenants: readonly string[]): Record<Fault, number> {
  return countsOf(
    FAULTS,
    of(database)
      .faultsOfSome()
      .all({ tenants: JSON.stringify(tenants) }),
  );
}

/** Instances per fault, without deleted ones. */
export function readCountsByFault(database: RegistryDatabase): Record<Fault, number> {
  return countsOf(FAULTS, of(database).faults().all());
}

/** Instances that carry a label, without deleted ones. */
export function countOfLabel(database: RegistryDatabase, label: { key: string; value: string }): number {
  return of(database).label().get(label)?.n ?? 0;
}

/** Every tenant that has or had instances, in order. */
export function tenantsWithCounts(database: RegistryDatabase): { tenant: string; counts: Record<State, number> }[] {
  const byTenant = Map.groupBy(of(database).tenants().all(), ({ tenant }) => tenant);
  return [...byTenant].map(([tenant, counted]) => ({ tenant, counts: countsOf(STATES, counted) }));
}
