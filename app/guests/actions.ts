'use server';
/** Server actions on variables and secrets. What was typed as a secret goes to the engine and to nobody else. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { envPatchSchema, secretInputSchema, secretNameSchema, variableNameSchema } from '#lib/contract/schema.ts';
import { requireCaller } from '../caller.ts';
import { expectShape, expectTexts, rawField, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { invalidForm, refusedForm, trimmedFields } from '../settings/form-parser.ts';
import type { FormState } from '../settings/form-state.ts';
import type { SecretField, VariableField } from './guest-forms.tsx';
import {
  type Owner,
  ownerSchema,
  pageOf,
  patchVariables,
  removeSecretOf,
  type SecretOwner,
  secretOwnerSchema,
  setSecretOf,
} from './owners.ts';

const SECRET_FIELDS: readonly SecretField[] = ['name', 'value', 'url', 'header', 'format'];

export async function setVariable(
  owner: Owner,
  _previous: FormState<VariableField>,
  form: FormData,
): Promise<FormState<VariableField>> {
  expectShape(ownerSchema, owner);
  const caller = await requireCaller(pageOf(owner));
  const name = textField(form, 'name');
  // A form sends line breaks as CR LF, whatever was typed.
  const value = (rawField(form, 'value') ?? '').replaceAll('\r\n', '\n');
  const values = { name, value };
  const named = variableNameSchema.safeParse(name);
  if (!named.success) return failed(values, { name: named.error.issues[0]?.message ?? '' });
  const parsed = envPatchSchema.safeParse({ env: { [name]: value } });
  if (!parsed.success) return failed(values, { value: parsed.error.issues[0]?.message ?? '' });
  try {
    await patchVariables(caller, owner, parsed.data);
  } catch (error) {
    return { values, errors: {}, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) }, secret: null };
  }
  refresh();
  return done(`${name} is set. It holds for the next call.`);
}

export async function removeVariable(
  owner: Owner,
  name: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectShape(ownerSchema, owner);
  expectShape(variableNameSchema, name);
  const caller = await requireCaller(pageOf(owner));
  try {
    await patchVariables(caller, owner, { env: { [name]: null } });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}

export async function setSecret(
  owner: SecretOwner,
  _previous: FormState<SecretField>,
  form: FormData,
): Promise<FormState<SecretField>> {
  expectShape(secretOwnerSchema, owner);
  const caller = await requireCaller(pageOf(owner));
  // Not trimmed, and not sent back with a complaint.
  const { value: _value, ...values } = trimmedFields(form, SECRET_FIELDS);
  const { name, url, header, format } = values;
  const parsed = secretInputSchema.extend({ name: secretNameSchema }).safeParse({
    name,
    url,
    value: rawField(form, 'value') ?? '',
    ...(header === '' ? {} : { header }),
    ...(format === '' ? {} : { format }),
  });
  if (!parsed.success) return invalidForm(values, parsed.error, SECRET_FIELDS);
  const { name: parsedName, ...input } = parsed.data;
  try {
    await setSecretOf(caller, owner, parsedName, input);
  } catch (error) {
    return refusedForm(values, error, caller, SECRET_FIELDS);
  }
  refresh();
  return done(`${name} is set. Nobody can read it again.`);
}

export async function removeSecret(
  owner: SecretOwner,
  name: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectShape(secretOwnerSchema, owner);
  expectTexts(name);
  expectShape(secretNameSchema, name);
  const caller = await requireCaller(pageOf(owner));
  try {
    await removeSecretOf(caller, owner, name);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return null;
}

function failed(
  values: FormState<VariableField>['values'],
  errors: FormState<VariableField>['errors'],
): FormState<VariableField> {
  return { values, errors, outcome: null, secret: null };
}

function done(says: string): FormState<never> {
  return { values: {}, errors: {}, outcome: { ok: true, says }, secret: null };
}
