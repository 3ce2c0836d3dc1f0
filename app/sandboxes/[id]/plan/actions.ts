'use server';
/** Runs a plan from the page that showed it. */
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import type { State } from '#lib/lifecycle/state-map.ts';
import { requireCaller } from '../../../caller.ts';
import { boundInstanceId, expectTexts, textField } from '../../../form-values.ts';
import { problemInWords, problemOf } from '../../../problem.ts';

/**
 * Runs the plan and returns to the sandbox's page. A plan that stops half-way says so; the sandbox stays in the state
 * it reached.
 */
export async function runPlan(
  bound: string,
  to: State,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  expectTexts(to);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const refuse = (says: string, hint?: string): ActionOutcome => ({ ok: false, says, hint });
  const reason = textField(form, 'reason');
  if (!reasonSchema.safeParse(reason).success) return refuse('The reason is too long: at most 1 000 characters.');
  if (to === 'deleted' && textField(form, 'confirm') !== id) {
    return refuse('Nothing was deleted: the typed id is not this sandbox’s.', `Type ${id} to confirm.`);
  }
  try {
    await getHost().operations.runPlan(caller, id, {
      to,
      ...(reason === '' ? {} : { reason }),
      ...(textField(form, 'force') === '1' ? { force: true } : {}),
    });
  } catch (error) {
    const { says, hint } = problemInWords(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/sandboxes/${id}`);
}
