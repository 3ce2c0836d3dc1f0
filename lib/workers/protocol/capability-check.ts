/** Refuses what the policy of a sandbox does not allow. */
import { WinterdockError } from '../../base/errors.ts';
import { type Capability, type PolicyName, type PolicyProfile, policiesWith } from './policies.ts';

/** Throws `capability` when the profile lacks it. `policy` is the requested name, which may be unknown. */
export function requireCapability(
  { name, capabilities }: PolicyProfile & { name: PolicyName },
  capability: Capability,
  { id, policy }: { id: string; policy: string },
): void {
  if (capabilities.includes(capability)) return;
  const message =
    name === policy
      ? `The policy "${name}" of "${id}" has no ${capability}.`
      : `The policy "${policy}" of "${id}" is not known here, so it runs as "${name}", which has no ${capability}.`;
  const others = policiesWith(capability).join(', ');
  throw new WinterdockError('capability', message, {
    hint:
      others === '' ? 'No policy has it.' : `Give it a policy that has it (${others}); it holds from the next wake.`,
    extra: { needs: capability, policy: name },
  });
}
