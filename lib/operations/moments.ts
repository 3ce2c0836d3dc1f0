/** Operations on moments: which ones a sandbox has, and what it was at one of them. */
import type { Caller } from '../auth/caller.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Moment, MomentsQuery } from '../contract/schema.ts';
import { replicaMissing } from '../replication/no-replica.ts';
import type { Past, PastSandbox, Sandboxes } from '../sandboxes/sandboxes.ts';

type WithPast = Pick<Sandboxes, 'past'>;

export interface MomentOperations {
  /**
   * Moments next to a time, the newest first; of a deleted sandbox too. Throws `moment_gone` with the `oldest` when
   * there is none up to then, `conflict` without a replica.
   */
  moments(caller: Caller, id: InstanceId, query: MomentsQuery): Promise<Moment[]>;
}

export function momentOperations({ sandboxes }: { sandboxes: WithPast }): MomentOperations {
  return {
    async moments(_caller, id, { around, limit }) {
      const aroundMs = around === undefined ? null : endOfMoment(around);
      const listed = await pastOf(sandboxes).list(id, { aroundMs, limit });
      return listed.map(({ timeMs, kind, grainS }) => ({ time_ms: timeMs, kind, grain_s: grainS }));
    },
  };
}

/**
 * Runs `look` on a sandbox as of the newest moment up to a time, in seconds since the epoch. Throws `conflict` without
 * a replica, and what `Past.open` throws.
 */
export async function openPast<T>(
  sandboxes: WithPast,
  id: InstanceId,
  seconds: number,
  look: (past: PastSandbox) => Promise<T>,
): Promise<T> {
  return pastOf(sandboxes).open(id, endOfMoment(seconds), look);
}

function pastOf({ past }: WithPast): Past {
  if (past === null) throw replicaMissing();
  return past;
}

/** Epoch milliseconds. A whole second is meant whole: that is how times are shown. */
export function endOfMoment(seconds: number): number {
  return Number.isInteger(seconds) ? seconds * 1000 + 999 : Math.round(seconds * 1000);
}
