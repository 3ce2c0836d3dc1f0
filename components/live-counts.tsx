'use client';
/** The counts of the dock and of a tenant, as they are now. */
import type { States } from './live-cache.ts';
import { useStates, useTenantStates } from './live-leaves.tsx';
import { StateBar, StateCounts } from './state-bar.tsx';
import { StateDiagram } from './state-diagram.tsx';
import { dockInWords } from './state-words.ts';

/** The headline of the dock: what is awake, asleep and filed away. */
export function LiveDockWords({ states }: { states: States }) {
  return dockInWords(useStates(states));
}

/** The diagram of everything. `rendered`: the server's time in epoch seconds. */
export function LiveDiagram({ states, rendered }: { states: States; rendered: number }) {
  return <StateDiagram counts={useStates(states)} rendered={rendered} />;
}

/** The numbers of a tenant by state, and their bar. */
export function LiveTenantStates({ tenant, states, all = false }: { tenant: string; states: States; all?: boolean }) {
  const counts = useTenantStates(tenant, states);
  const bar = <StateBar counts={counts} className={all ? 'mb-3' : 'mt-2'} />;
  return (
    <>
      {all && bar}
      <StateCounts counts={counts} tenant={tenant} all={all} />
      {!all && bar}
    </>
  );
}
