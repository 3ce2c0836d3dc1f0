/** How an operation that takes too long is retried, in words. Pure. */
import type { Instance } from '#lib/contract/schema.ts';
import { mayReach, VERB_TARGET, type Verb } from '#lib/lifecycle/state-map.ts';

/** Verbs that can be retried without asking a person: the next call undoes what they do. */
const AGAIN: Readonly<
  Record<string, { label: string; verb: Extract<Verb, 'resume' | 'suspend' | 'freeze'> } | undefined>
> = {
  resume: { label: 'Settle and wake it', verb: 'resume' },
  suspend: { label: 'Settle and suspend it', verb: 'suspend' },
  freeze: { label: 'Settle and freeze it', verb: 'freeze' },
};

/** How to retry the operation, or null when only a person can decide. */
export function retryFor({ pending, ephemeral }: Pick<Instance, 'pending' | 'ephemeral'>) {
  const again = AGAIN[pending ?? ''];
  return again !== undefined && mayReach(VERB_TARGET[again.verb], { ephemeral }) ? again : null;
}
