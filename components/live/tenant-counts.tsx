'use client';
/** Live counts of one tenant. */
import { STATES } from '#lib/lifecycle/state-map.ts';
import { QuotaMeter } from '../figures/quota-meter.tsx';
import { StateBar, StateCounts } from '../figures/state-bar.tsx';
import type { States } from './cache.ts';
import { useTenantStateCounts } from './live-data.tsx';

interface Props {
  tenant: string;
  states: States;
}

const figures = (count: number) => count.toLocaleString('en');

function livingIn(counts: States): number {
  return STATES.reduce((sum, state) => (state === 'deleted' ? sum : sum + counts[state]), 0);
}

/** `3 sandboxes · 1 awake`. */
export function LiveTenantWords({ tenant, states }: Props) {
  const counts = useTenantStateCounts(tenant, states);
  const living = livingIn(counts);
  const sandboxes = living === 0 ? 'No sandbox' : `${figures(living)} ${living === 1 ? 'sandbox' : 'sandboxes'}`;
  return `${sandboxes} · ${figures(counts.active)} awake`;
}

/** How much of a quota of sandboxes is used: of all of them, or of those that are awake. */
export function LiveTenantQuota({
  tenant,
  states,
  of,
  name,
  limit,
}: Props & { of: 'living' | 'active'; name: string; limit: number | null }) {
  const counts = useTenantStateCounts(tenant, states);
  const used = of === 'active' ? counts.active : livingIn(counts);
  return <QuotaMeter name={name} used={used} limit={limit} inWords={figures} />;
}

/** The counts of a tenant by state, with their bar. */
export function LiveTenantStates({ tenant, states, all = false }: Props & { all?: boolean }) {
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
