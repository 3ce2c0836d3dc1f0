/** The ways out of an interrupted operation: settle it, or settle it and try it again where that is safe. */

import { WithCall } from '#components/calls/with-call.tsx';
import { retryFor } from '#components/sandbox/stuck-words.ts';
import { RetryForm } from '#components/ui/retry-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { settleOperation } from '../retry.ts';

/** Nothing while the operation is really under way, or for a visitor without the right. */
export function SettleForms({ instance, caller }: { instance: Instance; caller: Caller }) {
  if (!instance.interrupted || !mayDo(caller, 'settle', { tenant: instance.tenant })) return null;
  const name = instance.name ?? instance.id;
  const again = retryFor(instance);
  return (
    <div className="flex flex-wrap gap-x-2 gap-y-1.5">
      <WithCall name="settleInstance" path={{ id: instance.id }}>
        <RetryForm label="Settle it" name={name} action={settleOperation.bind(null, instance.id, null)} />
      </WithCall>
      {again !== null && mayDo(caller, again.verb, { tenant: instance.tenant }) && (
        <RetryForm label={again.label} name={name} action={settleOperation.bind(null, instance.id, again.verb)} />
      )}
    </div>
  );
}
