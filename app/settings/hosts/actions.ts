'use server';
/** Server actions of hosts: empty one, and have it take what is new again. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { drainHostSchema } from '#lib/contract/schema/hosts.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

const PATH = '/settings/hosts';

async function act(work: (caller: Caller) => Promise<ActionOutcome>): Promise<ActionOutcome> {
  const caller = await requireCaller(PATH);
  try {
    const outcome = await work(caller);
    refresh();
    return outcome;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}

/** Has a host hand over what it has, and take nothing new. */
export async function drainHost(
  name: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(name);
  const input = drainHostSchema.safeParse({
    reason: textField(form, 'reason'),
    include_held: textField(form, 'include_held') === '1',
  });
  if (!input.success) return { ok: false, says: 'The reason is too long: it has room for 1,000 characters.' };
  return act(async (caller) => {
    await getHost().operations.drainHost(caller, name, input.data);
    return { ok: true, says: 'It takes nothing new, and hands over what it has.' };
  });
}

/** Has it take what is new again. */
export async function stopDraining(
  name: string,
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(name);
  return act(async (caller) => {
    await getHost().operations.stopDraining(caller, name);
    return { ok: true, says: 'It takes what is new again.' };
  });
}
