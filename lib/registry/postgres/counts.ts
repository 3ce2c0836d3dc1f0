/** Counts of instances, nearly all of them kept by triggers. Read only. */
import { STATES, type State } from '../../lifecycle/state-map.ts';
import { FAULTS, type Fault } from '../../lifecycle/words.ts';
import { countStatements, countsOf } from '../statements/counts.ts';
import type { PostgresDatabase } from './database.ts';

export class InstanceCounts {
  readonly #statements;

  constructor(database: PostgresDatabase) {
    this.#statements = database.with(countStatements);
  }

  /** Instances per state, of everything or of some tenants together. */
  async byState(tenants?: readonly string[]): Promise<Record<State, number>> {
    const { states, statesOfSome } = this.#statements;
    if (tenants === undefined) return countsOf(STATES, await states().all());
    return countsOf(STATES, await statesOfSome().all({ tenants: JSON.stringify(tenants) }));
  }

  /** Bytes of files per state, from the rows. */
  async bytesByState(): Promise<Record<State, number>> {
    return countsOf(STATES, await this.#statements.bytes().all());
  }

  /** Instances per fault, without deleted ones; of some tenants the faulted rows are scanned. */
  async byFault(tenants?: readonly string[]): Promise<Record<Fault, number>> {
    const { faults, faultsOfSome } = this.#statements;
    if (tenants === undefined) return countsOf(FAULTS, await faults().all());
    return countsOf(FAULTS, await faultsOfSome().all({ tenants: JSON.stringify(tenants) }));
  }

  /** Instances that carry a label, without deleted ones. */
  async ofLabel(label: { key: string; value: string }): Promise<number> {
    return (await this.#statements.label().get(label))?.n ?? 0;
  }

  /** Every tenant that has or had instances, in order. */
  async tenants(): Promise<{ tenant: string; counts: Record<State, number> }[]> {
    const byTenant = Map.groupBy(await this.#statements.tenants().all(), ({ tenant }) => tenant);
    return [...byTenant].map(([tenant, counted]) => ({ tenant, counts: countsOf(STATES, counted) }));
  }
}
