/** Contract schemas of damaged files. Safe for the browser. */
import { z } from 'zod';
import { VOLUMES } from '../../vfs/volumes.ts';
import { instanceIdSchema } from './ids.ts';

const reason = z.string().trim().max(1000);

export const rawQuerySchema = z.strictObject({
  /** `log`: what SQLite left beside the file, which is whole only with it. */
  part: z.enum(['file', 'log']).default('file'),
  reason: reason.optional(),
});
export const salvageSchema = z.strictObject({
  /** Of the new sandbox; made when it is left out. */
  id: instanceIdSchema.optional(),
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters')
    .optional(),
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

export const restoreInstanceSchema = z.strictObject({
  /** The id of one of the same tenant. */
  snapshot: z.string().min(1).max(100),
  reason: reason.optional(),
});
export type RestoreInstanceInput = z.infer<typeof restoreInstanceSchema>;
export type RawQuery = z.infer<typeof rawQuerySchema>;
