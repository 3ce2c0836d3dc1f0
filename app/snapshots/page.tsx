/** Every snapshot, newest first: filters and pages in the URL. */
import Link from 'next/link';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { EmptyState } from '#components/ui/empty-state.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { snapshotsQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { FilterFields } from '../filter-fields.tsx';
import { readFilters } from '../filter-parser.ts';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { addressWith, type SearchParams } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Snapshots' };

const PATH = '/snapshots';
const PAGE_SIZE = 50;
const FILTERS = [
  ['tag', 'Tag', 'exactly as it was given'],
  ['source', 'Of the sandbox', 'its id'],
  ['tenant', 'Tenant', 'any'],
] as const;
const FILTER_NAMES = FILTERS.map(([name]) => name);
/** The result for an invalid filter. */
const NO_PAGE = { items: [], next: null };

export default async function SnapshotsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = readFilters(values, FILTER_NAMES, {
    schema: snapshotsQuerySchema,
    fixed: { limit: String(PAGE_SIZE) },
  });
  const { query, filters } = parsed;
  const place = { path: PATH, filters, cursor: values.cursor };
  const page =
    query === null ? NO_PAGE : await readListPage(place, () => getHost().operations.listSnapshots(caller, query));
  const filtered = Object.keys(filters).length > 0;
  return (
    <>
      <LibraryNav current="Snapshots" />
      <LibraryTitle name="Snapshots" says="are save files that outlive their sandbox" />
      <FilterForm action={PATH} className="pb-6">
        <FilterFields
          fields={FILTERS}
          parsed={parsed}
          clear={PATH}
          className="sm:grid-cols-3 lg:grid-cols-[1.4fr_1.4fr_1fr_auto]"
        />
      </FilterForm>
      {page.items.length > 0 ? (
        <SnapshotTable snapshots={page.items} rendered={renderedAt()} />
      ) : (
        <EmptyState>
          {query === null ? (
            <p>Nothing is shown: a filter above is not valid.</p>
          ) : filtered ? (
            <p>
              No snapshot matches. <Link href={PATH}>Show all of them</Link>, or change the filters above.
            </p>
          ) : (
            <p>
              No snapshot has been taken yet. <Link href="/sandboxes">Open a sandbox</Link> and take one in its tab
              Snapshots, in any state: nothing is stopped or woken for it.
            </p>
          )}
        </EmptyState>
      )}
      <Pagination {...pageLinks(place, page.next)} />
      <div className="pb-12" />
    </>
  );
}
