'use server';
/** Retries what a fault or an interruption stopped, from the overview and the sandbox's own page. */
import { refresh } from 'next/cache';
import { wakeEventInWords } from '#components/ledger/event-words.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from './caller.ts';
import { boundInstanceId } from './form-values.ts';
import { problemInWords, problemOf } from './problem.ts';

/**
 * Wakes a sandbox with force: clears its fault and opens its file again. A file that is still bad is refused again, and
 * nothing is lost.
 */
export async function retryWake(bound: string, _previous: ActionOutcome | null): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller('/');
  try {
    const answer = await getHost().operations.resume(caller, id, { force: true });
    refresh();
    return { ok: true, says: `It is awake. ${wakeEventInWords(answer)}` };
  } catch (error) {
    refresh();
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

const AGAIN = {
  resume: (caller: Caller, id: InstanceId) => getHost().operations.resume(caller, id, {}),
  suspend: (caller: Caller, id: InstanceId) => getHost().operations.suspend(caller, id, {}),
  freeze: (caller: Caller, id: InstanceId) => getHost().operations.freeze(caller, id, {}),
};

/** Settles an interrupted operation by the state of the file, and starts it again where `again` says so. */
export async function settleOperation(
  bound: string,
  again: keyof typeof AGAIN | null,
  _previous: ActionOutcome | null,
): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller('/');
  try {
    const { state } = await getHost().operations.settle(caller, id);
    if (again === null || !Object.hasOwn(AGAIN, again)) {
      refresh();
      return { ok: true, says: `It is ${state}, and nothing is under way any more.` };
    }
    const done = await AGAIN[again](caller, id);
    refresh();
    return { ok: true, says: `It was settled, and is ${'instance' in done ? done.instance.state : done.state} now.` };
  } catch (error) {
    refresh();
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
