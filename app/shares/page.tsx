/** The shares, the form that inspects a bundle, and the form that imports one. */

import Link from 'next/link';
import { InspectionResult } from '#app/shares/inspection.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { UploadForm } from '#components/files/upload-form.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Field } from '#components/ui/field.tsx';
import { FilterForm } from '#components/ui/filter-form.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { whyNot } from '#lib/contract/access.ts';
import { sharesQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { actorNames } from '../actor-names.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { FilterFields } from '../filter-fields.tsx';
import { readFilters } from '../filter-parser.ts';
import { readFlash } from '../flash.ts';
import { FlashRefusal } from '../flash-refusal.tsx';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import { addressWith, type SearchParams } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Shares' };

const PATH = '/shares';
const PAGE_SIZE = 50;
const FILTERS = [['tenant', 'Tenant', 'any']] as const;
const FILTER_NAMES = FILTERS.map(([name]) => name);
/** The result for an invalid filter. */
const NO_PAGE = { items: [], next: null };

function ImportFields({ tenant }: { tenant: string }) {
  return (
    <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
      <Field form="import" name="tenant" title="Tenant" note="Whose it will be">
        {(props) => (
          <input
            {...props}
            className="input font-mono"
            required
            defaultValue={tenant}
            placeholder="acme"
            pattern="[a-z0-9][a-z0-9_\-]{0,62}"
            title="1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <Field form="import" name="name" title="Name" note="Optional">
        {(props) => <input {...props} className="input" maxLength={200} autoComplete="off" />}
      </Field>
    </div>
  );
}

export default async function SharesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const values = await listValues(PATH, searchParams);
  const { flash: key, form } = values;
  const parsed = readFilters(values, FILTER_NAMES, { schema: sharesQuerySchema, fixed: { limit: String(PAGE_SIZE) } });
  const { query, filters } = parsed;
  const caller = await requireCaller(addressWith(PATH, filters));
  const { operations, config } = getHost();
  const place = { path: PATH, filters, cursor: values.cursor };
  const page = query === null ? NO_PAGE : await readListPage(place, () => operations.shares(caller, query));
  const flash = readFlash(caller, key);
  const noInspect = whyNot(caller, 'inspectBundle');
  const noImport = whyNot(caller, 'importBundle');
  const own = caller.tenants?.length === 1 ? (caller.tenants[0] ?? '') : '';
  const limit = sizeInWords(config.maxSandboxBytes);
  return (
    <>
      <LibraryNav current="Shares" />
      <LibraryTitle name="Shares" says="are what left the building" />
      <PageSection id="shares" name="What left" note="Each bundle that was shipped, newest first.">
        <FilterForm action={PATH} className="mb-6 max-w-md">
          <FilterFields fields={FILTERS} parsed={parsed} clear={PATH} className="sm:grid-cols-[1fr_auto]" />
        </FilterForm>
        {page.items.length > 0 ? (
          <ShareTable
            shares={page.items}
            names={await actorNames(page.items.map(({ actor }) => actor))}
            rendered={renderedAt()}
          />
        ) : query === null ? (
          <p>Nothing is shown: the filter above is not valid.</p>
        ) : query.tenant === undefined ? (
          <p className="max-w-2xl text-ink-2">
            Nothing has left the building. <Link href="/sandboxes">Open a sandbox</Link> and ship it in its tab Shares.
          </p>
        ) : (
          <p>
            Nothing of {query.tenant} has left. <Link href={PATH}>Show all shares</Link>.
          </p>
        )}
        <Pagination {...pageLinks(place, page.next)} />
      </PageSection>
      <PageSection
        id="inspect"
        name="Inspect"
        note="Is this bundle one of ours, and is it unchanged? It is inspected, and not kept."
      >
        <div className="grid gap-x-16 gap-y-8 lg:grid-cols-2">
          <div>
            {noInspect === null ? (
              <WithCall name="inspectBundle">
                <UploadForm
                  id="inspect-form"
                  action="/shares/inspect"
                  file="A bundle"
                  note={`A .zip or .html that was shipped, or a bare VFS file; at most ${limit}.`}
                  button="Inspect"
                />
              </WithCall>
            ) : (
              <DisabledAction id="inspect" label="Inspect" whyNot={noInspect} />
            )}
          </div>
          <div>
            {flash?.kind === 'inspection' && <InspectionResult name={flash.fileName} inspection={flash.inspection} />}
            {form === undefined && <FlashRefusal flash={flash} />}
          </div>
        </div>
      </PageSection>
      <PageSection
        id="import"
        name="Import"
        note="A bundle or a bare VFS file becomes a new sandbox. Importing twice makes two."
      >
        <div className="grid gap-x-16 gap-y-8 lg:grid-cols-2">
          <div>
            {form === 'import' && <FlashRefusal flash={flash} />}
            {flash?.kind === 'unsigned-import' && (
              <div className="outcome outcome-bad mb-5" role="status">
                <p>
                  <Link href={`/sandboxes/${flash.id}`}>{flash.id}</Link> is made of it.
                </p>
                <p className="mt-1">{flash.says}</p>
              </div>
            )}
            {noImport === null ? (
              <WithCall
                name="importBundle"
                fields={{ tenant: { to: 'tenant', in: 'query' }, name: { to: 'name', in: 'query' } }}
              >
                <UploadForm
                  id="import-form"
                  action="/shares/import"
                  file="A bundle or a VFS file"
                  note={`At most ${limit}. What is hostile or damaged is refused before anything is written.`}
                  button="Import"
                >
                  <ImportFields tenant={own} />
                </UploadForm>
              </WithCall>
            ) : (
              <DisabledAction id="import" label="Import" whyNot={noImport} />
            )}
          </div>
        </div>
      </PageSection>
    </>
  );
}
