/**
 * A verb on one sandbox of many: the hops that it takes, or why the sandbox is skipped, and what the hops lose. Pure.
 */
import { EPHEMERAL_ENDS, hopRefusal, plan } from './plan.ts';
import { mayReach, type State, VERB_TARGET, VERBS, type Verb } from './state-map.ts';
import { type Fault, isBlocking } from './words.ts';

/** What can be done to many sandboxes at once. */
export type JobVerb = Verb | 'label';
export const JOB_VERBS: readonly JobVerb[] = [...VERBS, 'label'];

/**
 * What a job does. `forget` is done to a whole tenant, and only by forgetting that tenant; `drain` to what a host has,
 * and only by that host.
 */
export type JobKind = JobVerb | 'forget' | 'drain';
export const JOB_KINDS: readonly JobKind[] = [...JOB_VERBS, 'forget', 'drain'];

/** The states that a verb applies to. A filing verb never moves a sandbox up the ladder. */
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
  /** It lives only in its process: it has no file. */
  inMemory: boolean;
  ephemeral: boolean;
}

/** Why a sandbox is set apart when many are filed: somebody keeps it from being filed by itself. */
export type HoldKind = 'kept_hot' | 'held' | 'attached';
export const HOLD_WORDS: Readonly<Record<HoldKind, string>> = {
  kept_hot: 'It is kept hot.',
  held: 'It is held.',
  attached: 'Somebody has a terminal open in it.',
};

/**
 * What keeps a sandbox from a verb on many, unless held ones are included. `now` and `holdUntil` in epoch seconds;
 * `isAttached`: a terminal shows it.
 */
export function holdOn(
  verb: JobVerb,
  { keepHot, holdUntil, isAttached }: { keepHot: boolean; holdUntil: number | null; isAttached: boolean },
  now: number,
): HoldKind | null {
  if (verb === 'resume' || verb === 'revive' || verb === 'label') return null;
  if (keepHot) return 'kept_hot';
  if (holdUntil !== null && holdUntil > now) return 'held';
  return isAttached ? 'attached' : null;
}

export type VerbPlan = { hops: State[] } | { skip: string };

/** The hops that a verb takes with one sandbox, or why it is skipped, in one sentence. */
export function planVerb(verb: JobVerb, { state, fault, inMemory, ephemeral }: VerbSubject): VerbPlan {
  if (state === 'deleted') return { skip: 'It was deleted.' };
  if (verb === 'label') return { hops: [] };
  const target = VERB_TARGET[verb];
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

/** What the hops of a plan may lose. */
export const LOSSES = {
  process: 'What its process holds only in memory, and calls that do not end in the drain time.',
  tmp: 'The volume tmp: the next process to start on it clears it.',
  everything: 'Everything in it, for good. Snapshots and bundles made of it stay; its id is never used again.',
} as const;
export type Loss = keyof typeof LOSSES;

/** What is lost when a sandbox takes these hops. */
export function lossesOf({ state, inMemory }: Pick<VerbSubject, 'state' | 'inMemory'>, hops: readonly State[]): Loss[] {
  const end = hops.at(-1);
  if (end === undefined) return [];
  if (end === 'deleted') return state === 'active' ? ['process', 'everything'] : ['everything'];
  if (inMemory && end === 'archived') return ['process', 'everything'];
  const lost: Loss[] = state === 'active' && hops[0] !== 'active' ? ['process'] : [];
  return state === 'created' ? lost : [...lost, 'tmp'];
}
