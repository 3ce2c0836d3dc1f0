'use server';
/** Server actions of the blueprint pages. Uploads go to upload/route.ts. */
import { redirect } from 'next/navigation';
import type { SeedState } from '#components/sandbox/seed-form.tsx';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { cloneSchema, createBlueprintSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { expectTexts, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { batchResultAddress, seedErrors, seedRefusal, seedRequest } from '../seeding.ts';
import type { MakeState } from './make-form.tsx';

/** Makes a blueprint of a sandbox's workspace and opens it. */
export async function makeBlueprint(_previous: MakeState, form: FormData): Promise<MakeState> {
  const caller = await requireCaller('/blueprints');
  const values = { name: textField(form, 'name'), from_instance: textField(form, 'from_instance') };
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
    return { values, errors: {}, problem: problemInWords(problem) };
  }
  redirect(`/blueprints/${parsed.data.name}`);
}

/** Makes sandboxes from a blueprint and shows the result. */
export async function cloneBlueprint(name: string, _previous: SeedState, form: FormData): Promise<SeedState> {
  expectTexts(name);
  const caller = await requireCaller(`/blueprints/${name}`);
  const { values, request } = seedRequest(form);
  const parsed = cloneSchema.safeParse(request);
  if (!parsed.success) return seedErrors(values, parsed.error);
  try {
    await getHost().operations.cloneBlueprint(caller, name, parsed.data);
  } catch (error) {
    return seedRefusal(values, error, caller);
  }
  redirect(batchResultAddress(`/blueprints/${name}`, caller, parsed.data.start ?? false));
}

/** Deletes a blueprint once its name was typed. */
export async function removeBlueprint(
  name: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(name);
  const caller = await requireCaller(`/blueprints/${name}`);
  if (textField(form, 'confirm') !== name) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed name is not this blueprint’s.',
      hint: `Type ${name} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteBlueprint(caller, name);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect('/blueprints');
}
