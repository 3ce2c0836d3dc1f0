'use server';
/** Forgetting a tenant from the page that showed what would go. */
import { redirect } from 'next/navigation';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { slugSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../../caller.ts';
import { expectTexts, textOf } from '../../../form-values.ts';
import { problemOf, wordsOf } from '../../../problem.ts';

/** Begins it when its name was typed, and leads to the job that does it. */
export async function forget(
  tenant: string,
  _previous: OutcomeWords | null,
  form: FormData,
): Promise<OutcomeWords | null> {
  expectTexts(tenant);
  const caller = await requireCaller(`/tenants/${tenant}/forget`);
  const refuse = (says: string, hint?: string): OutcomeWords => ({ ok: false, says, hint });
  const confirm = textOf(form, 'confirm');
  if (!slugSchema.safeParse(tenant).success || confirm !== tenant) {
    return refuse('Nothing was forgotten: the typed name is not this tenant’s.', `Type ${tenant} to confirm.`);
  }
  let job: string;
  try {
    const answer = await getHost().operations.forgetTenant(caller, tenant, { confirm });
    job = 'started' in answer ? answer.started.id : '';
  } catch (error) {
    const { says, hint } = wordsOf(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/jobs/${job}`);
}
