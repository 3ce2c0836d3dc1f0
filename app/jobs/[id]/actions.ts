'use server';
/** Cancelling a job from its page. */
import { refresh } from 'next/cache';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemOf, wordsOf } from '../../problem.ts';

/** Cancels it; a job that has ended stays as it is, which the page then shows. */
export async function cancel(id: string, _previous: OutcomeWords | null): Promise<OutcomeWords | null> {
  expectTexts(id);
  const caller = await requireCaller(`/jobs/${id}`);
  try {
    await getHost().operations.cancelJob(caller, id);
    refresh();
    return null;
  } catch (error) {
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
}
