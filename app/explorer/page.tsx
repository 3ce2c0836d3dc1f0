/** The API explorer: every call, to read and to try under the visitor's own rights, and every error. */
import { PageSection } from '#components/ui/page-section.tsx';
import { ERROR_STATUS, type ErrorCode } from '#lib/base/error-status.ts';
import { ERROR_WORDS } from '#lib/contract/error-words.ts';
import { getHost } from '#lib/host/host.ts';
import { EXAMPLE_ID } from '#lib/http/examples.ts';
import { requireCaller } from '../caller.ts';
import { type SearchParams, singleValues } from '../search-params.ts';
import { type OpenApiDocument, operationGroups, withOwnSandbox } from './document.ts';
import { Explorer } from './explorer.tsx';
import { Prose } from './prose.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Explorer' };

export default async function ExplorerPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  const { actor } = await requireCaller('/explorer');
  const { q = '' } = singleValues(await searchParams);
  const { openapi, config, clock } = getHost();
  const own = `try-${clock.now().toString(36)}`;
  const document = JSON.parse(withOwnSandbox(openapi(), EXAMPLE_ID, own)) as OpenApiDocument;
  return (
    <div className="pb-8">
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Explorer <span className="quiet">every call, tried with your own rights</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          What you run here really happens: it goes out with your session, and what your role lacks answers{' '}
          <code>403</code>. The examples stand as they are: create, exec and files work on one sandbox of your own. A
          call is kept in the notebook, and copied as curl, as a command line or as TypeScript; from elsewhere it needs
          a key, which all three read from <code>WINTERDOCK_KEY</code>. The whole document:{' '}
          <a href="/openapi.json">/openapi.json</a>.
        </p>
      </div>
      <Explorer
        actor={actor}
        groups={operationGroups(document)}
        origin={config.publicUrl ?? `http://localhost:${config.port}`}
        search={q}
      />
      <PageSection
        id="errors"
        name="Errors"
        note="Every one is a problem document; its code is stable, its words are not."
      >
        <table className="ledger ledger-cards">
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Status</th>
              <th scope="col">When</th>
            </tr>
          </thead>
          <tbody>
            {(Object.keys(ERROR_STATUS) as ErrorCode[]).map((code) => (
              <tr key={code}>
                <td className="max-md:col-start-1">
                  <code>{code}</code>
                </td>
                <td className="max-md:col-start-2 max-md:text-right">{ERROR_STATUS[code]}</td>
                <td className="max-md:col-span-full">
                  <Prose text={ERROR_WORDS[code]} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </PageSection>
    </div>
  );
}
