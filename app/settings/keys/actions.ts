'use server';
/** Making keys for programs, and taking them back. */
import { refresh } from 'next/cache';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { keyInputSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemOf, wordsOf } from '../../problem.ts';
import { notFitting, refused, valuesOf } from '../form-reading.ts';
import type { FormState } from '../form-state.ts';

export type KeyField = 'name' | 'role' | 'tenant' | 'expires';

const FIELDS: readonly KeyField[] = ['name', 'role', 'tenant', 'expires'];
const DAY = 86_400;

/** Makes a key, which is shown this once. `expires` in the form is a number of days; empty: never. */
export async function createKey(_previous: FormState<KeyField>, form: FormData): Promise<FormState<KeyField>> {
  const caller = await requireCaller('/settings/keys');
  const values = valuesOf(form, FIELDS);
  const days = /^\d{1,4}$/.test(values.expires) ? Number(values.expires) : null;
  const parsed = keyInputSchema.safeParse({
    name: values.name,
    role: values.role,
    tenant: values.tenant || undefined,
    expires: days === null ? null : renderedAt() + days * DAY,
  });
  if (!parsed.success) {
    const again = notFitting(values, parsed.error, FIELDS);
    return values.name === '' ? { ...again, errors: { ...again.errors, name: 'What is it for?' } } : again;
  }
  try {
    const { key } = await getHost().operations.createKey(caller, parsed.data);
    refresh();
    return { values: {}, errors: {}, outcome: null, secret: key };
  } catch (error) {
    return refused(values, error, caller, FIELDS);
  }
}

/** Revokes a key, at once. */
export async function revokeKey(
  id: string,
  _previous: OutcomeWords | null,
  _form: FormData,
): Promise<OutcomeWords | null> {
  expectTexts(id);
  const caller = await requireCaller('/settings/keys');
  try {
    await getHost().operations.revokeKey(caller, id);
  } catch (error) {
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
  refresh();
  return null;
}
