/** Operations on moments: which ones a sandbox has, their names, and what it was at one of them. */
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Moment, MomentsQuery, NameMomentInput } from '../contract/schema.ts';
import type { KnownMoment, PastSandbox, Sandboxes } from '../sandboxes/sandboxes.ts';
import { auditContextOf } from './audit-context.ts';
import type { BackupEngine } from './backups.ts';

type WithPast = Pick<Sandboxes, 'past'>;

export interface MomentOperations {
  /**
   * Moments next to a time, the newest first; of a deleted sandbox too. Throws `moment_gone` with the `oldest` when
   * there is none up to then, `conflict` without a replica.
   */
  moments(caller: Caller, id: InstanceId, query: MomentsQuery): Promise<Moment[]>;
  /**
   * Names the newest moment up to a time, or that of now once it is shipped, which is kept from then on. The same once
   * more changes nothing. Throws `conflict` for a name of another moment, `moment_gone`, `not_replicated`.
   */
  nameMoment(caller: Caller, id: InstanceId, name: string, input: NameMomentInput): Promise<Moment>;
  /** Throws `not_found`. */
  removeMoment(caller: Caller, id: InstanceId, name: string): Promise<void>;
}

export function momentOperations({
  sandboxes,
  backups: { moments },
}: {
  sandboxes: WithPast;
  backups: Pick<BackupEngine, 'moments'>;
}): MomentOperations {
  return {
    async moments(_caller, id, { around, kind, limit }) {
      const aroundMs = around === undefined ? null : endOfMoment(around);
      const listed = await sandboxes.past.list(id, { aroundMs, limit, isNamed: kind === 'named' });
      return listed.map(momentOf);
    },
    async nameMoment(caller, id, name, { time, reason }) {
      const atMs = time === undefined ? null : endOfMoment(time);
      const { momentMs, tag } = await moments.name(id, name, atMs, auditContextOf(caller, reason));
      return momentOf({ timeMs: momentMs, kind: 'named', name: tag, grainS: 1 });
    },
    removeMoment: (caller, id, name) => moments.remove(id, name, auditContextOf(caller)),
  };
}

function momentOf({ timeMs, kind, name, grainS }: KnownMoment): Moment {
  return { time_ms: timeMs, kind, name, grain_s: grainS };
}

/**
 * Runs `look` on a sandbox as of the newest moment up to a time, in epoch milliseconds. Throws `conflict` without a
 * replica, and what `Past.open` throws.
 */
export async function openPast<T>(
  sandboxes: WithPast,
  id: InstanceId,
  atMs: number,
  look: (past: PastSandbox) => Promise<T>,
): Promise<T> {
  return sandboxes.past.open(id, atMs, look);
}

/** Epoch milliseconds. A whole second is meant whole: that is how times are shown. */
export function endOfMoment(seconds: number): number {
  return Number.isInteger(seconds) ? seconds * 1000 + 999 : Math.round(seconds * 1000);
}
