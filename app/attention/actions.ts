'use server';
/** Server actions of the inbox: acknowledging what needs a person, and taking that back. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../caller.ts';
import { expectTexts, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { ACKNOWLEDGED_FOR, isAcknowledgedFor } from './acknowledged-for.ts';
import { readAttention } from './read.ts';

/** Acknowledges a row that the visitor sees, for as long as the form says. */
export async function acknowledge(
  key: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(key);
  const caller = await requireCaller('/attention');
  const span = textField(form, 'for');
  if (!isAcknowledgedFor(span)) return { ok: false, says: 'Say for how long.' };
  const { seconds } = ACKNOWLEDGED_FOR[span];
  try {
    const row = (await readAttention(caller)).open.find((one) => one.key === key);
    if (row === undefined) return { ok: true, says: 'It is over already.' };
    const until = seconds === null ? null : renderedAt() + seconds;
    const of = row.tenant === null ? { key } : { key, tenant: row.tenant };
    await getHost().operations.acknowledge(caller, { ...of, until });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}

/** Takes an acknowledgement back. */
export async function reopen(
  key: string,
  tenant: string | null,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(key, tenant ?? '');
  const caller = await requireCaller('/attention');
  try {
    await getHost().operations.unacknowledge(caller, tenant === null ? { key } : { key, tenant });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}
