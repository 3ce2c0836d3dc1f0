/** What is promised of the replicas of a tenant's sandboxes, and the form that sets it. */
import { WithCall } from '#components/calls/with-call.tsx';
import { DisabledAction } from '#components/ui/disabled-action.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import type { Tenant } from '#lib/contract/schema.ts';
import { setReplicate } from './actions.ts';
import { ReplicaForm } from './replica-form.tsx';

/** `whyNotSet`: why the visitor may not set it, or null. */
export function ReplicaSection({ tenant, whyNotSet }: { tenant: Tenant; whyNotSet: string | null }) {
  return (
    <PageSection
      id="replica"
      name="Replica"
      note="What of its sandboxes is elsewhere, and how soon, unless one has its own."
    >
      {whyNotSet === null ? (
        <WithCall name="patchTenant" path={{ tenant: tenant.tenant }} fields={{ replicate: 'text' }} onlyChanged>
          <ReplicaForm present={tenant.replicate ?? ''} action={setReplicate.bind(null, tenant.tenant)} />
        </WithCall>
      ) : (
        <DisabledAction id="replica" label="Set" whyNot={whyNotSet} />
      )}
    </PageSection>
  );
}
