'use server';
/** The server action that starts to forget a tenant. */
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { slugSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../../caller.ts';
import { expectTexts, textField } from '../../../form-values.ts';
import { problemInWords, problemOf } from '../../../problem.ts';

/** Starts the job once the tenant's name was typed, and opens it. */
export async function forgetTenant(
  tenant: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(tenant);
  const caller = await requireCaller(`/tenants/${tenant}/forget`);
  const refuse = (says: string, hint?: string): ActionOutcome => ({ ok: false, says, hint });
  const confirm = textField(form, 'confirm');
  if (!slugSchema.safeParse(tenant).success || confirm !== tenant) {
    return refuse('Nothing was forgotten: the typed name is not this tenant’s.', `Type ${tenant} to confirm.`);
  }
  let job: string;
  try {
    const answer = await getHost().operations.forgetTenant(caller, tenant, { confirm });
    job = 'started' in answer ? answer.started.id : '';
  } catch (error) {
    const { says, hint } = problemInWords(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/jobs/${job}`);
}
