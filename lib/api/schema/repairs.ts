/** The words of the contract about damaged files. Safe for the browser. */
import { z } from 'zod';

const reason = z.string().trim().max(1000);

export const rawQuerySchema = z.strictObject({
  /** `log`: what SQLite left beside the file, which is whole only with it. */
  part: z.enum(['file', 'log']).default('file'),
  reason: reason.optional(),
});
export const restoreInstanceSchema = z.strictObject({
  /** The id of one of the same tenant. */
  snapshot: z.string().min(1).max(100),
  reason: reason.optional(),
});
export type RestoreInstanceInput = z.infer<typeof restoreInstanceSchema>;
export type RawQuery = z.infer<typeof rawQuerySchema>;
