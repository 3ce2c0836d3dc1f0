'use server';
/** Trying once more what a fault stopped, from the overview. */
import { refresh } from 'next/cache';
import { wokeInWords } from '#components/event-words.ts';
import type { OutcomeWords } from '#components/outcome.tsx';
import { slugSchema } from '#lib/api/schema.ts';
import { getHost } from '#lib/host.ts';
import { requireCaller } from './caller.ts';
import { problemOf, wordsOf } from './problem.ts';

/** Wakes a sandbox with force: clears its fault and opens its file once more. A file that is still bad is refused again, and nothing is lost. */
export async function retry(id: string, _previous: OutcomeWords | null): Promise<OutcomeWords> {
  const caller = await requireCaller('/');
  if (!slugSchema.safeParse(id).success) return { ok: false, says: 'There is no such sandbox.' };
  try {
    const answer = await getHost().operations.resume(caller, id, { force: true });
    refresh();
    return { ok: true, says: `It is awake. ${wokeInWords(answer)}` };
  } catch (error) {
    refresh();
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
}
