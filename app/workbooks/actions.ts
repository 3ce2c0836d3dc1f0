'use server';
/** Server actions of the pages of workbooks. */
import { refresh } from 'next/cache';
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { workbookAddress } from '#components/workbook/workbook-address.ts';
import type { EditorState, SourceCheck } from '#components/workbook/workbook-editor.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import { createSchema, slugSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { etagOf } from '#lib/operations/conditions.ts';
import { requireCaller } from '../caller.ts';
import { textUpload } from '../form-upload.ts';
import { expectShape, expectTexts, rawField, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { tabAddress } from '../sandboxes/[id]/tab-names.ts';
import type { DockState } from './dock-form.tsx';
import { EDITOR_STATE } from './editor-state.ts';
import type { NewState } from './new-form.tsx';
import { readVersionNumber } from './reading.ts';
import { checkSource } from './source-check.ts';

/** The tenant of examples for a caller who may act for all. */
const EXAMPLE_TENANT = 'examples';

/** Opens the editor of a workbook that is not stored yet. */
export async function openNewWorkbook(_previous: NewState, form: FormData): Promise<NewState> {
  await requireCaller('/workbooks');
  const values = { id: textField(form, 'id'), tenant: textField(form, 'tenant') };
  const errors: NewState['errors'] = {};
  for (const field of ['id', 'tenant'] as const) {
    const parsed = slugSchema.safeParse(values[field]);
    if (!parsed.success) errors[field] = parsed.error.issues[0]?.message ?? 'is not valid';
  }
  if (Object.keys(errors).length > 0) return { values, errors, problem: null };
  redirect(workbookAddress(values.id, { tenant: values.tenant, new: 1 }));
}

/** Checks the source, or saves it as the next version; keeps what was typed when it is refused. */
export async function saveWorkbook(
  tenant: string,
  id: string,
  previous: EditorState,
  form: FormData,
): Promise<EditorState> {
  expectTexts(tenant, id);
  expectShape(EDITOR_STATE, previous);
  const caller = await requireCaller(workbookAddress(id, { tenant }));
  const text = rawField(form, 'text')?.replace(/\r\n/g, '\n') ?? '';
  let check: SourceCheck;
  let version: number;
  try {
    check = await checkSource(caller, text);
  } catch (error) {
    return { ...previous, text, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
  if (textField(form, 'do') === 'check') return { ...previous, text, check, outcome: null };
  const over = Number(textField(form, 'over'));
  const expected = over > 0 ? over : Number(textField(form, 'version'));
  try {
    const condition =
      expected > 0 ? { ifMatch: etagOf(expected), ifNoneMatch: null } : { ifMatch: null, ifNoneMatch: '*' };
    const { workbook } = await storeSource(caller, { tenant, id, source: text }, condition);
    version = workbook.version;
  } catch (error) {
    const newer = await newerVersion(caller, error, { tenant, id, expected });
    if (newer === null)
      return { ...previous, text, check, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
    const says = `It was not saved: meanwhile somebody saved version ${newer}.`;
    const hint = 'What is typed stays here. Compare it with theirs among the versions below, or save over it.';
    refresh();
    return { text, version: expected, newer, check, outcome: { ok: false, says, hint } };
  }
  // The page of a stored workbook is another one than that of a new one.
  if (expected === 0) redirect(workbookAddress(id, { tenant, saved: version }));
  refresh();
  const says =
    version === expected ? `Nothing changed: it is version ${version} still.` : `Saved as version ${version}.`;
  const hint =
    check.problems.length === 0
      ? undefined
      : 'With its problems it can be kept, and not docked: sandboxes need a plan.';
  return { text, version, newer: null, check, outcome: { ok: true, says, hint } };
}

const ANY_VERSION = { ifMatch: null, ifNoneMatch: null };

function storeSource(
  caller: Caller,
  { tenant, id, source }: { tenant: string; id: string; source: string },
  condition: { ifMatch: string | null; ifNoneMatch: string | null } = ANY_VERSION,
) {
  return getHost().operations.putWorkbook(caller, id, { tenant }, textUpload(source, 'text/org'), condition);
}

/** The newest version, when a save was refused because it is not the one that was opened. */
async function newerVersion(
  caller: Caller,
  error: unknown,
  { tenant, id, expected }: { tenant: string; id: string; expected: number },
): Promise<number | null> {
  if (!isWinterdockError(error) || error.code !== 'precondition_failed') return null;
  const newest = await readVersionNumber(caller, id, tenant);
  return newest === null || newest === expected ? null : newest;
}

/** Stores an earlier version's source again, as the newest. */
export async function restoreVersion(
  tenant: string,
  id: string,
  version: number,
  _previous: ActionOutcome | null,
): Promise<ActionOutcome | null> {
  expectTexts(tenant, id);
  const caller = await requireCaller(workbookAddress(id, { tenant }));
  try {
    const { operations } = getHost();
    const { source } = await operations.getWorkbook(caller, id, { tenant, version: Number(version) });
    await storeSource(caller, { tenant, id, source });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect(workbookAddress(id, { tenant }));
}

/** Deletes a workbook once its id was typed. */
export async function removeWorkbook(
  tenant: string,
  id: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(tenant, id);
  const caller = await requireCaller(workbookAddress(id, { tenant }));
  if (textField(form, 'confirm') !== id) {
    return {
      ok: false,
      says: 'Nothing was deleted: the typed id is not this workbook’s.',
      hint: `Type ${id} to confirm.`,
    };
  }
  try {
    await getHost().operations.deleteWorkbook(caller, id, { tenant });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect('/workbooks');
}

/** Makes a sandbox that is docked to the workbook and opens it. */
export async function dockNewSandbox(
  tenant: string,
  workbook: string,
  _previous: DockState,
  form: FormData,
): Promise<DockState> {
  expectTexts(tenant, workbook);
  const caller = await requireCaller(workbookAddress(workbook, { tenant }));
  const values = { name: textField(form, 'name'), policy: textField(form, 'policy') };
  const parsed = createSchema.safeParse({
    tenant,
    workbook,
    name: values.name || undefined,
    policy: values.policy || undefined,
  });
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { values, error: issue?.path[0] === 'name' ? issue.message : undefined, problem: null };
  }
  let id: string;
  try {
    ({ id } = await getHost().operations.createInstance(caller, parsed.data));
  } catch (error) {
    const problem = problemOf(error, caller);
    if (problem.code === 'conflict') return { values, error: problem.detail, problem: null };
    return { values, problem: problemInWords(problem) };
  }
  redirect(tabAddress(id, 'workbook'));
}

/** Stores an example, makes a sandbox that is docked to it with the files that it works on, and opens it. */
export async function tryExample(exampleId: string, _previous: ActionOutcome | null): Promise<ActionOutcome | null> {
  expectTexts(exampleId);
  const caller = await requireCaller('/workbooks');
  const { operations, examples } = getHost();
  const example = examples().find(({ id }) => id === exampleId);
  if (example === undefined) return { ok: false, says: 'There is no such example.' };
  const tenant = caller.tenants?.[0] ?? EXAMPLE_TENANT;
  let id: string;
  try {
    await storeSource(caller, { tenant, id: example.id, source: example.source });
    const made = await operations.createInstance(
      caller,
      createSchema.parse({ tenant, workbook: example.id, labels: { example: example.id } }),
    );
    id = made.id;
    for (const { path, content } of example.files) {
      await operations.putFile(caller, made.id, 'workspace', path, content);
    }
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect(tabAddress(id, 'workbook'));
}
