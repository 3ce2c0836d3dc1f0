/** The shares, the form that inspects a bundle, and the form that imports one. */
import Form from 'next/form';
import Link from 'next/link';
import { redirect } from 'next/navigation';
import { InspectionResult } from '#app/shares/inspection.tsx';
import { UploadForm } from '#components/files/upload-form.tsx';
import { ShareTable } from '#components/sandbox/share-table.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { Field } from '#components/ui/field.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import { sharesQuerySchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { readFlash } from '../flash.ts';
import { FlashRefusal } from '../flash-refusal.tsx';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { addressWith, type SearchParams, singleValues } from '../search-params.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Shares' };

const PATH = '/shares';
const PAGE_SIZE = 50;

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
  const { flash: key, form, ...values } = singleValues(await searchParams);
  const caller = await requireCaller(addressWith(PATH, values));
  const parsed = sharesQuerySchema.safeParse({ limit: String(PAGE_SIZE), ...values });
  const complaint = parsed.error?.issues.find(({ path }) => path[0] === 'tenant')?.message;
  const query = parsed.success ? parsed.data : { limit: PAGE_SIZE };
  const { operations, config } = getHost();
  const page = await operations.shares(caller, query).catch((error: unknown) => {
    if (isWinterdockError(error) && error.code === 'validation' && query.cursor !== undefined) return null;
    throw error;
  });
  const { cursor: _cursor, ...filters } = values;
  if (page === null) redirect(addressWith(PATH, filters));
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
        <Form action={PATH} className="mb-6 flex max-w-md items-start gap-4">
          <label className="field flex-1">
            <span className="field-name">Tenant</span>
            <input
              key={values.tenant}
              className="input"
              name="tenant"
              defaultValue={values.tenant}
              placeholder="any"
              autoCapitalize="none"
              spellCheck={false}
              aria-invalid={complaint === undefined ? undefined : true}
              aria-describedby={complaint === undefined ? undefined : 'filter-tenant-complaint'}
            />
            {complaint !== undefined && (
              <span className="complaint mt-1 block" id="filter-tenant-complaint">
                {complaint}
              </span>
            )}
          </label>
          <button type="submit" className="button beside-fields">
            Show
          </button>
        </Form>
        {page.items.length > 0 ? (
          <ShareTable shares={page.items} rendered={renderedAt()} />
        ) : values.tenant === undefined ? (
          <p className="max-w-2xl text-ink-2">
            Nothing has left the building. <Link href="/sandboxes">Open a sandbox</Link> and ship it in its tab Shares.
          </p>
        ) : (
          <p>
            Nothing of {values.tenant} has left. <Link href={PATH}>Show all shares</Link>.
          </p>
        )}
        <Pagination
          first={query.cursor === undefined ? null : addressWith(PATH, filters)}
          next={page.next === null ? null : addressWith(PATH, { ...filters, cursor: page.next })}
        />
      </PageSection>
      <PageSection
        id="inspect"
        name="Inspect"
        note="Is this bundle one of ours, and is it unchanged? It is inspected, and not kept."
      >
        <div className="grid gap-x-16 gap-y-8 lg:grid-cols-2">
          <div>
            {noInspect === null ? (
              <UploadForm
                id="inspect-form"
                action="/shares/inspect"
                file="A bundle"
                note={`A .zip that was shipped, or a bare VFS file; at most ${limit}.`}
                button="Inspect"
              />
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
            {noImport === null ? (
              <UploadForm
                id="import-form"
                action="/shares/import"
                file="A bundle or a VFS file"
                note={`At most ${limit}. What is hostile or damaged is refused before anything is written.`}
                button="Import"
              >
                <ImportFields tenant={own} />
              </UploadForm>
            ) : (
              <DisabledAction id="import" label="Import" whyNot={noImport} />
            )}
          </div>
        </div>
      </PageSection>
    </>
  );
}
