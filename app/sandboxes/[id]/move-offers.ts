/**
 * Which moves are open to a sandbox now, and why the others are not: by the visitor's role, the state map, its fault
 * and its pending operation. Pure.
 */
import type { MoveOffer } from '#components/sandbox/moves.tsx';
import { mayDo, type Rights, whyNot as whyMayNot } from '#lib/contract/access.ts';
import type { Instance } from '#lib/contract/schema.ts';
import { whyAway, whyNotWoken } from '#lib/contract/trouble-words.ts';
import { hopRefusal, plan } from '#lib/lifecycle/plan.ts';
import { HOPS, mayReach, type State, VERB_TARGET, VERBS, type Verb, WAKE_VERBS } from '#lib/lifecycle/state-map.ts';
import { isBlocking } from '#lib/lifecycle/words.ts';
import type { Operations } from '#lib/operations/operations.ts';

const OPERATION: Readonly<Record<Verb, keyof Operations>> = {
  resume: 'resume',
  suspend: 'suspend',
  freeze: 'freeze',
  archive: 'archive',
  revive: 'revive',
  delete: 'deleteInstance',
};

function reasonAgainst(verb: Verb, instance: Instance): string | null {
  const { state, fault, pending, vfs_path, interrupted } = instance;
  const isAwayWake = WAKE_VERBS.includes(verb) && instance.unreachable !== null;
  const away = isAwayWake ? whyNotWoken(instance) : whyAway(instance);
  if (away !== null) return away;
  // Its process and what its host was about have ended with that host.
  if (isAwayWake && verb === 'resume' && state === 'active') return null;
  if (interrupted) return 'An interrupted operation holds it: settle it first.';
  if (pending !== null && !isAwayWake) return `Wait a moment: ${pending} is under way.`;
  if (verb === 'suspend' && state === 'active' && vfs_path === ':memory:')
    return 'It lives in its process only: nothing would be kept.';
  if (!HOPS.some((hop) => hop.from === state && hop.verb === verb) || !mayReach(VERB_TARGET[verb], instance)) {
    if (verb === 'revive') return 'Only an archived sandbox is revived.';
    if (verb === 'resume' && state === 'archived') return 'Archived is a decision: revive it, with a reason.';
    return hopRefusal(state, VERB_TARGET[verb], instance);
  }
  if (isBlocking(fault) && !WAKE_VERBS.includes(verb) && verb !== 'delete')
    return 'Its fault stops this. The ways out of it are below.';
  return null;
}

/** The hops of a plan that reaches what a single move cannot; only where the state map is the obstacle. */
function hopsFor(verb: Verb, instance: Instance, visitor: Rights): State[] | null {
  const { state, fault, pending, vfs_path, tenant, unreachable } = instance;
  const target = VERB_TARGET[verb];
  if (
    pending !== null ||
    unreachable !== null ||
    !mayDo(visitor, 'runPlan', { tenant }) ||
    !mayDo(visitor, OPERATION[verb], { tenant })
  )
    return null;
  if (target !== 'deleted' && (isBlocking(fault) || vfs_path === ':memory:')) return null;
  const hops = plan(state, target, instance);
  return hops !== null && hops.length > 1 ? hops : null;
}

/** One offer per verb, in the order of the lifecycle. Revive is listed only where it differs from resume. */
export function moveOffers(instance: Instance, visitor: Rights): MoveOffer[] {
  return VERBS.map((verb) => {
    const against = whyMayNot(visitor, OPERATION[verb], { tenant: instance.tenant }) ?? reasonAgainst(verb, instance);
    return {
      verb,
      whyNot: against,
      force:
        instance.unreachable === null && isBlocking(instance.fault) && WAKE_VERBS.includes(verb)
          ? 'Clear the fault and try once more.'
          : null,
      hops: against === null ? null : hopsFor(verb, instance, visitor),
    };
  });
}
