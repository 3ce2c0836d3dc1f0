/** The API explorer: every call, to read and to try under the visitor's own rights, and every error. */
import { PageSection } from '#components/ui/page-section.tsx';
import { ERROR_STATUS, type ErrorCode } from '#lib/base/errors.ts';
import { ERROR_WORDS } from '#lib/contract/error-words.ts';
import { getHost } from '#lib/host/host.ts';
import { EXAMPLE_ID } from '#lib/http/examples.ts';
import { requireCaller } from '../caller.ts';
import { type OpenApiDocument, operationsByTag } from './document.ts';
import { Explorer } from './explorer.tsx';
import { Prose, Reference } from './reference.tsx';
import './explorer.css';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Explorer' };

export default async function ExplorerPage() {
  await requireCaller('/explorer');
  const document = JSON.parse(getHost().openapi()) as OpenApiDocument;
  return (
    <div className="pb-8">
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Explorer <span className="quiet">every call, tried with your own rights</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          What you run here really happens: it goes out with your session, and what your role lacks answers{' '}
          <code>403</code>. The examples stand as they are: create, exec and files work on one sandbox of your own. From
          elsewhere the same calls need a key in <code>Authorization: Bearer</code>. The whole document:{' '}
          <a href="/openapi.json">/openapi.json</a>.
        </p>
      </div>
      <PageSection id="calls" name="Calls" margin={false}>
        <Explorer example={EXAMPLE_ID}>
          <Reference tags={operationsByTag(document)} />
        </Explorer>
      </PageSection>
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
                <td className="left">
                  <code>{code}</code>
                </td>
                <td className="right">{ERROR_STATUS[code]}</td>
                <td className="whole">
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
