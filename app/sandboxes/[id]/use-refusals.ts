/**
 * Why something cannot be done to a sandbox now: the visitor's rights, its fault, its state. A sentence for a disabled
 * button, or null. Each question is answered here once. Pure.
 */
import { type Rights, whyNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { whyAway, whyNotWoken } from '#lib/contract/trouble-words.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';

/** Why its file cannot be copied by `operation`. */
export function whyNoCopy(
  caller: Rights,
  operation: 'takeSnapshot' | 'ship' | 'checkout',
  instance: Instance,
): string | null {
  const { tenant, vfs_path, bytes, fault } = instance;
  const away = whyAway(instance);
  if (away !== null) return away;
  if (vfs_path === ':memory:') return 'It lives in its process only: there is no file to copy.';
  if (fault === 'missing' || fault === 'corrupt') return `Its file is ${fault}: take a way out of that first.`;
  if (operation === 'takeSnapshot' && vfs_path === null && bytes === null) {
    return 'It has no file yet: wake it once first.';
  }
  return whyNot(caller, operation, { tenant });
}

type Use = 'command' | 'write';

/** Why it takes no command or no write, rights aside. */
export function whyUnusable(
  use: Use,
  instance: Pick<Instance, 'fault' | 'state' | 'host' | 'unreachable'>,
): string | null {
  const { fault, state } = instance;
  const away = whyNotWoken(instance);
  if (away !== null) return away;
  if (isBlocking(fault)) return `Its fault stops every ${use}. The ways out of it are above.`;
  return state === 'archived' ? `It is archived, and a ${use} does not revive it: revive it first.` : null;
}

/** What a command or a write does besides: it wakes a sandbox that is not awake. Null for one that is. */
export function wakeNote(
  use: Use,
  { state, pending, unreachable }: Pick<Instance, 'state' | 'pending' | 'unreachable'>,
): string | null {
  const doing = use === 'command' ? 'Running a command' : 'Writing';
  if (unreachable !== null)
    return unreachable.goes_on === null ? null : `${doing} wakes it on another host, as its replica has it.`;
  if (state === 'active' || pending === 'resume') return null;
  return state === 'created'
    ? `${doing} wakes it for the first time.`
    : `It is ${state}: ${doing.toLowerCase()} wakes it.`;
}
