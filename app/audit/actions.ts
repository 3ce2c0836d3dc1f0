'use server';
/** Proving the ledger. */
import { tookInWords } from '#components/ui/durations.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { problemInWords, problemOf } from '../problem.ts';

const figures = (count: number) => count.toLocaleString('en');

/** Verifies the whole ledger and reports the result. */
export async function proveLedger(_previous: ActionOutcome | null, _form: FormData): Promise<ActionOutcome | null> {
  const caller = await requireCaller('/audit');
  try {
    const { ok, flaw, lines, dropped, last_seq, signed_to, took_ms } = await getHost().operations.verifyLedger(caller);
    if (!ok) {
      const where =
        typeof flaw?.seq === 'number' ? `Line ${figures(flaw.seq)} does not fit` : 'The ledger does not fit';
      return {
        ok: false,
        says: `${where}: ${flaw?.why ?? 'it is not what was signed'}.`,
        hint: 'Someone changed the registry beside the server. Compare it with an export, or with a head that you kept elsewhere.',
      };
    }
    const gone = dropped === 0 ? '' : ` ${figures(dropped)} more were exported and dropped as sealed months.`;
    return {
      ok: true,
      says: `${figures(lines)} lines are proven: none was changed, removed or reordered.${gone}`,
      hint: `That took ${tookInWords(took_ms)}. Signed up to line ${figures(signed_to)} of ${figures(last_seq)}.`,
    };
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
