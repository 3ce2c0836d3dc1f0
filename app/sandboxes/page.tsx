/**
 * The list of sandboxes: filters, sort and pages in the address, columns as the visitor chose them, and the form that
 * creates a sandbox.
 */
import { cookies } from 'next/headers';
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { CreateForm, type CreateState } from '#app/sandboxes/create-form.tsx';
import { SandboxTable } from '#app/sandboxes/sandbox-table.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { AsOf } from '#components/live/live-data.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { cookieRules } from '#lib/auth/cookies.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { ListQuery } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { hostAmongSeveral } from '#lib/hosts/needs-of-several.ts';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { addressWith, type SearchParams } from '../search-params.ts';
import { createSandbox } from './actions.ts';
import { ColumnForm } from './column-form.tsx';
import { SandboxFilters } from './filters.tsx';
import { addressOfTerms, narrowing, parseListAddress, untyped } from './list-address.ts';
import { LIST_PATH } from './list-path.ts';
import { columnsFor, listCookie, parseListSettings } from './list-settings.ts';
import { policyChoices } from './policies.ts';
import { SavedFilters } from './saved-filters.tsx';
import { listFilters } from './selection.ts';
import { SELECTION_FORM, SelectionBar } from './selection-bar.tsx';
import { TypedBox } from './typed-box.tsx';

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
  if (Object.keys(narrowing(filters)).some((key) => key !== 'state')) return null;
  const { states } = await getHost().operations.counts(caller);
  const state = STATES.find((known) => known === filters.state);
  if (state !== undefined) return states[state];
  return STATES.reduce((sum, one) => (one === 'deleted' ? sum : sum + states[one]), 0);
}

/** How many deleted ones a search finds too, which no list shows beside others; null when it is not asked. */
async function deletedTotal(caller: Caller, query: ListQuery | null): Promise<string | null> {
  if (query?.q === undefined || query.state !== undefined || query.cursor !== undefined) return null;
  const page = await getHost().operations.listInstances(caller, { ...query, state: 'deleted', limit: 1 });
  if (page.total === 0) return null;
  const count = `${page.total.toLocaleString('en')}${page.totalIsExact ? '' : '+'}`;
  return `${count} deleted ${count === '1' ? 'matches' : 'match'}`;
}

export default async function Sandboxes({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const asTyped = addressOfTerms(await searchParams);
  if (asTyped !== null) redirect(asTyped);
  const values = await listValues(LIST_PATH, searchParams);
  const caller = await requireCaller(addressWith(LIST_PATH, values));
  const { query: asked, filters, complaints, typed, typedComplaints, meant } = parseListAddress(values, PAGE_SIZE);
  if (meant !== null) redirect(addressWith(LIST_PATH, meant));
  const query: ListQuery | null = asked && { ...asked, limit: Math.min(asked.limit, LARGEST_PAGE) };
  const asOf = await ledgerSeq();
  const { operations, config } = getHost();
  const isAmongSeveral = hostAmongSeveral(config) !== null;
  const place = { path: LIST_PATH, filters, cursor: values.cursor };
  // With an invalid filter nothing is shown: bulk actions would apply to everything that is listed.
  const wrong = query === null;
  const [page, exactTotal, jar, deleted, hosts] = await Promise.all([
    query === null ? NO_PAGE : readListPage(place, () => operations.listInstances(caller, query)),
    wrong ? null : countedTotal(caller, filters),
    cookies(),
    deletedTotal(caller, query),
    isAmongSeveral && mayDo(caller, 'listHosts') ? operations.listHosts(caller) : [],
  ]);
  const chosen = parseListSettings(jar.get(listCookie(cookieRules(config)))?.value);
  const settings = { ...chosen, columns: columnsFor(chosen.columns, isAmongSeveral) };
  const filtered = Object.keys(narrowing(filters)).length > 0;
  const total = page.totalIsExact ? page.total : exactTotal;
  const words = total === null ? `${page.total.toLocaleString('en')}+` : total.toLocaleString('en');
  const mayChoose = mayDo(caller, 'startJob');
  const mayCreate = mayDo(caller, 'createInstance');
  const empty = page.items.length === 0 && !filtered && !wrong && query.cursor === undefined;
  const rendered = renderedAt();
  const { limit: _limit, ...kept } = filters;
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <div className="list-head">
        <h1 className="headline">
          {wrong ? 'Sandboxes' : `${words} ${page.total === 1 ? 'sandbox' : 'sandboxes'}`}
          {filtered && !wrong && <span className="quiet"> that {page.total === 1 ? 'matches' : 'match'}</span>}
        </h1>
        {!empty && <TypedBox typed={typed} kept={untyped(filters)} complaints={typedComplaints} />}
        {mayCreate && (
          <WithCall
            name="createInstance"
            fields={{
              tenant: 'text',
              name: 'text',
              id: 'text',
              policy: 'text',
              labels: 'labels',
              keep_hot: 'true',
              ephemeral: 'true',
            }}
          >
            <CreateForm
              action={createSandbox}
              policies={policyChoices(getHost().config)}
              start={{ ...START, values: { tenant: query?.tenant ?? '' } }}
              open={empty}
              tenants={caller.tenants}
            />
          </WithCall>
        )}
        {deleted !== null && (
          <p className="list-head-note">
            <Link href={addressWith(LIST_PATH, { ...kept, state: 'deleted' })} prefetch={false}>
              {deleted}
            </Link>
            <span className="text-ink-2">: its ledger and its snapshots are there.</span>
          </p>
        )}
      </div>
      {!empty && (
        <div className="pb-3">
          <SandboxFilters filters={filters} complaints={complaints} hosts={hosts.map(({ name }) => name)} />
          <SavedFilters
            saved={settings.saved}
            search={filtered && !wrong ? new URLSearchParams(kept).toString() : null}
          />
        </div>
      )}
      {page.items.length === 0 ? (
        <Nothing wrong={wrong} filtered={filtered} mayCreate={mayCreate} />
      ) : (
        <>
          <div className="flex flex-wrap items-start justify-between gap-x-5 gap-y-3 border-t border-ink py-1.5">
            {mayChoose && (
              <SelectionBar filter={listFilters(filters)} total={total ?? page.total} exact={total !== null} />
            )}
            <div className="ml-auto">
              <ColumnForm settings={settings} />
            </div>
          </div>
          <SandboxTable
            instances={page.items}
            rendered={rendered}
            columns={settings.columns.flatMap(({ name, shown }) => (shown ? [name] : []))}
            density={settings.density}
            choose={mayChoose ? SELECTION_FORM : undefined}
          />
        </>
      )}
      <Pagination {...pageLinks(place, page.next)} />
      <div className="pb-12" />
    </AsOf>
  );
}
