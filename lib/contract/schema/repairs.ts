/** Contract schemas of damaged files. Safe for the browser. */
import { z } from 'zod';
import { VOLUMES } from '../../vfs/volumes.ts';
import { instanceIdSchema, slugSchema } from './ids.ts';
import { momentNameSchema, momentTimeSchema } from './moments.ts';

const reason = z.string().trim().max(1000);
const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');

export const rawQuerySchema = z.strictObject({
  /** `log`: what SQLite left beside the file, which is whole only with it. */
  part: z.enum(['file', 'log']).default('file'),
  reason: reason.optional(),
});
export const salvageSchema = z.strictObject({
  /** Of the new sandbox; made when it is left out. */
  id: instanceIdSchema.optional(),
  name: nameSchema.optional(),
  reason: reason.optional(),
});
export type SalvageInput = z.infer<typeof salvageSchema>;

/** What salvage recovered and lost, beside the new instance. */
export const salvagedSchema = z.object({
  /** Recovered files, and their bytes. */
  recovered: z.int(),
  recovered_bytes: z.int(),
  /** The first 1 000 lost files; without a path when the name is lost too. */
  lost: z.array(z.object({ volume: z.enum(VOLUMES).nullable(), path: z.string().nullable(), why: z.string() })),
  lost_count: z.int(),
  /** Where the whole list is, in the volume `memory` of the new instance: JSON lines; null when nothing is lost. */
  list: z.string().nullable(),
});

/** One of the three: a snapshot, or a moment by its time or its name. */
export const restoreInstanceSchema = z
  .strictObject({
    /** The id of one of the same tenant. */
    snapshot: z.string().min(1).max(100).optional(),
    /** The newest moment of the replica up to then. */
    time: momentTimeSchema.optional(),
    /** The name of one of its moments. */
    moment: momentNameSchema.optional(),
    reason: reason.optional(),
  })
  .refine(({ snapshot, time, moment }) => [snapshot, time, moment].filter((one) => one !== undefined).length === 1, {
    path: ['snapshot'],
    message: 'name a snapshot, a time or a moment, and one of them alone',
  });
export type RestoreInstanceInput = z.infer<typeof restoreInstanceSchema>;

export const undoRestoreSchema = z.strictObject({ reason: reason.optional() });
export type UndoRestoreInput = z.infer<typeof undoRestoreSchema>;

export const fromMomentSchema = z
  .strictObject({
    /** The newest moment of the replica up to then. */
    time: momentTimeSchema.optional(),
    /** The name of one of its moments. */
    moment: momentNameSchema.optional(),
    name: nameSchema.optional(),
    /** Default: that of the sandbox. */
    tenant: slugSchema.optional(),
    reason: reason.optional(),
  })
  .refine(({ time, moment }) => (time === undefined) !== (moment === undefined), {
    path: ['time'],
    message: 'give a time or the name of a moment, and not both',
  });
export type FromMomentInput = z.infer<typeof fromMomentSchema>;

/** What a restore to a moment used, beside the instance. */
export const usedMomentSchema = z.object({
  /** Of the moment, in seconds since the epoch with fractions. */
  used: z.number().min(0),
  /** What to send to the same route to bring back what it had before; null: that was damaged, or nothing. */
  undo: z.object({ moment: z.string() }).nullable(),
});
export type RawQuery = z.infer<typeof rawQuerySchema>;
