/** One webhook: how it fares, what it was told, its settings. */

import Link from 'next/link';
import { notFound } from 'next/navigation';
import { WithCall } from '#components/calls/with-call.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { Pagination } from '#components/ui/pagination.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { whyNot } from '#lib/contract/access.ts';
import { deliveriesQuerySchema, type Webhook } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../../caller.ts';
import { addressWith, type SearchParams, singleValues } from '../../../search-params.ts';
import { ConfirmButton } from '../../confirm-button.tsx';
import { NotAllowed } from '../../not-allowed.tsx';
import { changeWebhook, removeWebhook, rotateSecret, sendTest, setEnabled } from '../actions.ts';
import { RotateForm, WebhookForm } from '../webhook-form.tsx';
import { toldInWords, webhookStateInWords } from '../webhook-words.ts';
import { Deliveries } from './deliveries.tsx';

export const dynamic = 'force-dynamic';
export const metadata = { title: 'A webhook' };

const SHOWN = 25;

async function read(caller: Caller, id: string, values: Record<string, string>) {
  const { operations } = getHost();
  const parsed = deliveriesQuerySchema.safeParse({ ...values, limit: SHOWN });
  try {
    const webhook = await operations.getWebhook(caller, id);
    const query = parsed.success ? parsed.data : { limit: SHOWN };
    return { webhook, page: await operations.webhookDeliveries(caller, id, query) };
  } catch (error) {
    if (isWinterdockError(error) && ['not_found', 'validation'].includes(error.code)) notFound();
    throw error;
  }
}

function Fares({ webhook, rendered }: { webhook: Webhook; rendered: number }) {
  const { off_reason, failing_since_ms: since, pending, old_secret_until } = webhook;
  const state = webhookStateInWords(webhook);
  return (
    <div className="grid max-w-2xl gap-2">
      <p className={state.isBad ? 'text-fault-ink' : undefined}>
        It is {state.says}
        {since !== null && (
          <>
            , and has been failing for <RelativeTime at={Math.floor(since / 1000)} rendered={rendered} as="length" />
          </>
        )}
        .{off_reason !== null && ` ${off_reason}`}
      </p>
      <p className="text-ink-2">
        {pending === 0 ? 'Nothing waits to be sent.' : `${pending} waiting to be sent.`}
        {old_secret_until !== null && ' The secret before the last one signs too for a day.'}
      </p>
    </div>
  );
}

export default async function WebhookPage({
  params,
  searchParams,
}: {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}) {
  const { id } = await params;
  const path = `/settings/webhooks/${id}`;
  const caller = await requireCaller(path);
  const why = whyNot(caller, 'getWebhook');
  if (why !== null) return <NotAllowed title="A webhook" why={why} />;
  const { state, cursor } = singleValues(await searchParams);
  const filters: Record<string, string> = state === undefined ? {} : { state };
  const { webhook, page } = await read(caller, id, { ...filters, ...(cursor === undefined ? {} : { cursor }) });
  const rendered = renderedAt();
  const { name, url, types, enabled } = webhook;
  return (
    <>
      <div className="pt-10 pb-10">
        <h1 className="headline [overflow-wrap:anywhere]">
          {name} <span className="quiet">told of {toldInWords(webhook)}</span>
        </h1>
        <p className="mt-4 text-ink-2 [overflow-wrap:anywhere]">
          <code>{url}</code>
        </p>
      </div>
      <PageSection id="state" name="State" note="A test is sent at once, also while it is off.">
        <Fares webhook={webhook} rendered={rendered} />
        <div className="mt-4 flex flex-wrap items-start gap-3">
          <WithCall name="testWebhook" path={{ id }}>
            <ConfirmButton action={sendTest.bind(null, id)} button="Send a test" doing="Sending…" label="" row />
          </WithCall>
          {enabled ? (
            <WithCall name="patchWebhook" path={{ id }} body={{ enabled: false }}>
              <ConfirmButton
                action={setEnabled.bind(null, id, false, 'stopped')}
                button="Turn off"
                doing="Turning off…"
                label=""
                row
              />
            </WithCall>
          ) : (
            <>
              <WithCall name="patchWebhook" path={{ id }} body={{ enabled: true, resume_from: 'stopped' }}>
                <ConfirmButton
                  action={setEnabled.bind(null, id, true, 'stopped')}
                  button="Turn on where it stopped"
                  doing="Turning on…"
                  label=""
                  row
                />
              </WithCall>
              <WithCall name="patchWebhook" path={{ id }} body={{ enabled: true, resume_from: 'now' }}>
                <ConfirmButton
                  action={setEnabled.bind(null, id, true, 'now')}
                  button="Turn on from now"
                  doing="Turning on…"
                  label=""
                  row
                />
              </WithCall>
            </>
          )}
        </div>
      </PageSection>
      <PageSection
        id="deliveries"
        name="Deliveries"
        note={
          <>
            Newest first.{' '}
            {state === undefined ? (
              <Link href={`${path}?state=failed`} prefetch={false}>
                Failed ones only
              </Link>
            ) : (
              <Link href={path} prefetch={false}>
                All of them
              </Link>
            )}
          </>
        }
      >
        {page.items.length === 0 ? (
          <p className="text-ink-2">{state === undefined ? 'It was not told anything yet.' : 'None.'}</p>
        ) : (
          <Deliveries deliveries={page.items} enabled={enabled} rendered={rendered} />
        )}
        <Pagination
          first={cursor === undefined ? null : addressWith(path, filters)}
          next={page.next === null ? null : addressWith(path, { ...filters, cursor: page.next })}
        />
      </PageSection>
      <PageSection id="change" name="Settings">
        <WithCall name="patchWebhook" path={{ id }} fields={{ name: 'text', url: 'text', types: 'list' }}>
          <WebhookForm action={changeWebhook.bind(null, id)} webhook={{ name, url, types: types?.join(', ') ?? '' }} />
        </WithCall>
      </PageSection>
      <PageSection id="secret" name="Secret" note="The old one signs too for 24 hours.">
        <WithCall name="rotateWebhookSecret" path={{ id }}>
          <RotateForm action={rotateSecret.bind(null, id)} />
        </WithCall>
      </PageSection>
      <PageSection id="remove" name="Remove">
        <WithCall name="deleteWebhook" path={{ id }}>
          <ConfirmButton
            action={removeWebhook.bind(null, id)}
            button="Remove for good"
            doing="Removing…"
            label={`the webhook ${name}`}
            ask={{ open: 'Remove…', says: 'It is told of nothing any more. What waits for it is gone.' }}
          />
        </WithCall>
      </PageSection>
    </>
  );
}
