/** The demotion ladder: when an idle sandbox moves by itself, and where to. Pure: the time is an argument. */
import { HOPS, type LadderTarget, type State } from './state-map.ts';

/** Defaults: 30 idle seconds to warm, 15 idle minutes to suspended, then 24 hours to frozen. */
export const DEFAULT_HOT_TO_WARM_SECONDS = 30;
export const DEFAULT_IDLE_TO_SUSPEND_SECONDS = 900;
export const DEFAULT_IDLE_TO_FREEZE_SECONDS = 86_400;

export interface LadderPolicy {
  idleToSuspendSeconds: number;
  idleToFreezeSeconds: number;
}

const THRESHOLD: Readonly<Record<LadderTarget, keyof LadderPolicy>> = {
  suspended: 'idleToSuspendSeconds',
  frozen: 'idleToFreezeSeconds',
};

/** The next state on the ladder once a sandbox has idled that long, or null. Both bounds are inclusive. */
export function autoNext(state: State, idleSeconds: number, policy: LadderPolicy): LadderTarget | null {
  for (const hop of HOPS) {
    if (hop.auto && hop.from === state && idleSeconds >= policy[THRESHOLD[hop.to]]) return hop.to;
  }
  return null;
}

/** What the ladder asks about one sandbox. Times are epoch seconds. */
export interface LadderSubject {
  state: State;
  updated: number;
  created: number;
  keepHot: boolean;
  holdUntil: number | null;
  ephemeral: boolean;
  /** Whether a fault stops every automatic move; `error` does not. */
  blocked: boolean;
  /** Open terminals and running calls. */
  attached: number;
}

export interface NextMove {
  /** An ephemeral sandbox ends; any other goes down the ladder. */
  state: LadderTarget | 'archived' | 'deleted';
  /** Epoch seconds at which it falls due. */
  at: number;
  because: string;
}

/** The next automatic move of a sandbox, or null when there is none. */
export function nextMove(subject: LadderSubject, policy: LadderPolicy): NextMove | null {
  if (subject.blocked || subject.keepHot || subject.attached > 0) return null;
  if (subject.ephemeral) return nextEphemeralMove(subject, policy);
  const state = autoNext(subject.state, Number.POSITIVE_INFINITY, policy);
  if (state === null) return null;
  const seconds = policy[THRESHOLD[state]];
  const since = subject.state === 'active' ? 'idle' : subject.state;
  return { state, at: dueAt(subject, seconds), because: `${since} for ${seconds} s` };
}

/**
 * An ephemeral sandbox is archived and deleted once it has idled for `idleToSuspendSeconds`: both hops at that time,
 * also when its process ended before and it lies suspended. One that somebody archived is deleted after as long again.
 * One that an earlier version froze is archived at once.
 */
function nextEphemeralMove(subject: LadderSubject, policy: LadderPolicy): NextMove | null {
  const timeout = policy.idleToSuspendSeconds;
  const because = `ephemeral, idle for ${timeout} s`;
  switch (subject.state) {
    case 'active':
    case 'suspended':
      return { state: 'archived', at: dueAt(subject, timeout), because };
    case 'frozen':
      return { state: 'archived', at: dueAt(subject, 0), because };
    case 'archived':
      return { state: 'deleted', at: dueAt(subject, timeout), because: `ephemeral, archived for ${timeout} s` };
    default:
      return null;
  }
}

/** When that many idle seconds have passed, or when the hold ends, whichever is later. */
function dueAt({ updated, holdUntil }: LadderSubject, seconds: number): number {
  return Math.max(updated + seconds, holdUntil ?? 0);
}
