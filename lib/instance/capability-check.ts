/** The refusal of what a sandbox's policy lacks. */
import { WinterdockError } from '../base/errors.ts';
import { type Capability, type PolicyName, type PolicyProfile, policiesWith } from './policies.ts';

/**
 * Throws `capability` when the profile lacks it. `policy` is the name as it was asked for, which may be one that nobody
 * knows.
 */
export function requireCapability(
  { name, capabilities }: PolicyProfile & { name: PolicyName },
  capability: Capability,
  { id, policy }: { id: string; policy: string },
): void {
  if (capabilities.includes(capability)) return;
  const says =
    name === policy
      ? `The policy "${name}" of "${id}" has no ${capability}.`
      : `The policy "${policy}" of "${id}" is not known here, so it runs as "${name}", which has no ${capability}.`;
  const others = policiesWith(capability).join(', ');
  throw new WinterdockError('capability', says, {
    hint:
      others === '' ? 'No policy has it.' : `Give it a policy that has it (${others}); it holds from the next wake.`,
    extra: { needs: capability, policy: name },
  });
}
