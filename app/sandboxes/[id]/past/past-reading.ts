/** The reads of the Past tab: which moments there are, and which one a time leads to. They wake nothing. */
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { withUsedMoment } from '#lib/base/used-moment.ts';
import type { Moment } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { problemInWords, problemOf } from '../../../problem.ts';

/** Moments that are listed. */
export const LISTED = 100;

/** Why nothing of a time is shown. `oldestMs`: of the oldest moment there is, where the time is before it. */
export interface NoMoment {
  refused: ActionOutcome;
  oldestMs: number | null;
}

function refusalOf(error: unknown, caller: Caller): NoMoment {
  const refused = { ok: false, ...problemInWords(problemOf(error, caller)) };
  if (!isWinterdockError(error) || error.code !== 'moment_gone') return { refused, oldestMs: null };
  const { oldest } = error.extra;
  const says =
    typeof oldest === 'number'
      ? 'Nothing of it that is so old is kept.'
      : 'The replica has nothing of it yet, so there is no past to look at.';
  return {
    refused: { ok: false, says },
    oldestMs: typeof oldest === 'number' ? Math.round(oldest * 1000) : null,
  };
}

/**
 * Moments next to a time, in epoch seconds (null: now), the newest first; of several of a millisecond one, rather
 * one with a name. */
export async function readMoments(
  caller: Caller,
  id: InstanceId,
  near: number | null,
): Promise<{ moments: Moment[] } | NoMoment> {
  try {
    const around = near === null ? {} : { around: near };
    const moments = await getHost().operations.moments(caller, id, { limit: LISTED, ...around });
    const named = new Set(moments.filter(({ name }) => name !== null).map(({ time_ms }) => time_ms));
    const others = moments.filter(({ name, time_ms }) => name !== null || !named.has(time_ms));
    return { moments: others.filter(({ time_ms }, index) => time_ms !== others[index - 1]?.time_ms) };
  } catch (error) {
    return refusalOf(error, caller);
  }
}

/** Those that have a name, the newest first; none where they cannot be read, which the other list says. */
export async function readNamed(caller: Caller, id: InstanceId): Promise<Moment[]> {
  const query = { kind: 'named', limit: LISTED } as const;
  return getHost()
    .operations.moments(caller, id, query)
    .catch(() => []);
}

/** The moment that a time leads to, in epoch milliseconds. It is open then, so that the next look at it is quick. */
export async function lookAtMoment(caller: Caller, id: InstanceId, at: number): Promise<{ timeMs: number } | NoMoment> {
  try {
    return await withUsedMoment(async (used) => {
      await getHost().operations.volumes(caller, id, { at });
      // What was read says when it was; without that there is nothing to name.
      return { timeMs: used.timeMs ?? Math.floor(at * 1000) };
    });
  } catch (error) {
    return refusalOf(error, caller);
  }
}
