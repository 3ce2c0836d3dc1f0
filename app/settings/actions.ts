'use server';
/** Server actions for one's own account, time zone and sessions, and for an admin, for others' sessions. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { passwordChangeSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, rawField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { invalidForm, refusedForm, trimmedFields } from './form-parser.ts';
import type { FormState } from './form-state.ts';

export type PasswordField = 'current' | 'next';

const FIELDS: readonly PasswordField[] = ['current', 'next'];

/** A password as typed: spaces are part of it. */
const passwordOf = (form: FormData, name: string) => rawField(form, name) ?? '';

/** Changes the visitor's own password. The form never returns what was typed. */
export async function changePassword(
  _previous: FormState<PasswordField>,
  form: FormData,
): Promise<FormState<PasswordField>> {
  const caller = await requireCaller('/settings');
  const parsed = passwordChangeSchema.safeParse({
    current: passwordOf(form, 'current'),
    next: passwordOf(form, 'next'),
  });
  if (!parsed.success) return invalidForm({}, parsed.error, FIELDS);
  try {
    await getHost().operations.changePassword(caller, parsed.data);
  } catch (error) {
    const problem = problemOf(error, caller);
    if (problem.code !== 'forbidden') return refusedForm({}, error, caller, FIELDS);
    return { values: {}, errors: { current: problem.detail }, outcome: null, secret: null };
  }
  refresh();
  const says = 'Your password is changed. All your other sessions are ended.';
  return { values: {}, errors: {}, outcome: { ok: true, says }, secret: null };
}

/** Stores the visitor's time zone in their profile; an empty one is that of their browser. */
export async function chooseZone(_previous: FormState<'zone'>, form: FormData): Promise<FormState<'zone'>> {
  const caller = await requireCaller('/settings');
  const values = trimmedFields(form, ['zone']);
  try {
    await getHost().operations.setOwnZone(caller, values.zone === '' ? null : values.zone);
  } catch (error) {
    return refusedForm(values, error, caller, ['zone']);
  }
  refresh();
  const says = values.zone === '' ? 'Times are in your browser’s zone.' : `Times are in ${values.zone}.`;
  return { values, errors: {}, outcome: { ok: true, says }, secret: null };
}

/** Ends one session of a person, or all of them when `session` is null. */
export async function endSession(
  person: string,
  session: string | null,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(person, session ?? '');
  const caller = await requireCaller('/settings');
  try {
    await getHost().operations.endSession(caller, person, session === null ? {} : { session });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return session === null ? { ok: true, says: 'All sessions are ended.' } : null;
}
