/** Every snapshot, newest first: filters and pages in the URL. */
import Form from 'next/form';
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { SnapshotTable } from '#components/sandbox/snapshot-table.tsx';
import { EmptyState } from '#components/ui/empty-state.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { type SnapshotsQuery, snapshotsQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Snapshots' };

const PATH = '/snapshots';
const PAGE_SIZE = 50;
const FILTERS = [
  ['tag', 'Tag', 'exactly as it was given'],
  ['source', 'Of the sandbox', 'its id'],
  ['tenant', 'Tenant', 'any'],
] as const;

function Filters({ values, complaints }: { values: Record<string, string>; complaints: Record<string, string> }) {
  const filtered = FILTERS.some(([name]) => name in values);
  return (
    <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-3 lg:grid-cols-[1.4fr_1.4fr_1fr_auto]">
      {FILTERS.map(([name, title, placeholder]) => (
        <label key={name} className="field">
          <span className="field-name">{title}</span>
          <input
            key={values[name]}
            className="input"
            name={name}
            defaultValue={values[name]}
            placeholder={placeholder}
            autoCapitalize="none"
            spellCheck={false}
            aria-invalid={complaints[name] === undefined ? undefined : true}
            aria-describedby={complaints[name] === undefined ? undefined : `filter-${name}-complaint`}
          />
          {complaints[name] !== undefined && (
            <span className="complaint mt-1 block" id={`filter-${name}-complaint`}>
              {complaints[name]}
            </span>
          )}
        </label>
      ))}
      <div className="flex items-center gap-4 lg:beside-fields">
        <button type="submit" className="button">
          Show
        </button>
        {filtered && (
          <Link href={PATH} className="text-small">
            Clear
          </Link>
        )}
      </div>
    </div>
  );
}

export default async function SnapshotsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = singleValues(await searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = snapshotsQuerySchema.safeParse({ limit: String(PAGE_SIZE), ...values });
  const complaints: Record<string, string> = {};
  for (const issue of parsed.error?.issues ?? []) {
    const key = String(issue.path[0] ?? '');
    if (key in values) complaints[key] = issue.message;
  }
  const query: SnapshotsQuery = parsed.success ? parsed.data : { limit: PAGE_SIZE };
  const { cursor: _cursor, ...filters } = values;
  const wrong = Object.keys(complaints).length > 0;
  const page = wrong
    ? { items: [], next: null }
    : await getHost()
        .operations.listSnapshots(caller, query)
        .catch((error: unknown) => {
          // The cursor is mangled: start again with the same filters.
          if (isWinterdockError(error) && error.code === 'validation' && query.cursor !== undefined) return null;
          throw error;
        });
  if (page === null) redirect(addressWith(PATH, filters));
  const filtered = FILTERS.some(([name]) => name in values);
  return (
    <>
      <LibraryNav current="Snapshots" />
      <LibraryTitle name="Snapshots" says="are save files that outlive their sandbox" />
      <Form action={PATH} className="pb-6">
        <Filters values={values} complaints={complaints} />
      </Form>
      {page.items.length > 0 ? (
        <SnapshotTable snapshots={page.items} rendered={renderedAt()} />
      ) : (
        <EmptyState>
          {wrong ? (
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
      <Pagination
        first={query.cursor === undefined ? null : addressWith(PATH, filters)}
        next={page.next === null ? null : addressWith(PATH, { ...filters, cursor: page.next })}
      />
      <div className="pb-12" />
    </>
  );
}
