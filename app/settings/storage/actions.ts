'use server';
/** Starts the long checks: of the registry, and of every file in the drawers. */
import { refresh } from 'next/cache';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { StorageCheckInput } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectTexts } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

export async function checkStorage(
  what: StorageCheckInput['what'],
  _previous: ActionOutcome | null,
  _form: FormData,
): Promise<ActionOutcome | null> {
  expectTexts(what);
  const caller = await requireCaller('/settings/storage');
  try {
    const { running } = await getHost().operations.checkStorage(caller, { what });
    refresh();
    return running.includes(what)
      ? { ok: true, says: 'It is still under way.', hint: 'Look at this page again in a while.' }
      : null;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
