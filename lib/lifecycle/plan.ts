/** Plans: the shortest list of hops from one state to another, and why there is no single hop. Pure. */
import { hopsFrom, isState, mayReach, type SandboxKind, STATES, type State, TRANSITIONS } from './state-map.ts';

/** Why an ephemeral sandbox is neither suspended nor frozen, for a person. */
export const EPHEMERAL_ENDS = 'It is ephemeral: it is neither suspended nor frozen, and ends at its time.';

/**
 * The fewest states from `from` (not included) to `to` (included). `[]` when they are the same; null when the map leads
 * a sandbox of this kind from one to the other by no hops. Among equally short plans the order of the map decides.
 */
export function plan(from: State, to: State, kind: SandboxKind = {}): State[] | null {
  if (!isState(from) || !isState(to)) return null;
  const cameFrom = new Map<State, State | null>([[from, null]]);
  const queue: State[] = [from];
  for (let head = queue.shift(); head !== undefined && !cameFrom.has(to); head = queue.shift()) {
    for (const next of hopsFrom(head, kind)) {
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

/** Why the map has no hop `from` → `to`, in one sentence for a person. */
export function hopRefusal(from: State, to: State, kind: SandboxKind = {}): string {
  if (from === to) return `It is ${from} already.`;
  if (from === 'deleted') return 'A deleted sandbox stays deleted; its id is never used again.';
  if (!mayReach(to, kind)) return EPHEMERAL_ENDS;
  if (to === 'created') return 'Nothing goes back to created.';
  if (from === 'active' && to === 'frozen') return 'Freezing is earned by neglect: suspend it first.';
  if (to === 'deleted')
    return `Only an archived sandbox can be deleted. A plan gets there in steps: ${(plan(from, to, kind) ?? []).join(', ')}.`;
  if (from === 'created') return 'It has no file yet: resume it first.';
  if (from === 'suspended' && to === 'archived') {
    const first = kind.ephemeral === true ? 'a plan passes through active.' : 'freeze it first.';
    return `Only active or frozen sandboxes are archived: ${first}`;
  }
  if (to === 'suspended') return `Only an active sandbox is suspended; this one is ${from} and has no process.`;
  if (to === 'frozen') return `Only a suspended sandbox is frozen; this one is ${from}.`;
  const sources = STATES.filter((state) => TRANSITIONS[state].includes(to));
  return `From ${from} there is no hop to ${to}; it is reached from ${sources.join(' or ')}.`;
}
