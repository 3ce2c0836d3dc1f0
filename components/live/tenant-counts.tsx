'use client';
/** Live counts of one tenant. */
import { StateBar, StateCounts } from '../figures/state-bar.tsx';
import type { States } from './cache.ts';
import { useTenantStateCounts } from './live-data.tsx';

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
