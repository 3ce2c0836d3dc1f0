/** Contract schema of the event stream. Safe for the browser. */
import { z } from 'zod';
import { TRIGGERS } from '../../lifecycle/words.ts';
import { instanceIdSchema, slugSchema } from './ids.ts';

/**
 * Filters of the event stream. `last_event_id` is for clients that cannot set the header; `with` asks for more events
 * than lines.
 */
export const streamQuerySchema = z.strictObject({
  tenant: slugSchema.optional(),
  instance: instanceIdSchema.optional(),
  type: z.string().max(100).optional(),
  actor: z.string().max(200).optional(),
  trigger: z.enum(TRIGGERS).optional(),
  last_event_id: z.coerce.number<number | string>().int().min(0).optional(),
  with: z.literal('changes').optional(),
});
export type StreamQuery = z.infer<typeof streamQuerySchema>;
