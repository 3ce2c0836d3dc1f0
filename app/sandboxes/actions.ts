'use server';
/** The server action that creates a sandbox. The API's own schema validates the form. */
import { redirect } from 'next/navigation';
import type { CreateField, CreateState } from '#app/sandboxes/create-form.tsx';
import { parseLabels } from '#components/ui/label-text.ts';
import { createSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';

const FIELDS: readonly CreateField[] = ['tenant', 'name', 'id', 'policy', 'labels', 'ephemeral', 'keep_hot'];

/** Creates the sandbox and opens it, or returns the complaints by field. */
export async function createSandbox(_previous: CreateState, form: FormData): Promise<CreateState> {
  const caller = await requireCaller('/sandboxes');
  const values: CreateState['values'] = {};
  for (const field of FIELDS) values[field] = textField(form, field);
  const parsed = createSchema.safeParse({
    tenant: values.tenant,
    name: values.name || undefined,
    id: values.id || undefined,
    policy: values.policy || undefined,
    labels: values.labels ? parseLabels(values.labels) : undefined,
    ephemeral: values.ephemeral === '1' || undefined,
    keep_hot: values.keep_hot === '1' || undefined,
  });
  if (!parsed.success) {
    const errors: CreateState['errors'] = {};
    for (const issue of parsed.error.issues) {
      const field = FIELDS.find((name) => name === issue.path[0]);
      if (field === undefined) continue;
      const where = issue.path.slice(1).join('.');
      // For a wrong label key the message lies one level deeper.
      const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
      errors[field] ??= where === '' ? message : `${where}: ${message}`;
    }
    if (values.tenant === '') errors.tenant = 'Whose sandbox is it? Give a tenant, for example acme.';
    return { values, errors, problem: null };
  }
  let id: string;
  try {
    ({ id } = await getHost().operations.createInstance(caller, parsed.data));
  } catch (error) {
    const problem = problemOf(error, caller);
    const field = problem.code === 'conflict' ? (/\bname\b/i.test(problem.detail) ? 'name' : 'id') : null;
    if (field !== null) return { values, errors: { [field]: problem.detail }, problem: null };
    return { values, errors: {}, problem: problemInWords(problem) };
  }
  redirect(`/sandboxes/${id}`);
}
