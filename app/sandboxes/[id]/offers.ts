/** Which moves a sandbox may make now, and why not the others: from the visitor's role, the map, its fault and its pending verb. Pure. */
import type { Offer } from '#components/moves.tsx';
import { type Rights, whyNot as whyMayNot } from '#lib/api/access.ts';
import type { Operations } from '#lib/api/operations.ts';
import type { Instance } from '#lib/api/schema.ts';
import { whyNot } from '#lib/lifecycle/plan.ts';
import { HOPS, VERB_TARGET, VERBS, type Verb } from '#lib/lifecycle/states.ts';
import { blocks } from '#lib/lifecycle/words.ts';

const OPERATION: Readonly<Record<Verb, keyof Operations>> = {
  resume: 'resume',
  suspend: 'suspend',
  freeze: 'freeze',
  archive: 'archive',
  revive: 'revive',
  delete: 'deleteInstance',
};

const WAKES: readonly Verb[] = ['resume', 'revive'];

function reasonAgainst(verb: Verb, instance: Instance): string | null {
  const { state, fault, pending, vfs_path } = instance;
  if (pending !== null) return `Wait a moment: ${pending} is under way.`;
  if (!HOPS.some((hop) => hop.from === state && hop.verb === verb)) {
    if (verb === 'revive') return 'Only an archived sandbox is revived.';
    if (verb === 'resume' && state === 'archived') return 'Archived is a decision: revive it, with a reason.';
    return whyNot(state, VERB_TARGET[verb]);
  }
  if (verb === 'suspend' && vfs_path === ':memory:') return 'It lives in its process only: nothing would be kept.';
  if (blocks(fault) && !WAKES.includes(verb) && verb !== 'delete')
    return 'Its fault stops this: wake it with force first.';
  return null;
}

/** One offer for each verb, in the order of the lifecycle. Revive shows only where it differs from resume. */
export function offersFor(instance: Instance, visitor: Rights): Offer[] {
  return VERBS.map((verb) => ({
    verb,
    whyNot: whyMayNot(visitor, OPERATION[verb], { tenant: instance.tenant }) ?? reasonAgainst(verb, instance),
    force: blocks(instance.fault) && WAKES.includes(verb) ? 'Clear the fault and try once more.' : null,
  }));
}
