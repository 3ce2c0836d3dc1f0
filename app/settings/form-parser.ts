/** Reading settings forms and answering them, for their server actions. */
import type { ZodError } from 'zod';
import type { Caller } from '#lib/auth/caller.ts';
import { textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import type { FormState } from './form-state.ts';

/** The trimmed values of the fields. Passwords are not for this. */
export function trimmedFields<Field extends string>(form: FormData, fields: readonly Field[]): Record<Field, string> {
  return Object.fromEntries(fields.map((field) => [field, textField(form, field)])) as Record<Field, string>;
}

type Issues = readonly { path: readonly PropertyKey[]; message: string }[];

function errorsOf<Field extends string>(issues: Issues, fields: readonly Field[]): FormState<Field>['errors'] {
  const errors: FormState<Field>['errors'] = {};
  for (const { path, message } of issues) {
    const field = fields.find((name) => name === path[0]);
    if (field !== undefined) errors[field] ??= message;
  }
  return errors;
}

/** The form again, with what its schema says beside the fields. */
export function invalidForm<Field extends string>(
  values: FormState<Field>['values'],
  error: ZodError,
  fields: readonly Field[],
): FormState<Field> {
  return { values, errors: errorsOf(error.issues, fields), outcome: null, secret: null };
}

/** The form again, with what the engine refused. What it says of a field stands beside that field. */
export function refusedForm<Field extends string>(
  values: FormState<Field>['values'],
  error: unknown,
  caller: Caller,
  fields: readonly Field[],
): FormState<Field> {
  const problem = problemOf(error, caller);
  const errors = errorsOf(
    (problem.errors ?? []).map(({ path, message }) => ({ path: [path], message })),
    fields,
  );
  const outcome = Object.keys(errors).length > 0 ? null : { ok: false, ...problemInWords(problem) };
  return { values, errors, outcome, secret: null };
}
