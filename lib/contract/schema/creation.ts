/**
 * What a sandbox may be given at its creation and by a change: policies that are offered, workbooks that are there, the
 * names of its idle time. Safe for the browser.
 */
import { z } from 'zod';
import { OFFERED_POLICIES, whyNotOffered } from '../../workers/protocol/policies.ts';
import { slugSchema } from './ids.ts';

const NAME_LENGTH = 63;

/** `a, b and c`. */
function inWords(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/**
 * A capability profile by name. One that the engine has but does not offer yet, and one that it does not know, are
 * refused.
 */
export const policySchema = z
  .enum(OFFERED_POLICIES, {
    error: ({ input }) =>
      typeof input === 'string' && input.length > 0 && input.length <= NAME_LENGTH
        ? `“${input}” ${whyNotOffered(input)}; there are ${inWords(OFFERED_POLICIES)}`
        : undefined,
  })
  .meta({ description: 'What its code may do, from the next start of its process on.' });

/** The id of a workbook of the sandbox's tenant. */
export const workbookNameSchema = slugSchema.meta({
  description: 'A workbook of its tenant. It is docked to the newest version, which must have no problems.',
});

export const dockingSchemas = {
  workbook: workbookNameSchema.nullable().optional(),
  workbook_version: z.int().min(1).optional().meta({
    description: 'Of the workbook that is named, else of the one that it has; by default the newest.',
  }),
  accept_changes: z.boolean().optional().meta({
    description: 'Docks it also when that breaks something that the sandbox has: a removed component, for example.',
  }),
};

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
/** The most labels of one sandbox. */
export const LABEL_COUNT = 32;

const labelKeySchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'must be 1 to 63 of letters, digits, . _ / and -');
export const labelsSchema = z
  .record(labelKeySchema, z.string().max(LABEL_LENGTH))
  .refine((labels) => Object.keys(labels).length <= LABEL_COUNT, `at most ${LABEL_COUNT} labels`);
