/** When a tenant's sandboxes pause, suspend and freeze, and the form that sets it. */

import Link from 'next/link';
import { WithCalls } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { thresholdInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { Tenant } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { setThresholds } from '../../settings/thresholds/actions.ts';
import { thresholdCalls } from '../../settings/thresholds/threshold-calls.ts';
import { asSetForAll, thresholdsAsText } from '../../settings/thresholds/threshold-values.ts';
import { ThresholdsForm } from '../../settings/thresholds/thresholds-form.tsx';

/** `whyNotSet`: why the visitor may not set them, or null. */
export async function ThresholdsSection({
  caller,
  tenant,
  whyNotSet,
}: {
  caller: Caller;
  tenant: Tenant;
  whyNotSet: string | null;
}) {
  const global = await getHost().operations.getSettings(caller);
  const { thresholds, hot_to_warm_s, idle_to_suspend_s, idle_to_freeze_s } = tenant;
  const source = (own: number | null) => (own === null ? 'as set for all' : 'set for it');
  const pause = thresholds.hot_to_warm_s;
  return (
    <PageSection id="thresholds" name="Thresholds" note="When its sandboxes fall asleep.">
      <div className="grid gap-5">
        <p>
          Its sandboxes {pause === 0 ? 'are never paused' : `pause once idle for ${thresholdInWords(pause)}`}{' '}
          <span className="text-small text-ink-3">({source(hot_to_warm_s)})</span>, suspend once idle for{' '}
          {thresholdInWords(thresholds.idle_to_suspend_s)}{' '}
          <span className="text-small text-ink-3">({source(idle_to_suspend_s)})</span> and freeze once suspended for{' '}
          {thresholdInWords(thresholds.idle_to_freeze_s)}{' '}
          <span className="text-small text-ink-3">({source(idle_to_freeze_s)})</span>, unless a sandbox has its own.{' '}
          <Link href={`/settings/thresholds?tenant=${tenant.tenant}#simulator`} prefetch={false}>
            What others would have done in the last days
          </Link>
        </p>
        {whyNotSet === null ? (
          <WithCalls by={thresholdCalls(tenant.tenant)}>
            <ThresholdsForm
              present={thresholdsAsText(tenant)}
              notes={{
                hot_to_warm_s: 'Empty: as set for all; never: no pause.',
                idle_to_suspend_s: 'Empty: as set for all.',
                idle_to_freeze_s: 'Empty: as set for all.',
              }}
              empty={asSetForAll(global)}
              action={setThresholds.bind(null, tenant.tenant)}
            />
          </WithCalls>
        ) : (
          <DisabledAction id="thresholds" label="See what it would do" whyNot={whyNotSet} />
        )}
      </div>
    </PageSection>
  );
}
