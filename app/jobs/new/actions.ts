'use server';
/** Starts a job from the page of its dry run. */
import { redirect } from 'next/navigation';
import { z } from 'zod';
import { sandboxesInWords } from '#components/jobs/job-words.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { expectShape, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import { type Selection, selectionJobInput } from '../../sandboxes/selection.ts';

const CHOSEN = z.object({
  verb: z.string(),
  of: z.union([z.object({ ids: z.array(z.string()) }), z.object({ filter: z.record(z.string(), z.string()) })]),
  labels: z.string(),
});

/**
 * Starts the job and opens its page. Revive needs a reason. Delete needs the number of sandboxes typed, and it must
 * still be right.
 */
export async function startSelected(
  chosen: Selection,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome> {
  expectShape(CHOSEN, chosen);
  const caller = await requireCaller('/sandboxes');
  const refuse = (says: string, hint?: string): ActionOutcome => ({ ok: false, says, hint });
  const job = selectionJobInput(chosen);
  if ('wrong' in job) return refuse(job.wrong);
  const reason = textField(form, 'reason');
  if (!reasonSchema.safeParse(reason).success) return refuse('The reason is too long: at most 1 000 characters.');
  const { verb } = job.input;
  const input = { ...job.input, ...(textField(form, 'include_held') === '1' ? { include_held: true } : {}) };
  if (verb === 'revive' && reason === '') return refuse('Reviving needs a reason: it goes into the ledger.');
  const { operations } = getHost();
  let id: string;
  try {
    if (verb === 'delete') {
      const dry = await operations.startJob(caller, { ...input, dry_run: true });
      const will = 'dryRun' in dry ? dry.dryRun.will : 0;
      if (textField(form, 'confirm').replace(/[\s,.]/g, '') !== String(will)) {
        return refuse(
          'Nothing was deleted: the typed number is not how many would be deleted.',
          `It would delete ${sandboxesInWords(will)} now.`,
        );
      }
    }
    const started = await operations.startJob(caller, { ...input, ...(reason === '' ? {} : { reason }) });
    if (!('id' in started)) return refuse('It was not started.');
    id = started.id;
  } catch (error) {
    const { says, hint } = problemInWords(problemOf(error, caller));
    return refuse(says, hint);
  }
  redirect(`/jobs/${id}`);
}
