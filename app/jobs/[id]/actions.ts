'use server';
/** Cancelling a job from its page. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

/** Cancels a job. One that has ended stays as it is, which the page then shows. */
export async function cancelJob(id: string, _previous: ActionOutcome | null): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller(`/jobs/${id}`);
  try {
    await getHost().operations.cancelJob(caller, id);
    refresh();
    return null;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
