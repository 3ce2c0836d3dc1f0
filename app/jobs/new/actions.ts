'use server';
/** Starting a job from the page that showed what it would do. */
import { redirect } from 'next/navigation';
import { z } from 'zod';
import { sandboxesInWords } from '#components/jobs/job-words.ts';
import type { OutcomeWords } from '#components/ui/outcome.tsx';
import { reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectFit, textOf } from '../../form-values.ts';
import { problemOf, wordsOf } from '../../problem.ts';
import { type Chosen, jobInputOf } from '../../sandboxes/chosen.ts';

const CHOSEN = z.object({
  verb: z.string(),
  of: z.union([z.object({ ids: z.array(z.string()) }), z.object({ filter: z.record(z.string(), z.string()) })]),
  labels: z.string(),
});

/**
 * Starts it and leads to its page. Revive needs a reason; delete the typed number, which must still be how many there
 * are.
 */
export async function start(chosen: Chosen, _previous: OutcomeWords | null, form: FormData): Promise<OutcomeWords> {
  expectFit(CHOSEN, chosen);
  const caller = await requireCaller('/sandboxes');
  const refuse = (says: string, hint?: string): OutcomeWords => ({ ok: false, says, hint });
  const asked = jobInputOf(chosen);
  if ('wrong' in asked) return refuse(asked.wrong);
  const reason = textOf(form, 'reason');
  if (!reasonSchema.safeParse(reason).success) return refuse('The reason is too long: at most 1 000 characters.');
  const { verb } = asked.input;
  if (verb === 'revive' && reason === '') return refuse('Reviving needs a reason: it goes into the ledger.');
  const { operations } = getHost();
  let id: string;
  try {
    if (verb === 'delete') {
      const dry = await operations.startJob(caller, { ...asked.input, dry_run: true });
      const will = 'dryRun' in dry ? dry.dryRun.will : 0;
      if (textOf(form, 'confirm').replace(/[\s,.]/g, '') !== String(will)) {
        return refuse(
          'Nothing was deleted: the typed number is not how many would be deleted.',
          `It would delete ${sandboxesInWords(will)} now.`,
        );
      }
    }
    const started = await operations.startJob(caller, { ...asked.input, ...(reason === '' ? {} : { reason }) });
    if (!('id' in started)) return refuse('It was not started.');
    id = started.id;
  } catch (error) {
    const { says, hint } = wordsOf(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/jobs/${id}`);
}
