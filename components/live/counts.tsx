'use client';
import { StateBar, StateCounts } from '../figures/state-bar.tsx';
import { StateDiagram } from '../figures/state-diagram.tsx';
import { dockInWords } from '../sandbox/state-words.ts';
/** Live counts of the whole server and of one tenant. */
import type { States } from './cache.ts';
import { useStateCounts, useTenantStateCounts, useWarmCount } from './live-data.tsx';

/** The headline of the overview: how many are awake, asleep and archived. */
export function LiveDockWords({ states }: { states: States }) {
  return dockInWords(useStateCounts(states));
}

/** The state diagram with live counts. */
export function LiveDiagram({ states, warm, rendered }: { states: States; warm: number; rendered: number }) {
  return <StateDiagram counts={useStateCounts(states)} warm={useWarmCount(warm)} rendered={rendered} />;
}

/** The counts of a tenant by state, with their bar. */
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
