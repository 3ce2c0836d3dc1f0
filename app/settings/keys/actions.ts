'use server';
/** Server actions that create and revoke keys for programs. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { keyInputSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { invalidForm, refusedForm, trimmedFields } from '../form-parser.ts';
import type { FormState } from '../form-state.ts';

export type KeyField = 'name' | 'role' | 'tenant' | 'expires';

const FIELDS: readonly KeyField[] = ['name', 'role', 'tenant', 'expires'];
const DAY = 86_400;

/** Creates a key, which is shown only once. `expires` in the form: a number of days; empty: never. */
export async function createKey(_previous: FormState<KeyField>, form: FormData): Promise<FormState<KeyField>> {
  const caller = await requireCaller('/settings/keys');
  const values = trimmedFields(form, FIELDS);
  const days = /^\d{1,4}$/.test(values.expires) ? Number(values.expires) : null;
  const parsed = keyInputSchema.safeParse({
    name: values.name,
    role: values.role,
    tenant: values.tenant || undefined,
    expires: days === null ? null : renderedAt() + days * DAY,
  });
  if (!parsed.success) {
    const again = invalidForm(values, parsed.error, FIELDS);
    return values.name === '' ? { ...again, errors: { ...again.errors, name: 'What is it for?' } } : again;
  }
  try {
    const { key } = await getHost().operations.createKey(caller, parsed.data);
    refresh();
    return { values: {}, errors: {}, outcome: null, secret: key };
  } catch (error) {
    return refusedForm(values, error, caller, FIELDS);
  }
}

/** Revokes a key, at once. */
export async function revokeKey(
  id: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller('/settings/keys');
  try {
    await getHost().operations.revokeKey(caller, id);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}
