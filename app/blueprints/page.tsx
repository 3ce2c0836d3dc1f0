/** All blueprints by name, and two ways to make one: from a sandbox's workspace, or from an uploaded file. */
import type { ReactNode } from 'react';
import { BlueprintTable } from '#app/blueprints/blueprint-table.tsx';
import { WithCall } from '#components/calls/with-call.tsx';
import { UploadForm } from '#components/files/upload-form.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { EmptyState } from '#components/ui/empty-state.tsx';
import { Field } from '#components/ui/field.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { whyNot } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { readFlash } from '../flash.ts';
import { FlashRefusal } from '../flash-refusal.tsx';
import { LibraryNav, LibraryTitle } from '../library-header.tsx';
import { listValues, pageLinks, readListPage } from '../list-page.ts';
import type { SearchParams } from '../search-params.ts';
import { makeBlueprint } from './actions.ts';
import { MakeForm } from './make-form.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Blueprints' };

const PATH = '/blueprints';
const PAGE_SIZE = 50;

function Way({ id, name, children }: { id: string; name: string; children: ReactNode }) {
  return (
    <section aria-labelledby={`${id}-name`} id={id} className="border-t border-ink pt-4 pb-10">
      <h2 className="part-name mb-3" id={`${id}-name`}>
        {name}
      </h2>
      {children}
    </section>
  );
}

export default async function BlueprintsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { cursor, from = '', flash: key } = await listValues(PATH, searchParams);
  const caller = await requireCaller(PATH);
  const { operations, config } = getHost();
  const place = { path: PATH, filters: {}, cursor };
  const page = await readListPage(place, () => operations.listBlueprints(caller, { limit: PAGE_SIZE, cursor }));
  const noMake = whyNot(caller, 'createBlueprint');
  const noUpload = whyNot(caller, 'uploadBlueprint');
  return (
    <>
      <LibraryNav current="Blueprints" />
      <LibraryTitle name="Blueprints" says="are the bases of clones" />
      {page.items.length > 0 ? (
        <BlueprintTable blueprints={page.items} rendered={renderedAt()} />
      ) : (
        <EmptyState>
          <p>There is no blueprint yet. Make one below: it takes the work of a sandbox, not what it learned.</p>
        </EmptyState>
      )}
      <Pagination {...pageLinks(place, page.next)} />
      <div className="grid gap-x-16 pt-12 lg:grid-cols-2">
        <Way id="make" name="Make one of a sandbox">
          {noMake === null ? (
            <WithCall name="createBlueprint" fields={{ name: 'text', from_instance: 'text' }}>
              <MakeForm action={makeBlueprint} from={from} />
            </WithCall>
          ) : (
            <DisabledAction id="make" label="Make a blueprint" whyNot={noMake} />
          )}
        </Way>
        <Way id="upload" name="Make one of a file">
          <FlashRefusal flash={readFlash(caller, key)} />
          {noUpload === null ? (
            <WithCall name="createBlueprint" fields={{ name: { to: 'name', in: 'query' } }}>
              <UploadForm
                id="upload-form"
                action="/blueprints/upload"
                file="A bundle, or the SQLite file of a sandbox"
                note={`At most ${sizeInWords(config.maxSandboxBytes)}. Its workspace and memory are taken.`}
                button="Upload and make a blueprint"
              >
                <Field form="upload" name="name" title="Name" note="The name to clone it by: a-z, 0-9, _ and -">
                  {(props) => (
                    <input
                      {...props}
                      className="input font-mono"
                      required
                      pattern="[a-z0-9][a-z0-9_\-]{0,62}"
                      title="1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit"
                      autoComplete="off"
                      autoCapitalize="none"
                      spellCheck={false}
                    />
                  )}
                </Field>
              </UploadForm>
            </WithCall>
          ) : (
            <DisabledAction id="upload" label="Upload and make a blueprint" whyNot={noUpload} />
          )}
        </Way>
      </div>
    </>
  );
}
