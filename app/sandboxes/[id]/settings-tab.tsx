/** The Settings tab: what a person may change, the rest of the row, and delete. */

import Link from 'next/link';
import type { FieldKind } from '#components/calls/call-mark.ts';
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { pauseInWords, thresholdInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import { RemoveForm } from '#components/ui/remove-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { hostAmongSeveral } from '#lib/hosts/needs-of-several.ts';
import { policyChoices } from '../policies.ts';
import { InstanceFacts } from './instance-facts.tsx';
import { moveOffers } from './move-offers.ts';
import { deleteSandbox, saveSettings } from './settings-actions.ts';
import { SandboxSettingsForm } from './settings-form.tsx';
import type { Setting } from './settings-state.ts';
import { settingsAsText } from './settings-values.ts';

/** The policies to choose from, and the sandbox's own where it is not among them. */
function policiesFor(policy: string) {
  const choices = policyChoices(getHost().config);
  const known = choices.some(({ name }) => name === policy);
  return known ? choices : [...choices, { name: policy, says: 'as it is, not offered' }];
}

function Delete({ caller, instance }: { caller: Caller; instance: Instance }) {
  const { id } = instance;
  const offer = moveOffers(instance, caller).find(({ verb }) => verb === 'delete');
  if (offer === undefined) return null;
  if (offer.whyNot === null) {
    return (
      <WithCall name="deleteInstance" path={{ id }} fields={{ reason: 'text' }}>
        <RemoveForm
          what="sandbox"
          id={id}
          keeps="Its file goes for good, and its id is never used again. Its ledger and its snapshots stay."
          reason
          action={deleteSandbox.bind(null, id)}
        />
      </WithCall>
    );
  }
  return (
    <div className="grid gap-2">
      <DisabledAction id="remove" label="Delete the sandbox" whyNot={offer.whyNot} />
      {offer.hops !== null && (
        <p className="text-small">
          <Link href={`/sandboxes/${id}/plan?to=deleted`} prefetch={false}>
            See the steps that delete it
          </Link>
        </p>
      )}
    </div>
  );
}

/** How a typed setting becomes a member of the call. */
const SETTING_KINDS: Readonly<Record<Setting, FieldKind>> = {
  name: 'text',
  labels: 'labels',
  policy: 'text',
  hot_to_warm_s: 'length',
  idle_to_suspend_s: 'length',
  idle_to_freeze_s: 'length',
  hold_until: 'moment',
  keep_hot: 'true',
  replicate: 'text',
};

export async function SettingsTab({
  caller,
  instance,
  rendered,
}: {
  caller: Caller;
  instance: Instance;
  rendered: number;
}) {
  const { id, tenant } = instance;
  const { thresholds } = await getHost().operations.getTenant(caller, tenant);
  const against = whyNot(caller, 'patchInstance', { tenant });
  const asTenant = (words: string) => `as for its tenant: ${words}`;
  return (
    <>
      <PageSection id="settings" name="Settings" note="What a person may change without moving it.">
        {against === null ? (
          <WithCall name="patchInstance" path={{ id }} fields={SETTING_KINDS} onlyChanged>
            <SandboxSettingsForm
              present={settingsAsText(instance)}
              ephemeral={instance.ephemeral}
              policies={policiesFor(instance.policy)}
              placeholders={{
                name: id,
                hot_to_warm_s: asTenant(pauseInWords(thresholds.hot_to_warm_s)),
                idle_to_suspend_s: asTenant(thresholdInWords(thresholds.idle_to_suspend_s)),
                idle_to_freeze_s: asTenant(thresholdInWords(thresholds.idle_to_freeze_s)),
                replicate: instance.own_replicate === null ? asTenant(instance.replicate) : 'as for its tenant',
              }}
              action={saveSettings.bind(null, id)}
            />
          </WithCall>
        ) : (
          <DisabledAction id="settings" label="Save" whyNot={against} />
        )}
      </PageSection>
      <InstanceFacts
        instance={instance}
        rendered={rendered}
        pauseAfter={pauseInWords(instance.hot_to_warm_s ?? thresholds.hot_to_warm_s)}
        suspendAfter={thresholdInWords(instance.idle_to_suspend_s ?? thresholds.idle_to_suspend_s)}
        freezeAfter={thresholdInWords(instance.idle_to_freeze_s ?? thresholds.idle_to_freeze_s)}
        isAmongSeveral={hostAmongSeveral(getHost().config) !== null}
      />
      <PageSection id="delete" name="Delete" note="The one thing that cannot be undone.">
        <Delete caller={caller} instance={instance} />
      </PageSection>
    </>
  );
}
