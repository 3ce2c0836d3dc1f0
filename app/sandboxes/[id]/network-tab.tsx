/** The Network tab: what the sandbox may reach, what it did reach, and the form of its list. */
import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { NetworkForm } from '#components/network/network-form.tsx';
import { lineOfRule, textOfRules } from '#components/network/rule-text.ts';
import { exactSize } from '#components/ui/amounts.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RetryForm } from '#components/ui/retry-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance, InstanceNetwork } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { setNetwork, startAnew } from './network-actions.ts';
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

/** What both lists allow. */
function Allowed({ allowed, tenant }: Pick<InstanceNetwork, 'allowed'> & Pick<Instance, 'tenant'>) {
  if (allowed.rules.length === 0) {
    return (
      <p className="text-ink-2">
        Nothing: no entry is in both lists.{' '}
        <Link href={`/tenants/${tenant}#network`} prefetch={false}>
          The list of {tenant}
        </Link>
      </p>
    );
  }
  return (
    <ul className="grid gap-1">
      {allowed.rules.map((rule) => (
        <li key={lineOfRule(rule)}>
          <code className="[overflow-wrap:anywhere]">{lineOfRule(rule)}</code>
        </li>
      ))}
    </ul>
  );
}

/** Why it reaches nothing now, and what makes it reach what its lists allow. */
function Unreached({ caller, instance, network }: { caller: Caller; instance: Instance; network: InstanceNetwork }) {
  const { id, tenant, policy, name } = instance;
  const { enabled, running_policy: running } = network;
  if (!enabled) {
    return (
      <p className="mb-3">
        Nothing: its policy “{policy}” reaches no network.{' '}
        <Link href={tabAddress(id, 'settings')} prefetch={false}>
          The policy “network” does
        </Link>
        .
      </p>
    );
  }
  if (running === null) return <p className="mb-3">Nothing now: no process of it runs.</p>;
  const whyNotStart = whyNot(caller, 'suspend', { tenant });
  return (
    <div className="mb-3 grid gap-3">
      <p>
        Nothing now: its process was started under the policy “{running}”. The policy “{policy}” holds from its next
        start.
      </p>
      {whyNotStart === null ? (
        <RetryForm label="Start it anew" name={name ?? id} action={startAnew.bind(null, id)} />
      ) : (
        <DisabledAction id="start-anew" label="Start it anew" whyNot={whyNotStart} />
      )}
    </div>
  );
}

export async function NetworkTab({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id, tenant } = instance;
  const network = await getHost().operations.instanceNetwork(caller, id);
  const { allowed, enabled, enabled_now: isNow, reached, rules } = network;
  const whyNotSet = whyNot(caller, 'putInstanceNetwork', { tenant });
  return (
    <>
      <PageSection
        id="allowed"
        name="May reach"
        note={isNow ? 'Now: what its list and its tenant’s both allow.' : 'What it may reach now, and what it will.'}
      >
        {!isNow && <Unreached caller={caller} instance={instance} network={network} />}
        {!isNow && (
          <h3 className="mb-2 font-[560]">
            {enabled ? 'From its next start' : 'Its lists would allow, under the policy “network”'}
          </h3>
        )}
        <Allowed allowed={allowed} tenant={tenant} />
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
