/** Counts of instances, nearly all of them kept by triggers. Read only. */
import { STATES, type State } from '../../lifecycle/states.ts';
import { FAULTS, type Fault } from '../../lifecycle/words.ts';
import type { RegistryDatabase } from './database.ts';

/** Instances per state, of everything or of one tenant. */
export function countsByState(database: RegistryDatabase, tenant?: string): Record<State, number> {
  const rows =
    tenant === undefined
      ? database.sql('SELECT state, n FROM counts_by_state').all()
      : database.sql('SELECT state, n FROM counts_by_tenant WHERE tenant = ?').all(tenant);
  return record(STATES, new Map(rows.map(([state, n]) => [state, Number(n)])));
}

/** The same of some tenants together. */
export function countsByStateOf(database: RegistryDatabase, tenants: readonly string[]): Record<State, number> {
  const rows = database
    .sql('SELECT state, sum(n) FROM counts_by_tenant WHERE tenant IN (SELECT value FROM json_each(?)) GROUP BY state')
    .all(JSON.stringify(tenants));
  return record(STATES, new Map(rows.map(([state, n]) => [state, Number(n)])));
}

/** Bytes of files per state, as the rows know them. */
export function bytesByState(database: RegistryDatabase): Record<State, number> {
  const rows = database.sql('SELECT state, sum(bytes) FROM counts_by_tenant GROUP BY state').all();
  return record(STATES, new Map(rows.map(([state, bytes]) => [state, Number(bytes)])));
}

/** Instances per fault of some tenants: looks through what is faulted. */
export function countsByFaultOf(database: RegistryDatabase, tenants: readonly string[]): Record<Fault, number> {
  const rows = database
    .sql(
      `SELECT fault, count(*) FROM instances INDEXED BY instances_by_fault_updated
      WHERE fault IS NOT NULL AND tombstone = 0 AND tenant IN (SELECT value FROM json_each(?)) GROUP BY fault`,
    )
    .all(JSON.stringify(tenants));
  return record(FAULTS, new Map(rows.map(([fault, n]) => [fault, Number(n)])));
}

/** Instances per fault, without what is deleted. */
export function countsByFault(database: RegistryDatabase): Record<Fault, number> {
  const rows = database.sql('SELECT fault, n FROM counts_by_fault').all();
  return record(FAULTS, new Map(rows.map(([fault, n]) => [fault, Number(n)])));
}

/** Instances that carry a label, without what is deleted. */
export function countOfLabel(database: RegistryDatabase, label: { key: string; value: string }): number {
  return database.integer('SELECT n FROM counts_by_label WHERE key = ? AND value = ?', label.key, label.value);
}

/** Every tenant that has or had instances, in order. */
export function tenantsWithCounts(database: RegistryDatabase): { tenant: string; counts: Record<State, number> }[] {
  const byTenant = new Map<string, Map<unknown, number>>();
  for (const [tenant, state, n] of database
    .sql('SELECT tenant, state, n FROM counts_by_tenant ORDER BY tenant')
    .all()) {
    const counts = byTenant.get(String(tenant)) ?? new Map();
    byTenant.set(String(tenant), counts.set(state, Number(n)));
  }
  return [...byTenant].map(([tenant, counts]) => ({ tenant, counts: record(STATES, counts) }));
}

function record<K extends string>(keys: readonly K[], counts: Map<unknown, number>): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, counts.get(key) ?? 0])) as Record<K, number>;
}
