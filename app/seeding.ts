/** Parses the form that makes sandboxes from a copy, and puts complaints beside its fields. */
import type { z } from 'zod';
import type { SeedField, SeedState } from '#components/sandbox/seed-form.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { textField } from './form-values.ts';
import { problemInWords, problemOf } from './problem.ts';

const FIELDS: readonly SeedField[] = ['count', 'name', 'tenant', 'policy', 'start'];

/** What was typed, for the form, and as a request of the API. Empty fields are absent from the request. */
export function seedRequest(form: FormData): { values: SeedState['values']; request: Record<string, unknown> } {
  const values: SeedState['values'] = {};
  for (const field of FIELDS) values[field] = textField(form, field);
  const { count, name, tenant, policy, start } = values;
  const request = {
    ...(count ? { count: /^\d+$/.test(count) ? Number(count) : count } : {}),
    ...(name ? { name } : {}),
    ...(tenant ? { tenant } : {}),
    ...(policy ? { policy } : {}),
    ...(start === '1' ? { start: true } : {}),
  };
  return { values, request };
}

/** The schema's complaints, each beside its field. */
export function seedErrors(values: SeedState['values'], error: z.ZodError): SeedState {
  const errors: SeedState['errors'] = {};
  for (const issue of error.issues) {
    const field = FIELDS.find((name) => name === issue.path[0]);
    if (field === 'count') errors.count = 'A whole number from 1 to 1,000.';
    else if (field === 'tenant' && !values.tenant)
      errors.tenant = 'Whose will they be? Give a tenant, for example acme.';
    else if (field !== undefined) errors[field] ??= issue.message;
  }
  return { values, errors, problem: null };
}

/** The engine's refusal. */
export function seedRefusal(values: SeedState['values'], error: unknown, caller: Caller): SeedState {
  return { values, errors: {}, problem: problemInWords(problemOf(error, caller)) };
}

/** The section of a copy's page that shows the result of this call. */
export function batchResultAddress(page: string, caller: Caller, starting: boolean): string {
  return `${page}?made=${caller.requestId}${starting ? '&starting=1' : ''}#made`;
}
