/** The quotas of a tenant: how much of each is used, and the form that sets them. */
import { WithCall } from '#components/calls/with-call.tsx';
import { QuotaMeter } from '#components/figures/quota-meter.tsx';
import { LiveTenantQuota } from '#components/live/tenant-counts.tsx';
import { exactDuration, exactSize } from '#components/ui/amounts.ts';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { sizeInWords } from '#components/ui/durations.ts';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Tenant } from '#lib/contract/schema.ts';
import { setLimits } from './actions.ts';
import { LimitsForm } from './limits-form.tsx';

function Meters({ tenant, counts, quotas }: Pick<Tenant, 'tenant' | 'counts' | 'quotas'>) {
  const { max_sandboxes, max_active, max_bytes, max_daily_cpu_s } = quotas;
  const live = { tenant, states: counts };
  return (
    <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2 lg:grid-cols-4">
      <LiveTenantQuota {...live} of="living" name="Sandboxes" limit={max_sandboxes.limit} />
      <LiveTenantQuota {...live} of="active" name="Awake at once" limit={max_active.limit} />
      <QuotaMeter name="On disk" {...max_bytes} inWords={sizeInWords} />
      <QuotaMeter name="Processor time today (UTC)" {...max_daily_cpu_s} inWords={exactDuration} />
    </div>
  );
}

/** The present limits as text for the form: '' where there is none. */
function limitsAsText({ quotas, max_run_s: maxRun, max_call_s: maxCall }: Tenant) {
  const text = (limit: number | null, words: (limit: number) => string) => (limit === null ? '' : words(limit));
  return {
    max_sandboxes: text(quotas.max_sandboxes.limit, String),
    max_active: text(quotas.max_active.limit, String),
    max_bytes: text(quotas.max_bytes.limit, exactSize),
    max_daily_cpu_s: text(quotas.max_daily_cpu_s.limit, exactDuration),
    max_run_s: text(maxRun, exactDuration),
    max_call_s: text(maxCall, exactDuration),
  };
}

/** `whyNotSet`: why the visitor may not set the limits, or null. */
export function QuotasSection({ tenant, whyNotSet }: { tenant: Tenant; whyNotSet: string | null }) {
  return (
    <PageSection
      id="quotas"
      name="Quotas"
      note="What it has, and its limits. Checked before anything is created or run; what exceeds a new limit stays."
    >
      <div className="grid gap-6">
        <Meters tenant={tenant.tenant} counts={tenant.counts} quotas={tenant.quotas} />
        {whyNotSet === null ? (
          <WithCall
            name="patchTenant"
            path={{ tenant: tenant.tenant }}
            fields={{
              max_sandboxes: 'number',
              max_active: 'number',
              max_bytes: 'size',
              max_daily_cpu_s: 'length',
              max_run_s: 'length',
              max_call_s: 'length',
            }}
            onlyChanged
          >
            <LimitsForm present={limitsAsText(tenant)} action={setLimits.bind(null, tenant.tenant)} />
          </WithCall>
        ) : (
          <DisabledAction id="limits" label="Set the limits" whyNot={whyNotSet} />
        )}
      </div>
    </PageSection>
  );
}
