/** Contract schema of the list of sandboxes: its filters, sorts and pages. Safe for the browser. */
import { z } from 'zod';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS, PENDINGS, THERMALS } from '../../lifecycle/words.ts';
import { hostNameSchema, slugSchema } from './ids.ts';

const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

const SORTS = ['updated', '-updated', 'created', '-created', 'name', '-name', 'bytes', '-bytes'] as const;

/** Up to a hundred years. */
const idleSecondsSchema = z.coerce.number<number | string>().int().min(0).max(3_155_760_000);

export const listQuerySchema = z.strictObject({
  tenant: slugSchema.optional(),
  state: z.enum(STATES).optional(),
  thermal: z.enum(THERMALS).optional(),
  fault: z.enum(FAULTS).optional(),
  name: z.string().max(200).optional(),
  label: z
    .string()
    .max(400)
    .regex(/^[^:]+:[\s\S]*$/, 'must be key:value')
    .optional(),
  /** The host that has it. */
  host: hostNameSchema.optional(),
  /** Bounds of the last state change or activity. */
  since: z.coerce.number<number | string>().int().min(0).optional(),
  until: z.coerce.number<number | string>().int().min(0).optional(),
  /** With an operation under way; `stuck`: for more than a minute. */
  pending: z.enum(PENDINGS).optional(),
  /** Bounds of the next automatic move. */
  due_since: z.coerce.number<number | string>().int().min(0).optional(),
  due_until: z.coerce.number<number | string>().int().min(0).optional(),
  /** Idle for at least, or at most, so many seconds. */
  idle_over: idleSecondsSchema.optional(),
  idle_under: idleSecondsSchema.optional(),
  /**
   * Terms of id, name, tenant or label values, all of them: one or two characters begin a word, three or more are
   * found anywhere.
   */
  q: z.string().max(200).optional(),
  sort: z.enum(SORTS).default('updated'),
  limit,
  cursor,
});
export type ListQuery = z.infer<typeof listQuerySchema>;
