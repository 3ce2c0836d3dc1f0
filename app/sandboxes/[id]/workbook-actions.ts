'use server';
/** Server actions of the Workbook tab: dock, upgrade, run. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { fieldOf, typedInputs } from '#components/workbook/port-values.ts';
import type { RunState } from '#components/workbook/run-state.ts';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, expectTexts, rawField, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { portsOfTarget, readDocked } from './docked-workbook.ts';
import { tabAddress } from './tab-names.ts';

async function changeDocking(
  caller: Caller,
  id: InstanceId,
  patch: { workbook: string | null; workbook_version?: number; accept_changes?: boolean },
  says: string,
): Promise<ActionOutcome> {
  try {
    const { state } = await getHost().operations.patchInstance(caller, id, patch);
    refresh();
    const hint = state === 'active' ? 'It runs: what is loaded stays until its next start.' : undefined;
    return { ok: true, says, hint };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Docks the sandbox to the newest version of a workbook of its tenant, or to none. */
export async function dockWorkbook(
  bound: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(tabAddress(id, 'workbook'));
  const workbook = textField(form, 'workbook');
  if (workbook === '' && textField(form, 'undock') !== '1') return { ok: false, says: 'Choose a workbook.' };
  if (workbook === '') return changeDocking(caller, id, { workbook: null }, 'It is docked to no workbook.');
  return changeDocking(caller, id, { workbook }, `It is docked to ${workbook}.`);
}

/** Docks the sandbox to another version of its workbook. What breaks must have been accepted. */
export async function upgradeWorkbook(
  bound: string,
  workbook: string,
  version: number,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  expectTexts(workbook);
  const caller = await requireCaller(tabAddress(id, 'workbook'));
  const accept = textField(form, 'accept') === '1' ? { accept_changes: true } : {};
  return changeDocking(
    caller,
    id,
    { workbook, workbook_version: Number(version), ...accept },
    `It is docked to version ${version}.`,
  );
}

/** Runs a component, or a whole workflow when `path` is that of a world, with what was typed. */
export async function runTarget(
  bound: string,
  kind: 'component' | 'world',
  path: string,
  _previous: RunState,
  form: FormData,
): Promise<RunState> {
  const id = boundInstanceId(bound);
  expectTexts(kind, path);
  const caller = await requireCaller(tabAddress(id, 'workbook'));
  const { operations } = getHost();
  const textOf = (field: string) => rawField(form, field)?.replace(/\r\n/g, '\n') ?? '';
  let values: RunState['values'] = {};
  try {
    const instance = await operations.getInstance(caller, id);
    const docked = await readDocked(caller, instance);
    const ports = docked === null ? [] : portsOfTarget(docked.plan, { kind, path });
    values = Object.fromEntries(ports.map((port) => [port.name, textOf(fieldOf(port))]));
    const { input, errors } = typedInputs(ports, textOf);
    if (Object.keys(errors).length > 0) return { values, errors, problem: null, result: null };
    const result =
      kind === 'component'
        ? { component: await operations.callComponent(caller, id, path, { input }) }
        : { workflow: await operations.callWorkflow(caller, id, { input, world: path }) };
    refresh();
    return { values, errors: {}, problem: null, result };
  } catch (error) {
    return { values, errors: {}, problem: { ok: false, ...problemInWords(problemOf(error, caller)) }, result: null };
  }
}
