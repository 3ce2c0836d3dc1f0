/** Plans: a wish of several hops as the shortest walk through the state map. Pure. */
import { isState, STATES, type State, TRANSITIONS } from './states.ts';

/**
 * The shortest list of states to pass through from `from` (excluded) to `to` (included); `[]` when they are the same
 * and null when the map has no way. Ties go to the map's own order.
 */
export function plan(from: State, to: State): State[] | null {
  if (!isState(from) || !isState(to)) return null;
  const cameFrom = new Map<State, State | null>([[from, null]]);
  const queue: State[] = [from];
  for (let head = queue.shift(); head !== undefined && !cameFrom.has(to); head = queue.shift()) {
    for (const next of TRANSITIONS[head]) {
      if (!cameFrom.has(next)) {
        cameFrom.set(next, head);
        queue.push(next);
      }
    }
  }
  if (!cameFrom.has(to)) return null;
  const hops: State[] = [];
  for (let at: State | null = to; at !== null && at !== from; at = cameFrom.get(at) ?? null) hops.unshift(at);
  return hops;
}

/** Why the map has no direct hop `from` → `to`, in one sentence for a person. */
export function whyNot(from: State, to: State): string {
  if (from === to) return `It is ${from} already.`;
  if (from === 'deleted') return 'A deleted sandbox stays deleted; its id is never used again.';
  if (to === 'created') return 'Nothing goes back to created.';
  if (from === 'active' && to === 'frozen') return 'Freezing is earned by neglect: suspend it first.';
  if (to === 'deleted')
    return `Only an archived sandbox can be deleted: a plan walks there by ${(plan(from, to) ?? []).join(', ')}.`;
  if (from === 'created') return 'It has no file yet: resume it first.';
  if (from === 'suspended' && to === 'archived')
    return 'Only active or frozen sandboxes are archived: freeze it first.';
  if (to === 'suspended') return `Only an active sandbox is suspended; this one is ${from} and has no process.`;
  if (to === 'frozen') return `Only a suspended sandbox is frozen; this one is ${from}.`;
  const ways = STATES.filter((state) => TRANSITIONS[state].includes(to));
  return `From ${from} there is no hop to ${to}; it is reached from ${ways.join(' or ')}.`;
}
