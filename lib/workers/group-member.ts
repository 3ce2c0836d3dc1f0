/** One of the processes of a sandbox, and what the group remembers of it. */
import type { TurnKind } from './protocol/instance.ts';
import type { SupervisedInstance } from './supervisor.ts';

export interface GroupMember {
  readonly instance: SupervisedInstance;
  /** What it ran last: an interpreter that it has compiled is there already. */
  kind: TurnKind | null;
  isOpen: boolean;
  /** Calls that are about to be sent to it, or were. */
  calls: number;
  idleTimer: NodeJS.Timeout | null;
}

/** Whether a call could begin in it at once. */
export function isIdle({ instance, calls }: GroupMember): boolean {
  return calls === 0 && !instance.isCalling && !instance.isEnding;
}

/** Counts a call as the member's. */
export function takeFor(member: GroupMember, kind: TurnKind): GroupMember {
  member.kind = kind;
  member.calls += 1;
  if (member.idleTimer !== null) clearTimeout(member.idleTimer);
  return member;
}

/**
 * Closes a member other than the first; the first one puts the file to rest. If it does not close it is ended:
 * everything that it did is committed.
 */
export async function closeBeside(instance: SupervisedInstance, force: boolean): Promise<void> {
  try {
    if (instance.isCalling) await instance.close({ drainMs: 0, force, rests: false });
  } catch {
    // It has been ended.
  }
  await instance.kill('closed');
}
