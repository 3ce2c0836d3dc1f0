/** The Network tab: what the sandbox may reach, what it did reach, and the form of its list. */
import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { NetworkForm } from '#components/network/network-form.tsx';
import { lineOfRule, textOfRules } from '#components/network/rule-text.ts';
import { exactSize } from '#components/ui/amounts.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance, InstanceNetwork } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { setNetwork } from './network-actions.ts';
import { tabAddress } from './tab-names.ts';

const figures = (count: number) => count.toLocaleString('en');

function Reached({ reached }: Pick<InstanceNetwork, 'reached'>) {
  if (reached.length === 0) return <p className="text-ink-2">Nothing in the last seven days.</p>;
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Host</th>
          <th scope="col" className="text-right">
            Calls
          </th>
          <th scope="col" className="text-right">
            Refused
          </th>
          <th scope="col" className="text-right">
            Sent
          </th>
          <th scope="col" className="text-right">
            Received
          </th>
        </tr>
      </thead>
      <tbody>
        {reached.map(({ host, calls, refused, bytes_out: out, bytes_in: received }) => (
          <tr key={host}>
            <td className="[overflow-wrap:anywhere] max-md:col-span-full">
              {host === '' ? 'others' : <code>{host}</code>}
            </td>
            <td data-label="Calls" className="text-right">
              {figures(calls)}
            </td>
            <td data-label="Refused" className="text-right">
              {figures(refused)}
            </td>
            <td data-label="Sent" className="text-right">
              {sizeInWords(out)}
            </td>
            <td data-label="Received" className="text-right">
              {sizeInWords(received)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export async function NetworkTab({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant, policy } = instance;
  const network = await getHost().operations.instanceNetwork(caller, id);
  const { allowed, enabled, reached, rules } = network;
  const whyNotSet = whyNot(caller, 'putInstanceNetwork', { tenant });
  return (
    <>
      <PageSection id="allowed" name="May reach" note="What its list and its tenant’s both allow.">
        {!enabled && (
          <p className="mb-3">
            Its policy “{policy}” reaches no network.{' '}
            <Link href={tabAddress(id, 'settings')} prefetch={false}>
              The policy “network” does
            </Link>
            .
          </p>
        )}
        {allowed.rules.length === 0 ? (
          <p className="text-ink-2">
            Nothing: no entry is in both lists.{' '}
            <Link href={`/tenants/${tenant}#network`} prefetch={false}>
              The list of {tenant}
            </Link>
          </p>
        ) : (
          <ul className="grid gap-1">
            {allowed.rules.map((rule) => (
              <li key={lineOfRule(rule)}>
                <code className="[overflow-wrap:anywhere]">{lineOfRule(rule)}</code>
              </li>
            ))}
          </ul>
        )}
        <p className="mt-3 text-small text-ink-2">
          {figures(allowed.requests_per_minute)} requests a minute, {sizeInWords(network.bytes_today)} of{' '}
          {sizeInWords(allowed.bytes_per_day)} today (UTC).
        </p>
      </PageSection>
      <PageSection id="reached" name="Reached" note="By host, in the last seven days. A refusal sent nothing.">
        <Reached reached={reached} />
      </PageSection>
      <PageSection id="network-list" name="Its list" note="Each change is a line of the ledger.">
        {whyNotSet === null ? (
          <WithCall
            name="putInstanceNetwork"
            path={{ id }}
            body={{ rules: [] }}
            fields={{
              rules: 'rules',
              inherits: { to: 'rules', kind: 'null' },
              requests_per_minute: 'number',
              bytes_per_day: 'size',
            }}
          >
            <NetworkForm
              present={{
                rules: textOfRules(rules),
                requests_per_minute: network.requests_per_minute === null ? '' : String(network.requests_per_minute),
                bytes_per_day: network.bytes_per_day === null ? '' : exactSize(network.bytes_per_day),
              }}
              inherits={{ now: rules === null }}
              notes={{
                rules:
                  'One entry a line: methods (else GET and HEAD) and a prefix. Nothing and no tick: it reaches nothing.',
                requests_per_minute: 'Empty: 120.',
                bytes_per_day: 'An amount like 500 MB. Empty: 1.1 GB (1 GiB).',
              }}
              action={setNetwork.bind(null, id)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="network" label="Set what it may reach" whyNot={whyNotSet} />
        )}
      </PageSection>
    </>
  );
}
