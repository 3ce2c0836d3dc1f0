'use client';
import { StateBar, StateCounts } from '../figures/state-bar.tsx';
import { StateDiagram } from '../figures/state-diagram.tsx';
import { dockInWords } from '../sandbox/state-words.ts';
/** The counts of the dock and of a tenant, as they are now. */
import type { States } from './cache.ts';
import { useStateCounts, useTenantStateCounts } from './live-data.tsx';

/** The headline of the dock: what is awake, asleep and filed away. */
export function LiveDockWords({ states }: { states: States }) {
  return dockInWords(useStateCounts(states));
}

/** The diagram of everything. `rendered`: the server's time in epoch seconds. */
export function LiveDiagram({ states, rendered }: { states: States; rendered: number }) {
  return <StateDiagram counts={useStateCounts(states)} rendered={rendered} />;
}

/** The numbers of a tenant by state, and their bar. */
export function LiveTenantStates({ tenant, states, all = false }: { tenant: string; states: States; all?: boolean }) {
  const counts = useTenantStateCounts(tenant, states);
  const bar = <StateBar counts={counts} className={all ? 'mb-3' : 'mt-2'} />;
  return (
    <>
      {all && bar}
      <StateCounts counts={counts} tenant={tenant} all={all} />
      {!all && bar}
    </>
  );
}
