/** The list: filters, sorts and pages in the URL, an idle clock in each row, and the form that creates a sandbox. */

import Form from 'next/form';
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { CreateForm, type CreateState } from '#app/sandboxes/create-form.tsx';
import { SandboxTable } from '#app/sandboxes/sandbox-table.tsx';
import { AsOf } from '#components/live/live-data.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { mayDo } from '#lib/contract/access.ts';
import { type ListQuery, listQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { STATES } from '#lib/lifecycle/states.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';
import { createSandbox } from './actions.ts';
import { ExtraFilters } from './extra-filters.tsx';
import { SandboxFilters } from './filters.tsx';
import { POLICY_CHOICES } from './policies.ts';
import { listFilters } from './selection.ts';
import { SELECTION_FORM, SelectionBar } from './selection-bar.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Sandboxes' };

const PAGE_SIZE = 50;
/** The ids of all ticked rows must fit into an address. */
const LARGEST_PAGE = 100;
/** The result for an invalid filter. */
const NO_PAGE = { items: [], total: 0, totalIsExact: true, next: null };
const START: CreateState = { values: {}, errors: {}, problem: null };

function Nothing({ wrong, filtered, mayCreate }: { wrong: boolean; filtered: boolean; mayCreate: boolean }) {
  return (
    <div className="border-t border-ink py-10">
      {wrong ? (
        <p>Nothing is shown: a filter above is not valid.</p>
      ) : filtered ? (
        <p>
          No sandbox matches. <Link href="/sandboxes">Show all of them</Link>, or change the filters above.
        </p>
      ) : (
        <p>
          No sandbox has been created yet.
          {mayCreate && ' The form above makes the first one; the API’s POST /instances does the same.'}
        </p>
      )}
    </div>
  );
}

/** How many match, from the counters of all and of each state; null for filters that have no counter. */
async function countedTotal(caller: Caller, filters: Readonly<Record<string, string>>): Promise<number | null> {
  const narrowing = Object.keys(filters).filter((key) => key !== 'sort' && key !== 'limit');
  if (narrowing.some((key) => key !== 'state')) return null;
  const { states } = await getHost().operations.counts(caller);
  const state = STATES.find((known) => known === filters.state);
  if (state !== undefined) return states[state];
  return STATES.reduce((sum, one) => (one === 'deleted' ? sum : sum + states[one]), 0);
}

export default async function Sandboxes({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = singleValues(await searchParams);
  const caller = await requireCaller(addressWith('/sandboxes', values));
  const parsed = listQuerySchema.safeParse({ limit: String(PAGE_SIZE), ...values });
  const complaints: Record<string, string> = {};
  for (const issue of parsed.error?.issues ?? []) {
    const key = String(issue.path[0] ?? '');
    if (key in values) complaints[key] = issue.message;
  }
  const query: ListQuery = parsed.success
    ? { ...parsed.data, limit: Math.min(parsed.data.limit, LARGEST_PAGE) }
    : { sort: 'updated', limit: PAGE_SIZE };
  const asOf = await ledgerSeq();
  const { operations } = getHost();
  // With an invalid filter nothing is shown: bulk actions would apply to everything that is listed.
  const wrong = Object.keys(complaints).length > 0;
  const { cursor: _cursor, ...filters } = values;
  const [page, exactTotal] = wrong
    ? [NO_PAGE, null]
    : await Promise.all([
        operations.listInstances(caller, query).catch((error: unknown) => {
          // The page no longer exists, or the cursor is mangled: start again with the same filters.
          if (isWinterdockError(error) && error.code === 'validation' && query.cursor !== undefined) return null;
          throw error;
        }),
        countedTotal(caller, filters),
      ]);
  if (page === null) redirect(addressWith('/sandboxes', filters));
  const filtered = Object.keys(filters).some((key) => key !== 'sort' && key !== 'limit');
  const total = page.totalIsExact ? page.total : exactTotal;
  const words = total === null ? `${page.total.toLocaleString('en')}+` : total.toLocaleString('en');
  const mayChoose = mayDo(caller, 'startJob');
  const mayCreate = mayDo(caller, 'createInstance');
  const empty = page.items.length === 0 && !filtered && query.cursor === undefined;
  const rendered = renderedAt();
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <div className="pt-8 pb-6 sm:pt-12">
        <h1 className="headline">
          {wrong ? 'Sandboxes' : `${words} ${page.total === 1 ? 'sandbox' : 'sandboxes'}`}
          {filtered && !wrong && <span className="quiet"> that {page.total === 1 ? 'matches' : 'match'}</span>}
        </h1>
      </div>
      {mayCreate && (
        <CreateForm
          action={createSandbox}
          policies={POLICY_CHOICES}
          start={{ ...START, values: { tenant: parsed.success ? (parsed.data.tenant ?? '') : '' } }}
          open={empty}
          tenants={caller.tenants}
        />
      )}
      {!empty && (
        <Form action="/sandboxes" className="pb-6">
          <SandboxFilters values={values} complaints={complaints} filtered={filtered} />
          <ExtraFilters values={values} complaints={complaints} />
        </Form>
      )}
      {page.items.length === 0 ? (
        <Nothing wrong={wrong} filtered={filtered} mayCreate={mayCreate} />
      ) : (
        <>
          {mayChoose && (
            <SelectionBar filter={listFilters(filters)} total={total ?? page.total} exact={total !== null} />
          )}
          <SandboxTable instances={page.items} rendered={rendered} choose={mayChoose ? SELECTION_FORM : undefined} />
        </>
      )}
      <Pagination
        first={query.cursor === undefined ? null : addressWith('/sandboxes', filters)}
        next={page.next === null ? null : addressWith('/sandboxes', { ...filters, cursor: page.next })}
      />
      <div className="pb-12" />
    </AsOf>
  );
}
