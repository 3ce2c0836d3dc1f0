'use server';
/** What can be done to a snapshot from its page. */
import { redirect } from 'next/navigation';
import type { SeedState } from '#components/sandbox/seed-form.tsx';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { restoreSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, textOf } from '../form-values.ts';
import { problemOf, wordsOf } from '../problem.ts';
import { madeAddress, seedComplaints, seedRefusal, seedWishOf } from '../seeding.ts';

/** Makes sandboxes from a snapshot and leads to what was made. */
export async function restore(id: string, _previous: SeedState, form: FormData): Promise<SeedState> {
  expectTexts(id);
  const caller = await requireCaller(`/snapshots/${id}`);
  const { values, wish } = seedWishOf(form);
  const parsed = restoreSchema.safeParse(wish);
  if (!parsed.success) return seedComplaints(values, parsed.error);
  try {
    await getHost().operations.restoreSnapshot(caller, id, parsed.data);
  } catch (error) {
    return seedRefusal(values, error, caller);
  }
  redirect(madeAddress(`/snapshots/${id}`, caller, parsed.data.start ?? false));
}

/** Deletes a snapshot when its id was typed. */
export async function remove(id: string, _previous: OutcomeWords | null, form: FormData): Promise<OutcomeWords | null> {
  expectTexts(id);
  const caller = await requireCaller(`/snapshots/${id}`);
  if (textOf(form, 'confirm') !== id) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed id is not this snapshot’s.',
      hint: `Type ${id} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteSnapshot(caller, id);
  } catch (error) {
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
  redirect('/snapshots');
}
