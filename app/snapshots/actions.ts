'use server';
/** Server actions of a snapshot's page. */
import { redirect } from 'next/navigation';
import type { SeedState } from '#components/sandbox/seed-form.tsx';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { restoreSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { batchResultAddress, seedErrors, seedRefusal, seedRequest } from '../seeding.ts';

/** Makes sandboxes from a snapshot and shows the result. */
export async function restoreSnapshot(id: string, _previous: SeedState, form: FormData): Promise<SeedState> {
  expectTexts(id);
  const caller = await requireCaller(`/snapshots/${id}`);
  const { values, request } = seedRequest(form);
  const parsed = restoreSchema.safeParse(request);
  if (!parsed.success) return seedErrors(values, parsed.error);
  try {
    await getHost().operations.restoreSnapshot(caller, id, parsed.data);
  } catch (error) {
    return seedRefusal(values, error, caller);
  }
  redirect(batchResultAddress(`/snapshots/${id}`, caller, parsed.data.start ?? false));
}

/** Deletes a snapshot once its id was typed. */
export async function removeSnapshot(
  id: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(id);
  const caller = await requireCaller(`/snapshots/${id}`);
  if (textField(form, 'confirm') !== id) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed id is not this snapshot’s.',
      hint: `Type ${id} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteSnapshot(caller, id);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect('/snapshots');
}
