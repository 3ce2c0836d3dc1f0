/** The support desk: one box that finds archived sandboxes, what is inside each, and what came of those revived. */
import Link from 'next/link';
import { AsOf } from '#components/live/live-data.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { ListQuery } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { lineNames } from '../actor-names.ts';
import { ledgerSeq, renderedAt, requireCaller } from '../caller.ts';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { addressWith, type SearchParams } from '../search-params.ts';
import type { DeskReading } from './desk-text.ts';
import { type FiledSandbox, FiledTable } from './filed-table.tsx';
import { ArchiveFilters } from './filters.tsx';
import { readInside } from './inside.ts';
import { parseArchiveQuery } from './query.ts';
import { LastRevivals, RevivedCard, readRevivals, readRevived } from './revived.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Archive' };

const PATH = '/archive';
const PAGE_SIZE = 50;
/** Rows that say what is inside: each reads the listing beside a file. */
const OPENED = 12;

/** A page of the list, or the refusal in words. */
async function read(caller: Caller, query: ListQuery) {
  try {
    return await getHost().operations.listInstances(caller, query);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'forbidden')
      return { refusal: problemInWords(problemOf(error, caller)) };
    throw error;
  }
}

/** Each sandbox with the line that archived it, one index look-up per row, and the first ones with what is inside. */
async function filedSandboxes(
  caller: Caller,
  instances: FiledSandbox['instance'][],
  opened: number,
): Promise<FiledSandbox[]> {
  const { operations } = getHost();
  return Promise.all(
    instances.map(async (instance, at) => {
      const [{ items }, inside] = await Promise.all([
        operations.instanceEvents(caller, instance.id, { type: 'transition', limit: 1 }),
        at < opened ? readInside(caller, instance) : null,
      ]);
      return { instance, line: items.find(({ to }) => to === 'archived'), inside };
    }),
  );
}

/** How many are archived, from the counter of all; undefined for a filtered list, which has no counter. */
async function countedTotal(caller: Caller, filtered: boolean): Promise<number | undefined> {
  return filtered ? undefined : (await getHost().operations.counts(caller)).states.archived;
}

function Nothing({ filters, reading }: { filters: Record<string, string>; reading: DeskReading }) {
  if (Object.keys(filters).every((name) => name === 'sort')) {
    return (
      <p className="max-w-2xl">
        Nothing is filed away. A sandbox gets here when someone archives it:{' '}
        <Link href="/sandboxes">open one that is no longer needed</Link> and choose Archive.
      </p>
    );
  }
  const { q } = reading;
  const { tenant, label } = { ...reading, ...filters };
  const same = Object.entries({ q, tenant, label }).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return (
    <p className="max-w-2xl">
      Nothing in the archive matches. It may never have been archived:{' '}
      <Link href={addressWith('/sandboxes', Object.fromEntries(same))}>look among all sandboxes</Link>, or{' '}
      <Link href={PATH}>show the whole archive</Link>.
    </p>
  );
}

export default async function Archive({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const asOf = await ledgerSeq();
  const rendered = renderedAt();
  const parsed = parseArchiveQuery(values, PAGE_SIZE, rendered);
  const { query, filters } = parsed;
  const filtered = Object.keys(filters).some((name) => name !== 'sort');
  const place = { path: PATH, filters, cursor: values.cursor };
  const [page, exactTotal, revived, revivals] = await Promise.all([
    query === null ? undefined : readListPage(place, () => read(caller, query)),
    query === null ? undefined : countedTotal(caller, filtered),
    readRevived(caller, values.revived),
    // Beside what somebody searches for they would only stand in the way.
    filtered ? [] : readRevivals(caller),
  ]);
  const list = page !== undefined && 'items' in page ? page : null;
  const filed = list === null ? [] : await filedSandboxes(caller, list.items, filtered ? OPENED : 0);
  const lines = [...filed.map(({ line }) => line), ...revivals.flatMap(({ line, last }) => [line, last])];
  const names = await lineNames(lines.flatMap((line) => line ?? []));
  const total = list === null || list.totalIsExact ? list?.total : exactTotal;
  const figure = list === null ? '' : `${(total ?? list.total).toLocaleString('en')}${total === undefined ? '+' : ''} `;
  return (
    <AsOf asOf={asOf} rendered={rendered}>
      <h1 className="headline pt-8 pb-6 sm:pt-12">
        {figure}
        {list === null ? 'Sandboxes ' : list.total === 1 ? 'sandbox ' : 'sandboxes '}
        <span className="quiet">{filtered ? 'filed away, as filtered' : 'filed away'}</span>
      </h1>
      <FilterForm action={PATH} className="pb-6">
        <ArchiveFilters parsed={parsed} />
      </FilterForm>
      {revived !== null && <RevivedCard caller={caller} revival={revived} rendered={rendered} />}
      {filed.length > 0 ? (
        <FiledTable
          filed={filed}
          names={names}
          rendered={rendered}
          desk={{ whyNot: ({ tenant }) => whyNot(caller, 'revive', { tenant }), q: filters.q ?? '' }}
        />
      ) : (
        <div className="border-t border-ink py-10">
          {query === null && <p>Nothing is shown: a filter above is not valid.</p>}
          {page !== undefined && 'refusal' in page && <Outcome outcome={{ ok: false, ...page.refusal }} />}
          {list !== null && revived !== null && <p>Nothing else in the archive matches.</p>}
          {list !== null && revived === null && <Nothing filters={filters} reading={parsed.reading} />}
        </div>
      )}
      {list !== null && <Pagination {...pageLinks(place, list.next)} />}
      <div className="pt-12">
        <LastRevivals revivals={revivals} names={names} rendered={rendered} />
      </div>
      <div className="pb-12" />
    </AsOf>
  );
}
