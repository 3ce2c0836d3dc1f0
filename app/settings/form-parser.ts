/** Parses settings forms and builds the answers of their server actions. */
import type { ZodError } from 'zod';
import type { Caller } from '#lib/auth/caller.ts';
import { textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import type { FormState } from './form-state.ts';

/** The trimmed values of the fields. Not for passwords, whose spaces count. */
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

/** The form with the schema's complaints beside its fields. */
export function invalidForm<Field extends string>(
  values: FormState<Field>['values'],
  error: ZodError,
  fields: readonly Field[],
): FormState<Field> {
  return { values, errors: errorsOf(error.issues, fields), outcome: null, secret: null };
}

/** The form with the engine's refusal. What concerns a field stands beside it. */
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
