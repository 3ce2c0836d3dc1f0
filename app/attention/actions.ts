'use server';
/** Server actions of the inbox: acknowledging what needs a person, and taking that back. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { expectTexts, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { ACKNOWLEDGED_FOR } from './acknowledged-for.ts';

/** Acknowledges a row that the visitor sees, for as long as the form says. */
export async function acknowledge(
  id: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller('/attention');
  const seconds = textField(form, 'for');
  if (!Object.hasOwn(ACKNOWLEDGED_FOR, seconds)) return { ok: false, says: 'Say for how long.' };
  const until = seconds === '' ? null : renderedAt() + Number(seconds);
  try {
    await getHost().operations.acknowledge(caller, id, { until });
  } catch (error) {
    const problem = problemOf(error, caller);
    if (problem.code === 'not_found') return { ok: true, says: 'It is over already.' };
    return { ok: false, ...problemInWords(problem) };
  }
  refresh();
  return null;
}

/** Takes an acknowledgement back. */
export async function reopen(
  id: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller('/attention');
  try {
    await getHost().operations.unacknowledge(caller, id);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}
