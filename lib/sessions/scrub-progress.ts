/**
 * How far the scrubber has come, kept over restarts, so that a server that is restarted every day still comes to the
 * end. Knows no files.
 */
import { z } from 'zod';
import type { FactStore } from '../registry/facts.ts';

const counted = {
  /** Epoch seconds. */
  begun: z.int(),
  /** Compared, and their bytes as they are stored. */
  files: z.int(),
  bytes: z.number(),
  /** Found to be no longer what was filed. */
  rotten: z.int(),
};
const progressSchema = z.object({
  /** The walk under way, with the id that it has come to; null between two. */
  walk: z.object({ ...counted, after: z.string() }).nullable(),
  /** The last whole walk. */
  last: z.object({ ...counted, ended: z.int() }).nullable(),
  /** When waiting for the next one began, in epoch seconds. */
  since: z.int(),
});
export type ScrubProgress = z.infer<typeof progressSchema>;
export type ScrubWalk = NonNullable<ScrubProgress['walk']>;

const NAME = 'scrub';

/** What was kept, or null when nothing was, or nothing that can be read. */
export async function readProgress(facts: FactStore): Promise<ScrubProgress | null> {
  return progressSchema
    .nullable()
    .catch(null)
    .parse(await facts.read(NAME));
}

/** Keeps it. `now` in epoch seconds. */
export async function keepProgress(facts: FactStore, progress: ScrubProgress, now: number): Promise<void> {
  await facts.write(NAME, progress, now);
}
