/** The demotion ladder: pure policy over idle seconds. It takes the time as an argument and touches nothing. */
import type { State } from './states.ts';

/** Defaults: fifteen idle minutes to suspend, twenty-four suspended hours to freeze. */
export const DEFAULT_IDLE_TO_SUSPEND_SECONDS = 900;
export const DEFAULT_IDLE_TO_FREEZE_SECONDS = 86_400;

export interface LadderPolicy {
  idleToSuspendSeconds: number;
  idleToFreezeSeconds: number;
}

/** The state that idleness alone leads to, or null. Both bounds are inclusive. Frozen never archives itself. */
export function autoNext(state: State, idleSeconds: number, policy: LadderPolicy): 'suspended' | 'frozen' | null {
  if (state === 'active' && idleSeconds >= policy.idleToSuspendSeconds) return 'suspended';
  if (state === 'suspended' && idleSeconds >= policy.idleToFreezeSeconds) return 'frozen';
  return null;
}

/** What the ladder needs to know of one sandbox. Times are epoch seconds. */
export interface LadderSubject {
  state: State;
  updated: number;
  created: number;
  keepHot: boolean;
  holdUntil: number | null;
  ephemeral: boolean;
  /** Faults that stop every automatic move (`error` does not). */
  blocked: boolean;
  /** Attached terminals and running calls. */
  attached: number;
}

export interface NextMove {
  state: State;
  /** Epoch seconds at which it falls due. */
  at: number;
  because: string;
}

/**
 * The coming automatic move of a sandbox, or null when there is none. An ephemeral one walks active → archived →
 * deleted once it has idled for `idleToSuspendSeconds`, both hops at that time; one whose process ended before that,
 * and which lies suspended, walks the same way through `active`. One that somebody archived is deleted after as long
 * again. One that an earlier version froze is archived at once.
 */
export function nextMove(subject: LadderSubject, policy: LadderPolicy): NextMove | null {
  if (subject.blocked || subject.keepHot || subject.attached > 0) return null;
  const after = (seconds: number) => Math.max(subject.updated + seconds, subject.holdUntil ?? 0);
  if (subject.ephemeral) {
    const because = `ephemeral, idle for ${policy.idleToSuspendSeconds} s`;
    if (subject.state === 'active' || subject.state === 'suspended')
      return { state: 'archived', at: after(policy.idleToSuspendSeconds), because };
    if (subject.state === 'frozen') return { state: 'archived', at: after(0), because };
    if (subject.state === 'archived') {
      return {
        state: 'deleted',
        at: after(policy.idleToSuspendSeconds),
        because: `ephemeral, archived for ${policy.idleToSuspendSeconds} s`,
      };
    }
    return null;
  }
  if (subject.state === 'active') {
    return {
      state: 'suspended',
      at: after(policy.idleToSuspendSeconds),
      because: `idle for ${policy.idleToSuspendSeconds} s`,
    };
  }
  if (subject.state === 'suspended') {
    return {
      state: 'frozen',
      at: after(policy.idleToFreezeSeconds),
      because: `suspended for ${policy.idleToFreezeSeconds} s`,
    };
  }
  return null;
}
