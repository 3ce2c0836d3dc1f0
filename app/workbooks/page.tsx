/** Every workbook: search and pages in the URL, the form that begins one, and the examples that come along. */
import Link from 'next/link';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { EmptyState } from '#components/ui/empty-state.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { WorkbookTable } from '#components/workbook/workbook-table.tsx';
import { whyNot } from '#lib/contract/access.ts';
import { workbooksQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { FilterFields } from '../filter-fields.tsx';
import { readFilters } from '../filter-parser.ts';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { addressWith, type SearchParams } from '../search-params.ts';
import { openNewWorkbook } from './actions.ts';
import { Examples } from './examples.tsx';
import { NewForm } from './new-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Workbooks' };

const PATH = '/workbooks';
const PAGE_SIZE = 50;
const FILTERS = [
  ['q', 'Find', 'part of an id or title'],
  ['tenant', 'Tenant', 'any'],
] as const;
const FILTER_NAMES = FILTERS.map(([name]) => name);
/** The result for an invalid filter. */
const NO_PAGE = { items: [], next: null };

export default async function WorkbooksPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = readFilters(values, FILTER_NAMES, {
    schema: workbooksQuerySchema,
    fixed: { limit: String(PAGE_SIZE) },
  });
  const { query, filters } = parsed;
  const place = { path: PATH, filters, cursor: values.cursor };
  const page =
    query === null ? NO_PAGE : await readListPage(place, () => getHost().operations.listWorkbooks(caller, query));
  const filtered = Object.keys(filters).length > 0;
  const empty = page.items.length === 0 && !filtered && query !== null;
  const noNew = whyNot(caller, 'putWorkbook');
  const tenant = query?.tenant ?? '';
  return (
    <>
      <LibraryNav current="Workbooks" />
      <LibraryTitle name="Workbooks" says="say what a sandbox runs" />
      {!empty && (
        <FilterForm action={PATH} className="pb-6">
          <FilterFields fields={FILTERS} parsed={parsed} clear={PATH} className="sm:grid-cols-[1.6fr_1fr_auto]" />
        </FilterForm>
      )}
      {page.items.length > 0 ? (
        <WorkbookTable workbooks={page.items} rendered={renderedAt()} />
      ) : (
        <EmptyState>
          {query === null ? (
            <p>Nothing is shown: a filter above is not valid.</p>
          ) : filtered ? (
            <p>
              No workbook matches. <Link href={PATH}>Show all of them</Link>, or change the filters above.
            </p>
          ) : (
            <p>
              There is no workbook yet. It is one org file that declares components and what runs after what; a sandbox
              that is docked to it runs them. Try an example below, or write one.
            </p>
          )}
        </EmptyState>
      )}
      <Pagination {...pageLinks(place, page.next)} />
      <div className="pt-12">
        <PageSection id="new" name="New" note="Its source is stored when it is saved.">
          {noNew === null ? (
            <NewForm
              action={openNewWorkbook}
              start={{ values: { id: '', tenant }, errors: {}, problem: null }}
              tenants={caller.tenants}
            />
          ) : (
            <DisabledAction id="new" label="Write its source" whyNot={noNew} />
          )}
        </PageSection>
        {noNew === null && (
          <PageSection
            id="examples"
            name="Try an example"
            note="One press stores the workbook, makes a sandbox that is docked to it, and opens it."
          >
            <Examples caller={caller} />
          </PageSection>
        )}
      </div>
    </>
  );
}
