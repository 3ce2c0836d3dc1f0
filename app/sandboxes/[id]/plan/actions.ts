'use server';
/** Walking a plan from the page that showed it. */
import { redirect } from 'next/navigation';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import type { State } from '#lib/lifecycle/states.ts';
import { requireCaller } from '../../../caller.ts';
import { expectTexts, textOf } from '../../../form-values.ts';
import { problemOf, wordsOf } from '../../../problem.ts';

/** Walks there and leads back to the sandbox. A walk that breaks off says so; the sandbox stays where it came to. */
export async function walkTo(
  id: string,
  to: State,
  _previous: OutcomeWords | null,
  form: FormData,
): Promise<OutcomeWords> {
  expectTexts(id, to);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const refuse = (says: string, hint?: string): OutcomeWords => ({ ok: false, says, hint });
  const reason = textOf(form, 'reason');
  if (!reasonSchema.safeParse(reason).success) return refuse('The reason is too long: at most 1 000 characters.');
  if (to === 'deleted' && textOf(form, 'confirm') !== id) {
    return refuse('Nothing was deleted: the typed id is not this sandbox’s.', `Type ${id} to confirm.`);
  }
  try {
    await getHost().operations.walk(caller, id, {
      to,
      ...(reason === '' ? {} : { reason }),
      ...(textOf(form, 'force') === '1' ? { force: true } : {}),
    });
  } catch (error) {
    const { says, hint } = wordsOf(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/sandboxes/${id}`);
}
