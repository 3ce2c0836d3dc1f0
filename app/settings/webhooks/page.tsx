/** Webhooks: who is told of ledger lines, how each fares, and the form that sets one up. */

import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import { whyNot } from '#lib/contract/access.ts';
import type { Webhook } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { NotAllowed } from '../not-allowed.tsx';
import { createWebhook } from './actions.ts';
import { WebhookForm } from './webhook-form.tsx';
import { receiverInWords, toldInWords, webhookStateInWords } from './webhook-words.ts';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'Webhooks' };

function Webhooks({ webhooks, rendered }: { webhooks: readonly Webhook[]; rendered: number }) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Webhook</th>
          <th scope="col">Told of</th>
          <th scope="col">State</th>
          <th scope="col">Last taken</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Waiting
          </th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map((webhook) => {
          const { id, name, url, last_success_ms: last, pending } = webhook;
          const state = webhookStateInWords(webhook);
          return (
            <tr key={id}>
              <td className="max-md:col-span-full [overflow-wrap:anywhere]">
                <Link href={`/settings/webhooks/${id}`} prefetch={false} className="font-[560]">
                  {name}
                </Link>
                <code className="block text-[0.8125rem] text-ink-3">{receiverInWords(url)}</code>
              </td>
              <td className="max-md:col-span-full">{toldInWords(webhook)}</td>
              <td className={state.isBad ? 'max-md:col-start-1 text-fault-ink' : 'max-md:col-start-1'}>{state.says}</td>
              <td className="max-md:col-start-1">
                {last === null ? (
                  <span className="text-ink-3">nothing yet</span>
                ) : (
                  <>
                    <span className="md:hidden">taken </span>
                    <RelativeTime at={Math.floor(last / 1000)} rendered={rendered} />
                  </>
                )}
              </td>
              <td className="text-right whitespace-nowrap max-md:col-start-2">
                {pending}
                <span className="md:hidden"> waiting</span>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

export default async function WebhooksPage() {
  const caller = await requireCaller('/settings/webhooks');
  const why = whyNot(caller, 'listWebhooks');
  if (why !== null) return <NotAllowed title="Webhooks" why={why} />;
  const webhooks = await getHost().operations.listWebhooks(caller, {});
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline">
          Webhooks <span className="quiet">who is told when something happens</span>
        </h1>
        <p className="mt-4 max-w-[44rem] text-ink-2">
          A line of the ledger is sent over https, signed as{' '}
          <a href="https://www.standardwebhooks.com" rel="noreferrer">
            Standard Webhooks
          </a>{' '}
          says, at least once and until it is taken. Contents of files are never in it.
        </p>
      </div>
      <PageSection id="webhooks" name="Webhooks" note="After a day without a success one is turned off.">
        {webhooks.length === 0 ? (
          <p className="text-ink-2">Nobody is told of anything yet.</p>
        ) : (
          <Webhooks webhooks={webhooks} rendered={renderedAt()} />
        )}
      </PageSection>
      <PageSection id="make" name="Set up a webhook">
        <WithCall name="createWebhook" fields={{ name: 'text', url: 'text', types: 'list', tenant: 'text' }}>
          <WebhookForm action={createWebhook} />
        </WithCall>
      </PageSection>
    </>
  );
}
