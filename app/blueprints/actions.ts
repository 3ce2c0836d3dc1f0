'use server';
/** What can be done to blueprints from their pages. A file is uploaded to an address of its own (upload/route.ts). */
import { redirect } from 'next/navigation';
import type { SeedState } from '#components/sandbox/seed-form.tsx';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { cloneSchema, createBlueprintSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, textOf } from '../form-values.ts';
import { problemOf, wordsOf } from '../problem.ts';
import { madeAddress, seedComplaints, seedRefusal, seedWishOf } from '../seeding.ts';
import type { MakeState } from './make-form.tsx';

/** Makes a blueprint of a sandbox's work and leads to it. */
export async function make(_previous: MakeState, form: FormData): Promise<MakeState> {
  const caller = await requireCaller('/blueprints');
  const values = { name: textOf(form, 'name'), from_instance: textOf(form, 'from_instance') };
  const parsed = createBlueprintSchema.safeParse(values);
  if (!parsed.success) {
    const errors: MakeState['errors'] = {};
    for (const issue of parsed.error.issues) {
      if (issue.path[0] === 'name') errors.name ??= issue.message;
      if (issue.path[0] === 'from_instance') errors.from_instance ??= 'Give the id of a sandbox, as its page shows it.';
    }
    return { values, errors, problem: null };
  }
  try {
    await getHost().operations.createBlueprint(caller, parsed.data);
  } catch (error) {
    const problem = problemOf(error, caller);
    if (problem.code === 'not_found') return { values, errors: { from_instance: problem.detail }, problem: null };
    return { values, errors: {}, problem: wordsOf(problem) };
  }
  redirect(`/blueprints/${parsed.data.name}`);
}

/** Makes sandboxes from a blueprint and leads to what was made. */
export async function clone(name: string, _previous: SeedState, form: FormData): Promise<SeedState> {
  expectTexts(name);
  const caller = await requireCaller(`/blueprints/${name}`);
  const { values, wish } = seedWishOf(form);
  const parsed = cloneSchema.safeParse(wish);
  if (!parsed.success) return seedComplaints(values, parsed.error);
  try {
    await getHost().operations.cloneBlueprint(caller, name, parsed.data);
  } catch (error) {
    return seedRefusal(values, error, caller);
  }
  redirect(madeAddress(`/blueprints/${name}`, caller, parsed.data.start ?? false));
}

/** Deletes a blueprint when its name was typed. */
export async function remove(
  name: string,
  _previous: OutcomeWords | null,
  form: FormData,
): Promise<OutcomeWords | null> {
  expectTexts(name);
  const caller = await requireCaller(`/blueprints/${name}`);
  if (textOf(form, 'confirm') !== name) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed name is not this blueprint’s.',
      hint: `Type ${name} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteBlueprint(caller, name);
  } catch (error) {
    return { ok: false, ...wordsOf(problemOf(error, caller)) };
  }
  redirect('/blueprints');
}
