/** What a webhook was told: when, how often it was tried, what its receiver answered. */

import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { tookInWords } from '#components/ui/durations.ts';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { WebhookDelivery } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../../confirm-button.tsx';
import { resend } from '../actions.ts';
import { deliveryInWords } from '../webhook-words.ts';

function What({ type, seq }: Pick<WebhookDelivery, 'type' | 'seq'>) {
  return (
    <>
      {seq === null ? (
        <span className="font-[540]">a test</span>
      ) : (
        <Link href={`/audit?type=${encodeURIComponent(type)}`} prefetch={false} className="font-[540]">
          {type}
        </Link>
      )}
      {seq !== null && <span className="block text-small text-ink-3">line {seq}</span>}
    </>
  );
}

export function Deliveries({
  deliveries,
  enabled,
  rendered,
}: {
  deliveries: readonly WebhookDelivery[];
  /** One that is off sends nothing again. */
  enabled: boolean;
  rendered: number;
}) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Last attempt</th>
          <th scope="col">Answer</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Took
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Attempts
          </th>
          <th scope="col">
            <span className="sr-only">Send it again</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((one) => (
          <tr key={one.id}>
            <td className="max-md:col-span-full [overflow-wrap:anywhere]">
              <What type={one.type} seq={one.seq} />
            </td>
            <td className="max-md:col-start-1">
              {one.attempted_ms === null ? (
                <span className="text-ink-3">none yet</span>
              ) : (
                <RelativeTime at={Math.floor(one.attempted_ms / 1000)} rendered={rendered} />
              )}
            </td>
            <td className={one.error === null ? 'max-md:col-span-full' : 'max-md:col-span-full text-fault-ink'}>
              {deliveryInWords(one)}
              <span className="text-small text-ink-2 md:hidden">
                {one.took_ms !== null && `, ${tookInWords(one.took_ms)}`}, {one.attempts}{' '}
                {one.attempts === 1 ? 'attempt' : 'attempts'}
              </span>
            </td>
            <td className="text-right whitespace-nowrap max-md:hidden">
              {one.took_ms === null ? '–' : tookInWords(one.took_ms)}
            </td>
            <td className="text-right whitespace-nowrap max-md:hidden">{one.attempts}</td>
            <td className="max-md:col-start-2 text-right">
              {enabled && one.seq !== null && one.state !== 'pending' && (
                <WithCall name="resendDelivery" path={{ id: one.webhook, delivery: one.id }}>
                  <ConfirmButton
                    action={resend.bind(null, one.webhook, one.id)}
                    button="Send again"
                    doing="Sending…"
                    label={`${one.type}, line ${one.seq}`}
                  />
                </WithCall>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
