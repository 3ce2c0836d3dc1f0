/** The thresholds of the idle, global and per tenant: what a change would do now, and what it would have done. */

import Form from 'next/form';
import Link from 'next/link';
import { WithCalls } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { pauseInWords, thresholdInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import { slugSchema, type Tenant } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { type SearchParams, singleValues } from '../../search-params.ts';
import { setThresholds } from './actions.ts';
import { Simulator } from './simulator.tsx';
import { thresholdCalls } from './threshold-calls.ts';
import { asSetForAll, thresholdsAsText } from './threshold-values.ts';
import { ThresholdsForm } from './thresholds-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Thresholds' };

const PATH = '/settings/thresholds';
const TENANTS_SHOWN = 50;

const MEANS = {
  hot_to_warm_s: 'After this idle time its process is paused in memory, until the next request; never: not at all.',
  idle_to_suspend_s: 'After this idle time its process ends.',
  idle_to_freeze_s: 'After this time suspended its file goes into the cold drawer.',
};

/** The tenant in the address; null for all; `unknown` when the visitor may see no such tenant. */
async function scopeOf(caller: Caller, name: string | undefined): Promise<Tenant | null | 'unknown'> {
  if (name === undefined) return null;
  if (!slugSchema.safeParse(name).success) return 'unknown';
  try {
    return await getHost().operations.getTenant(caller, name);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return 'unknown';
    throw error;
  }
}

function pauseSentence(seconds: number): string {
  return seconds === 0 ? 'Never pauses a process.' : `Pauses a process once idle for ${thresholdInWords(seconds)}.`;
}

function ScopeForm({ name }: { name: string }) {
  return (
    <Form action={PATH} className="flex w-full gap-3 sm:max-w-xs">
      <label className="flex-1">
        <span className="sr-only">Thresholds of a tenant; empty: of all</span>
        <input
          className="input"
          name="tenant"
          defaultValue={name}
          placeholder="of a tenant; empty: of all"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <button type="submit" className="button">
        Show
      </button>
    </Form>
  );
}

/** One threshold of a tenant; a card, on a narrow page, has the name in front. */
function LengthCell({ name, isOwn, children }: { name: string; isOwn: boolean; children: string }) {
  return (
    <td
      className={`flex-wrap justify-between gap-x-4 max-md:col-span-full max-md:!flex md:text-right md:whitespace-nowrap ${isOwn ? '' : 'text-ink-3'}`}
    >
      <span className="md:hidden">{name}</span>
      {children}
    </td>
  );
}

function Overriding({ tenants, more }: { tenants: readonly Tenant[]; more: boolean }) {
  if (tenants.length === 0) return <p className="text-ink-2">Every tenant uses the thresholds of all.</p>;
  return (
    <>
      <table className="ledger ledger-cards">
        <thead>
          <tr>
            <th scope="col">Tenant</th>
            <th scope="col" className="text-right whitespace-nowrap">
              Pauses after
            </th>
            <th scope="col" className="text-right whitespace-nowrap">
              Suspends after
            </th>
            <th scope="col" className="text-right whitespace-nowrap">
              Freezes after
            </th>
          </tr>
        </thead>
        <tbody>
          {tenants.map(({ tenant, thresholds, hot_to_warm_s, idle_to_suspend_s, idle_to_freeze_s }) => (
            <tr key={tenant}>
              <td className="[overflow-wrap:anywhere] max-md:col-span-full">
                <Link href={`${PATH}?tenant=${tenant}`} prefetch={false}>
                  {tenant}
                </Link>
              </td>
              <LengthCell name="Pauses after" isOwn={hot_to_warm_s !== null}>
                {pauseInWords(thresholds.hot_to_warm_s)}
              </LengthCell>
              <LengthCell name="Suspends after" isOwn={idle_to_suspend_s !== null}>
                {thresholdInWords(thresholds.idle_to_suspend_s)}
              </LengthCell>
              <LengthCell name="Freezes after" isOwn={idle_to_freeze_s !== null}>
                {thresholdInWords(thresholds.idle_to_freeze_s)}
              </LengthCell>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="mt-3 text-small text-ink-3">
        {more ? `The first ${TENANTS_SHOWN}; name another above. ` : ''}What is grey is as set for all.
      </p>
    </>
  );
}

export default async function ThresholdsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = singleValues(await searchParams);
  const caller = await requireCaller(PATH);
  const { operations } = getHost();
  const name = values.tenant?.toLowerCase();
  const [global, scope, own] = await Promise.all([
    operations.getSettings(caller),
    scopeOf(caller, name),
    operations.listTenants(caller, { own_thresholds: 'true', limit: TENANTS_SHOWN }),
  ]);
  if (scope === 'unknown') {
    return (
      <div className="pt-10 pb-24">
        <h1 className="headline">
          Thresholds <span className="quiet">of no such tenant</span>
        </h1>
        <p className="mt-4 mb-6 text-ink-2">
          No tenant has this name. <Link href={PATH}>The thresholds of all</Link>
        </p>
        <ScopeForm name={name ?? ''} />
      </div>
    );
  }
  const tenant = scope?.tenant ?? null;
  const present = scope?.thresholds ?? global;
  const against = tenant === null ? whyNot(caller, 'patchSettings') : whyNot(caller, 'patchTenant', { tenant });
  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-10 gap-y-5 pt-10 pb-10">
        <h1 className="headline [overflow-wrap:anywhere]">
          Thresholds <span className="quiet">{tenant === null ? 'of all' : `of ${tenant}`}</span>
        </h1>
        <ScopeForm name={tenant ?? ''} />
      </div>
      <PageSection
        id="thresholds"
        name={tenant === null ? 'For all' : 'For this tenant'}
        note={
          tenant === null
            ? 'Where neither a tenant nor a sandbox has its own.'
            : 'For its sandboxes that have none of their own. Empty: as set for all.'
        }
      >
        {against === null ? (
          <WithCalls by={thresholdCalls(tenant)}>
            <ThresholdsForm
              key={tenant}
              present={thresholdsAsText(scope ?? global)}
              notes={MEANS}
              empty={asSetForAll(global)}
              action={setThresholds.bind(null, tenant)}
            />
          </WithCalls>
        ) : (
          <div className="grid gap-4">
            <p>
              {pauseSentence(present.hot_to_warm_s)} Suspends once idle for{' '}
              {thresholdInWords(present.idle_to_suspend_s)}, freezes once suspended for{' '}
              {thresholdInWords(present.idle_to_freeze_s)}.
            </p>
            <DisabledAction id="thresholds" label="See what it would do" whyNot={against} />
          </div>
        )}
      </PageSection>
      <PageSection
        id="simulator"
        name="Simulator"
        note="What other thresholds would have done in the last days, computed from the ledger. It changes nothing."
      >
        <Simulator caller={caller} tenant={tenant} present={present} values={values} />
      </PageSection>
      {tenant === null && (
        <PageSection id="tenants" name="Tenants with their own" note="Those with thresholds of their own.">
          <Overriding tenants={own.items} more={own.next !== null} />
        </PageSection>
      )}
    </>
  );
}
