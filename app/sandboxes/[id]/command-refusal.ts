/** Why no command can run in a sandbox now: rights, fault, state, policy. Pure. */
import { type Rights, whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { languagesOf } from '../policies.ts';
import { whyUnusable } from './use-refusals.ts';

/** A sentence for a disabled button, or null. */
export function whyNoCommands(
  caller: Rights,
  instance: Pick<Instance, 'tenant' | 'policy' | 'state' | 'fault' | 'host' | 'unreachable'>,
): string | null {
  const { tenant, policy } = instance;
  const reason = whyNot(caller, 'exec', { tenant }) ?? whyUnusable('command', instance);
  if (reason !== null || languagesOf(policy).length > 0) return reason;
  return `Its policy “${policy}” has no shell: give it another one first.`;
}
