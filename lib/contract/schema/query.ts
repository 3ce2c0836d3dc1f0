/** Contract schemas of SQL over the file table. Safe for the browser. */
import { z } from 'zod';

export const sqlSchema = z.strictObject({
  sql: z.string().min(1).max(100_000),
  params: z
    .union([
      z.array(z.union([z.string(), z.number(), z.null()])),
      z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    ])
    .optional(),
});
export type SqlInput = z.infer<typeof sqlSchema>;

export const sqlAnswerSchema = z.object({
  columns: z.array(z.string()),
  rows: z.array(z.array(z.unknown())),
  truncated: z.boolean(),
});
export type SqlAnswer = z.infer<typeof sqlAnswerSchema>;
