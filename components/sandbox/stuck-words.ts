/** Operations that take too long, in words. Pure. */
import type { Instance } from '#lib/contract/schema.ts';
import { mayReach, VERB_TARGET, type Verb } from '#lib/lifecycle/state-map.ts';
import { lengthInWords } from '../ui/durations.ts';

const BEING: Readonly<Record<string, string>> = {
  resume: 'being woken',
  suspend: 'being suspended',
  freeze: 'being frozen',
  archive: 'being archived',
  revive: 'being revived',
  delete: 'being deleted',
  prefetch: 'being brought home',
};

/** Verbs that can be retried without asking a person: the next call undoes what they do. */
const AGAIN: Readonly<
  Record<string, { label: string; verb: Extract<Verb, 'resume' | 'suspend' | 'freeze'> } | undefined>
> = {
  resume: { label: 'Settle and wake it', verb: 'resume' },
  suspend: { label: 'Settle and suspend it', verb: 'suspend' },
  freeze: { label: 'Settle and freeze it', verb: 'freeze' },
};

export type StuckFields = Pick<Instance, 'pending' | 'pending_since' | 'interrupted'>;

/** `Being frozen for 12 minutes, and nobody carries it out any more.` `now` in epoch seconds. */
export function stuckInWords({ pending, pending_since, interrupted }: StuckFields, now: number): string {
  const being = BEING[pending ?? ''] ?? `under "${pending}"`;
  const long = lengthInWords(Math.max(0, now - (pending_since ?? now)));
  const begun = `${being.charAt(0).toUpperCase()}${being.slice(1)} for ${long}`;
  return interrupted
    ? `${begun}, and nobody carries it out any more.`
    : `${begun}, and still under way. A restart of the server would settle it.`;
}

/** How to retry the operation, or null when only a person can decide. */
export function retryFor({ pending, ephemeral }: Pick<Instance, 'pending' | 'ephemeral'>) {
  const again = AGAIN[pending ?? ''];
  return again !== undefined && mayReach(VERB_TARGET[again.verb], { ephemeral }) ? again : null;
}
