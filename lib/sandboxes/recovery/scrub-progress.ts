/**
 * The progress of the scrubber, saved over restarts, so that a server that restarts every day still completes a pass.
 * Knows no files.
 */
import { z } from 'zod';
import type { FactStore } from '../../registry/facts.ts';

const counted = {
  /** Epoch seconds. */
  begun: z.int(),
  /** Files that were compared, and their bytes as stored. */
  files: z.int(),
  bytes: z.number(),
  /** Files that were no longer what was filed. */
  rotten: z.int(),
};
const progressSchema = z.object({
  /** The pass under way and the last id that it checked; null between two passes. Saved under this name. */
  walk: z.object({ ...counted, after: z.string() }).nullable(),
  /** The last complete pass. */
  last: z.object({ ...counted, ended: z.int() }).nullable(),
  /** When the wait for the next pass began, in epoch seconds. */
  since: z.int(),
});
export type ScrubProgress = z.infer<typeof progressSchema>;
export type ScrubPass = NonNullable<ScrubProgress['walk']>;

const NAME = 'scrub';

/** The saved progress; null when there is none that can be read. */
export async function readProgress(facts: FactStore): Promise<ScrubProgress | null> {
  return progressSchema
    .nullable()
    .catch(null)
    .parse(await facts.read(NAME));
}

/** Saves the progress. `now` in epoch seconds. */
export async function keepProgress(facts: FactStore, progress: ScrubProgress, now: number): Promise<void> {
  await facts.write(NAME, progress, now);
}
