'use server';
/** The server actions of the Network tab: what the sandbox may reach, and a new start, from which a policy holds. */
import { refresh } from 'next/cache';
import type { NetworkState } from '#components/network/network-form.tsx';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { instanceNetworkInputSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId } from '../../form-values.ts';
import { networkErrors, networkOfForm } from '../../network-input.ts';
import { problemInWords, problemOf } from '../../problem.ts';

export async function setNetwork(bound: string, _previous: NetworkState, form: FormData): Promise<NetworkState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}?tab=network`);
  const { values, input, errors } = networkOfForm(form);
  const parsed = instanceNetworkInputSchema.safeParse(input);
  const all = { ...networkErrors(parsed.error?.issues ?? []), ...errors };
  if (Object.keys(all).length > 0 || !parsed.success) return { values, errors: all, outcome: null };
  try {
    await getHost().operations.putInstanceNetwork(caller, id, parsed.data);
  } catch (error) {
    return { values, errors: {}, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
  refresh();
  return { values: null, errors: {}, outcome: { ok: true, says: 'Set. It holds from its next request.' } };
}

/** Ends its process and starts another one. What runs in it is not ended: then nothing happens. */
export async function startAnew(bound: string, _previous: ActionOutcome | null): Promise<ActionOutcome> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}?tab=network`);
  const { operations } = getHost();
  try {
    await operations.suspend(caller, id, {});
    await operations.resume(caller, id, {});
  } catch (error) {
    refresh();
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  refresh();
  return { ok: true, says: 'It was started anew: its policy holds now.' };
}
