/** What an empty server offers: an example in one press, and the same in curl. */
import { headers } from 'next/headers';
import Link from 'next/link';
import { LeaveWhenAny } from '#components/live/counts.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { SCROLLABLE } from '#components/ui/scrollable.ts';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { ExampleForm } from '../workbooks/example-form.tsx';
import { Examples } from '../workbooks/examples.tsx';
import { tryFirstExample } from './first-actions.ts';
import { FIRST_TENANT, firstExampleInCurl } from './first-example.ts';

/** The origin that the visitor uses. */
async function originOf(): Promise<string> {
  const { publicUrl, port } = getHost().config;
  return publicUrl ?? `http://${(await headers()).get('host') ?? `localhost:${port}`}`;
}

export async function FirstUse({ caller }: { caller: Caller }) {
  if (!mayDo(caller, 'createInstance')) {
    return (
      <PageSection id="begin" name="Begin">
        <LeaveWhenAny />
        <p>No sandbox has been created yet.</p>
      </PageSection>
    );
  }
  const tenant = caller.tenants?.[0] ?? FIRST_TENANT;
  return (
    <>
      <LeaveWhenAny />
      <PageSection id="begin" name="Begin" note="One press, and there is something to look at.">
        <p className="mb-4 max-w-xl">
          No sandbox has been created yet. The example is a tenant, <code>{tenant}</code>, with one sandbox: a few
          files, a script that was run on them, and a snapshot of the result. Or{' '}
          <Link href="/sandboxes#new" className="font-[520]">
            create an empty one
          </Link>
          .
        </p>
        <ExampleForm title="first steps" action={tryFirstExample} label="Make the example" ink />
        <details className="mt-6">
          <summary className="button button-quiet w-fit">The same in curl</summary>
          <p className="my-3 max-w-xl text-small text-ink-2">
            Paste it into a shell in the server’s folder, or anywhere with a key in <code>WINTERDOCK_KEY</code> (from{' '}
            <Link href="/settings/keys">Settings</Link>).
          </p>
          <pre
            className="overflow-x-auto border border-rule-2 bg-sheet p-4 text-[0.8125rem] leading-[1.55]"
            {...SCROLLABLE}
          >
            <code>{firstExampleInCurl(await originOf(), tenant)}</code>
          </pre>
        </details>
      </PageSection>
      <PageSection
        id="examples"
        name="Or a workbook"
        note="One press stores a workbook, makes a sandbox that is docked to it, and opens it."
      >
        <Examples caller={caller} />
      </PageSection>
    </>
  );
}
