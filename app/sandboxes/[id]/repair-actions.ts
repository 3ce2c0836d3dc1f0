'use server';
/**
 * Server actions that repair a damaged sandbox: restore a snapshot in its place, or salvage what is readable into a new
 * sandbox.
 */
import { refresh } from 'next/cache';
import { sizeInWords } from '#components/ui/durations.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { restoreInstanceSchema, resumeSchema, salvageSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import type { SalvageState } from './repair-state.ts';

/** How many lost items the page names; the new sandbox has the whole list. */
const LOST_NAMED = 10;

function files(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'file' : 'files'}`;
}

export async function restoreInPlace(
  bound: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const parsed = restoreInstanceSchema.safeParse({ snapshot: textField(form, 'snapshot') });
  if (!parsed.success) return { ok: false, says: 'Choose a snapshot.' };
  try {
    const restored = await getHost().operations.restoreInstance(caller, id, parsed.data);
    const { state } = 'used' in restored ? restored.instance : restored;
    refresh();
    return { ok: true, says: `It is restored, and ${state} as before. What was there is kept aside.` };
  } catch (error) {
    refresh();
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Wakes a sandbox on the last whole object of it in the store. Needs a reason. */
export async function resumeFromStored(
  bound: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const parsed = resumeSchema.safeParse({ from: 'stored', reason: textField(form, 'reason') });
  if (!parsed.success)
    return { ok: false, says: 'It needs a reason, of at most 1,000 characters: it goes into the ledger.' };
  try {
    await getHost().operations.resume(caller, id, parsed.data);
    refresh();
    return { ok: true, says: 'It is awake, with its last file in the store.' };
  } catch (error) {
    refresh();
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

export async function salvage(bound: string, _previous: SalvageState, form: FormData): Promise<SalvageState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const name = textField(form, 'name');
  const parsed = salvageSchema.safeParse(name === '' ? {} : { name });
  if (!parsed.success) {
    return {
      name,
      outcome: { ok: false, says: 'The name is not valid: at most 200 characters, none of them a control character.' },
    };
  }
  try {
    const made = await getHost().operations.salvage(caller, id, parsed.data);
    refresh();
    const { recovered, recovered_bytes, lost, lost_count: lostCount, list } = made;
    const rest = lostCount === 0 ? 'nothing is lost' : `${lostCount.toLocaleString('en')} could not be read`;
    const says =
      recovered === 0
        ? `No file was recovered: ${rest}. The new sandbox is empty.`
        : `${files(recovered)} recovered (${sizeInWords(recovered_bytes)}); ${rest}.`;
    return {
      name: '',
      outcome: { ok: recovered > 0 || lostCount === 0, says },
      made: { id: made.instance.id, lost: lost.slice(0, LOST_NAMED), lostCount, list },
    };
  } catch (error) {
    refresh();
    return { name, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}
