/** The support desk: a searchable list of archived sandboxes, with who archived each and why. */
import Form from 'next/form';
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { Outcome } from '#components/ui/outcome.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { ListQuery } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../actor-names.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';
import { type FiledSandbox, FiledTable } from './filed-table.tsx';
import { ArchiveFilters } from './filters.tsx';
import { parseArchiveQuery } from './query.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Archive' };

const PATH = '/archive';
const PAGE_SIZE = 50;

/** A page of the list, or the refusal in words; null for a page that no longer exists. */
async function read(caller: Caller, query: ListQuery) {
  try {
    return await getHost().operations.listInstances(caller, query);
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'validation' && query.cursor !== undefined) return null;
    if (isWinterdockError(error) && error.code === 'forbidden')
      return { refusal: problemInWords(problemOf(error, caller)) };
    throw error;
  }
}

/** Each sandbox with the line that archived it: one index look-up per row. */
async function withLines(caller: Caller, instances: FiledSandbox['instance'][]): Promise<FiledSandbox[]> {
  const { operations } = getHost();
  return Promise.all(
    instances.map(async (instance) => {
      const { items } = await operations.instanceEvents(caller, instance.id, { type: 'transition', limit: 1 });
      return { instance, line: items.find(({ to }) => to === 'archived') };
    }),
  );
}

/** How many are archived, from the counter of all; undefined for a filtered list, which has no counter. */
async function countedTotal(caller: Caller, filtered: boolean): Promise<number | undefined> {
  return filtered ? undefined : (await getHost().operations.counts(caller)).states.archived;
}

function Nothing({ filters }: { filters: Record<string, string> }) {
  if (Object.keys(filters).every((name) => name === 'sort')) {
    return (
      <p className="max-w-2xl">
        Nothing is filed away. A sandbox gets here when someone archives it:{' '}
        <Link href="/sandboxes">open one that is no longer needed</Link> and choose Archive.
      </p>
    );
  }
  const { q, tenant, label } = filters;
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
  const values = singleValues(await searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = parseArchiveQuery(values, PAGE_SIZE);
  const { query, filters } = parsed;
  const filtered = Object.keys(filters).some((name) => name !== 'sort');
  const [page, exactTotal, names] = await Promise.all([
    query === null ? undefined : read(caller, query),
    query === null ? undefined : countedTotal(caller, filtered),
    actorNames(),
  ]);
  if (page === null) redirect(addressWith(PATH, filters));
  const list = page !== undefined && 'items' in page ? page : null;
  const filed = list === null ? [] : await withLines(caller, list.items);
  const rendered = renderedAt();
  const total = list === null || list.totalIsExact ? list?.total : exactTotal;
  const figure = list === null ? '' : `${(total ?? list.total).toLocaleString('en')}${total === undefined ? '+' : ''} `;
  return (
    <>
      <h1 className="headline pt-8 pb-6 sm:pt-12">
        {figure}
        {list === null ? 'Sandboxes ' : list.total === 1 ? 'sandbox ' : 'sandboxes '}
        <span className="quiet">{filtered ? 'filed away, as filtered' : 'filed away'}</span>
      </h1>
      <Form action={PATH} className="pb-6">
        <ArchiveFilters parsed={parsed} />
      </Form>
      {filed.length > 0 ? (
        <FiledTable filed={filed} names={names} rendered={rendered} />
      ) : (
        <div className="border-t border-ink py-10">
          {query === null && <p>Nothing is shown: a filter above is not valid.</p>}
          {page !== undefined && 'refusal' in page && <Outcome outcome={{ ok: false, ...page.refusal }} />}
          {list !== null && <Nothing filters={filters} />}
        </div>
      )}
      {list !== null && (
        <Pagination
          first={query?.cursor === undefined ? null : addressWith(PATH, filters)}
          next={list.next === null ? null : addressWith(PATH, { ...filters, cursor: list.next })}
        />
      )}
      <div className="pb-12" />
    </>
  );
}
