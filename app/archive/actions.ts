'use server';
/** The server action of the support desk: revives a sandbox from the list. */
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { boundInstanceId, textField } from '../form-values.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { addressWith } from '../search-params.ts';

/** An outcome that keeps the reason that was typed. */
export interface DeskOutcome extends ActionOutcome {
  reason: string;
}

const PATH = '/archive';

/** Revives it with a reason, and shows what came of it above what was searched for. */
export async function reviveAtDesk(
  bound: string,
  _previous: DeskOutcome | null,
  form: FormData,
): Promise<DeskOutcome | null> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(PATH);
  const reason = textField(form, 'reason');
  const q = textField(form, 'q').slice(0, 200);
  if (reason === '') return { ok: false, says: 'Reviving needs a reason: it goes into the ledger.', reason };
  try {
    await getHost().operations.revive(caller, id, { reason });
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)), reason };
  }
  redirect(addressWith(PATH, { ...(q === '' ? {} : { q }), revived: id }));
}
