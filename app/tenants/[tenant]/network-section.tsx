/** What the sandboxes of a tenant may reach, and the form of the list. */
import { WithCall } from '#components/calls/with-call.tsx';
import { NetworkForm } from '#components/network/network-form.tsx';
import { lineOfRule, textOfRules } from '#components/network/rule-text.ts';
import { exactSize } from '#components/ui/amounts.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { setTenantNetwork } from './network-actions.ts';

export async function NetworkSection({ caller, tenant }: { caller: Caller; tenant: string }) {
  const network = await getHost().operations.tenantNetwork(caller, tenant);
  const whyNotSet = whyNot(caller, 'putTenantNetwork', { tenant });
  return (
    <PageSection
      id="network"
      name="Network"
      note="What its sandboxes with the policy “network” may reach. A sandbox’s own list narrows it."
    >
      {whyNotSet === null ? (
        <WithCall
          name="putTenantNetwork"
          path={{ tenant }}
          body={{ rules: [] }}
          fields={{ rules: 'rules', requests_per_minute: 'number', bytes_per_day: 'size' }}
        >
          <NetworkForm
            present={{
              rules: textOfRules(network.rules),
              requests_per_minute: network.requests_per_minute === null ? '' : String(network.requests_per_minute),
              bytes_per_day: network.bytes_per_day === null ? '' : exactSize(network.bytes_per_day),
            }}
            inherits={null}
            notes={{
              rules:
                'One entry a line: methods (else GET and HEAD) and a prefix, or * for every public address. With the word private the host may have an address in your own network.',
              requests_per_minute: 'Of all its sandboxes. Empty: 600.',
              bytes_per_day: 'Of all its sandboxes, like 500 MB. Empty: 11 GB (10 GiB).',
            }}
            action={setTenantNetwork.bind(null, tenant)}
          />
        </WithCall>
      ) : (
        <div className="grid gap-4">
          <ul className="grid gap-1">
            {(network.rules ?? []).map((rule) => (
              <li key={lineOfRule(rule)}>
                <code className="[overflow-wrap:anywhere]">{lineOfRule(rule)}</code>
              </li>
            ))}
          </ul>
          {(network.rules ?? []).length === 0 && <p className="text-ink-2">Nothing.</p>}
          <DisabledAction id="network" label="Set what they may reach" whyNot={whyNotSet} />
        </div>
      )}
    </PageSection>
  );
}
