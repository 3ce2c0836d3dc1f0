/** What a verb asks of one sandbox among many, or why it passes it over, and what is lost on the way. Pure. */
import { EPHEMERAL_ENDS, hopRefusal, plan } from './plan.ts';
import { mayReach, type State } from './states.ts';
import { type Fault, isBlocking } from './words.ts';

/** What can be done to many at once. */
export const JOB_VERBS = ['suspend', 'freeze', 'resume', 'archive', 'revive', 'delete', 'label'] as const;
export type JobVerb = (typeof JOB_VERBS)[number];
/** What a job may be about. `forget` is of a whole tenant, and begun by nothing but that. */
export const JOB_KINDS = [...JOB_VERBS, 'forget'] as const;
export type JobKind = (typeof JOB_KINDS)[number];

/** The state that a verb leads to; `label` leads nowhere. */
export const JOB_TARGET: Readonly<Record<Exclude<JobVerb, 'label'>, State>> = {
  suspend: 'suspended',
  freeze: 'frozen',
  resume: 'active',
  archive: 'archived',
  revive: 'active',
  delete: 'deleted',
};

/** States that a verb concerns. A verb that files never brings back what is filed deeper already. */
const STATES_OF: Readonly<Record<JobVerb, readonly State[]>> = {
  suspend: ['active'],
  freeze: ['active', 'suspended'],
  resume: ['created', 'suspended', 'frozen'],
  archive: ['created', 'active', 'suspended', 'frozen'],
  revive: ['archived'],
  delete: ['created', 'active', 'suspended', 'frozen', 'archived'],
  label: ['created', 'active', 'suspended', 'frozen', 'archived'],
};

export interface VerbSubject {
  state: State;
  fault: Fault | null;
  /** It lives only in its process. */
  inMemory: boolean;
  ephemeral: boolean;
}

export type VerbPlan = { hops: State[] } | { skip: string };

/** The hops that a verb asks of one sandbox, or the reason to pass it over, one sentence. */
export function planVerb(verb: JobVerb, { state, fault, inMemory, ephemeral }: VerbSubject): VerbPlan {
  if (state === 'deleted') return { skip: 'It was deleted.' };
  if (verb === 'label') return { hops: [] };
  const target = JOB_TARGET[verb];
  if (state === target) return { skip: `It is ${state} already.` };
  if (!inMemory && !mayReach(target, { ephemeral })) return { skip: EPHEMERAL_ENDS };
  if (!STATES_OF[verb].includes(state)) return { skip: skipReason(verb, state) };
  if (isBlocking(fault) && verb !== 'delete')
    return { skip: `Its file is in doubt (${fault}): take a way out of that first.` };
  if (inMemory && (verb === 'suspend' || verb === 'freeze' || verb === 'archive')) {
    return { skip: 'It lives only in its process: nothing would be kept.' };
  }
  return { hops: plan(state, target, { ephemeral }) ?? [] };
}

function skipReason(verb: JobVerb, state: State): string {
  if (verb === 'resume') return 'Archived is a decision: revive it.';
  if (verb === 'revive') return 'Only an archived sandbox is revived.';
  if (state === 'created') return 'It was never resumed: there is nothing to file.';
  return hopRefusal(state, verb === 'suspend' ? 'suspended' : 'frozen');
}

/** What a walk costs. */
export const LOSSES = {
  process: 'What its process holds only in memory, and calls that do not end in the drain time.',
  tmp: 'The volume tmp: the next process to start on it clears it.',
  everything: 'Everything in it, for good. Snapshots and bundles made of it stay; its id is never used again.',
} as const;
export type Loss = keyof typeof LOSSES;

/** What is lost when a sandbox walks the hops. */
export function lossesOf({ state, inMemory }: Pick<VerbSubject, 'state' | 'inMemory'>, hops: readonly State[]): Loss[] {
  const end = hops.at(-1);
  if (end === undefined) return [];
  if (end === 'deleted') return state === 'active' ? ['process', 'everything'] : ['everything'];
  if (inMemory && end === 'archived') return ['process', 'everything'];
  const lost: Loss[] = state === 'active' && hops[0] !== 'active' ? ['process'] : [];
  return state === 'created' ? lost : [...lost, 'tmp'];
}
