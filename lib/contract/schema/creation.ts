/**
 * What a sandbox may be given at its creation and by a change: policies that are offered, workbooks that are there, the
 * names of its idle time. Safe for the browser.
 */
import { z } from 'zod';
import { OFFERED_POLICIES, whyNotOffered } from '../../instance/policies.ts';

const NAME_LENGTH = 63;

/**
 * A capability profile by name. One that the engine has but does not offer yet, and one that it does not know, are
 * refused.
 */
export const policySchema = z
  .enum(OFFERED_POLICIES, {
    error: ({ input }) =>
      typeof input === 'string' && input.length > 0 && input.length <= NAME_LENGTH
        ? `“${input}” ${whyNotOffered(input)}; there are ${OFFERED_POLICIES.join(' and ')}`
        : undefined,
  })
  .meta({ description: 'What its code may do, from the next start of its process on.' });

/** The name of a workbook: there is none yet, so every name is refused. */
export const workbookSchema = z
  .string()
  .refine(() => false, { error: 'is not known here: there are no workbooks yet' })
  .meta({ description: 'There are no workbooks yet: every name is refused.' });

/** Takes `timeout_secs` as another name of `idle_to_suspend_s`; both are fine where they say the same. */
export function oneIdleTime(
  { idle_to_suspend_s, timeout_secs }: { idle_to_suspend_s?: number | null; timeout_secs?: number | null },
  context: z.core.$RefinementCtx,
): void {
  if (idle_to_suspend_s === undefined || timeout_secs === undefined || idle_to_suspend_s === timeout_secs) return;
  context.addIssue({
    code: 'custom',
    path: ['timeout_secs'],
    message: 'is another name of idle_to_suspend_s: give one of them, or both the same',
  });
}

export const TIMEOUT_WORDS = {
  description:
    'Another name of `idle_to_suspend_s`: idle seconds until it is suspended, or, ephemeral, archived and deleted. Both are taken when they say the same.',
};

const YEAR_SECONDS = 52 * 7 * 86_400;
/** Seconds of idleness after which the ladder moves a sandbox. */
export const thresholdSchema = z.int().min(1).max(YEAR_SECONDS);
/** When a running process is paused, in seconds of idleness; 0: never. */
export const pauseSchema = z.int().min(0).max(YEAR_SECONDS);

export const PAUSE_WORDS = {
  description:
    'Idle seconds after which its process is paused in memory (`warm`), until the next request; 0: never. Changes no state.',
};

const LABEL_LENGTH = 256;
const LABEL_COUNT = 32;

const labelKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'must be 1 to 63 of letters, digits, . _ / and -');
export const labelsSchema = z
  .record(labelKeySchema, z.string().max(LABEL_LENGTH))
  .refine((labels) => Object.keys(labels).length <= LABEL_COUNT, `at most ${LABEL_COUNT} labels`);
