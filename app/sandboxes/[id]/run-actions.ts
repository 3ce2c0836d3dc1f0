'use server';
/** Stops a run, from the page of its sandbox. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { tabAddress } from './tab-names.ts';

/** Stops a run and says what came of it; one that had ended stays as it is. */
export async function stopRun(bound: string, run: string, _previous: ActionOutcome | null): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  expectTexts(run);
  const caller = await requireCaller(tabAddress(id, 'terminal'));
  try {
    const { state } = await getHost().operations.stopRun(caller, id, run);
    refresh();
    if (state === 'queued' || state === 'running')
      return { ok: true, says: 'It was told to stop, and has not ended yet.' };
    return { ok: true, says: state === 'stopped' ? 'It is stopped.' : 'It had ended already.' };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
