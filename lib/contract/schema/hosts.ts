/** Contract schemas of hosts: the servers of a registry. Safe for the browser. */
import { z } from 'zod';

const epoch = z.int().min(0).max(253_402_300_799);
const count = z.int().min(0);
const MOST_LABELS = 32;

const hostLabelsSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/, 'must be 1 to 63 of lower-case letters, digits, _ . and -'),
    z.string().max(256),
  )
  .refine((labels) => Object.keys(labels).length <= MOST_LABELS, `at most ${MOST_LABELS} labels`);

export const patchHostSchema = z.strictObject({
  labels: hostLabelsSchema.meta({
    description: 'Instead of those that it has; a start with WB_HOST_LABELS sets its own',
  }),
});
export type PatchHostInput = z.infer<typeof patchHostSchema>;

export const drainHostSchema = z.strictObject({
  reason: z.string().trim().max(1000).optional(),
  include_held: z
    .boolean()
    .optional()
    .meta({ description: 'Also what is kept hot, held or shown in a terminal; without it that stays' }),
});
export type DrainHostInput = z.infer<typeof drainHostSchema>;

export const hostSchema = z
  .object({
    name: z.string(),
    /** Whether it is the server that answers. */
    self: z.boolean(),
    /** Grows with each new name and each restored registry. */
    term: count,
    /** Of the beginning of the term. */
    since: epoch,
    url: z.string().nullable().meta({ description: 'Where other hosts reach it' }),
    version: z.string().nullable(),
    capacity: z
      .object({ active: count, memory_bytes: count.nullable() })
      .nullable()
      .meta({ description: 'How many sandboxes may be awake at a time, and the memory of their processes' }),
    labels: z.record(z.string(), z.string()),
    sandboxes: count.meta({ description: 'Those that it has awake or on its disk; 10001: more than 10 000' }),
    awake: count.meta({ description: 'Those of them that are active; 10001: more than 10 000' }),
    draining: z.boolean().meta({ description: 'It is being emptied, or was: it takes nothing new' }),
    drain: z
      .object({
        job: z.string().meta({ description: 'The job that does it; its results say what stays, and why' }),
        state: z.enum(['waiting', 'running', 'done', 'cancelled']),
        asked: epoch,
        reason: z.string().nullable(),
        include_held: z.boolean(),
        chosen: count,
        done: count.meta({ description: 'Those that are nobody’s now, or another host’s' }),
        failed: count,
        skipped: count,
      })
      .nullable()
      .meta({ description: 'Null unless it is draining; `waiting`: the host has not begun' }),
    held: z.boolean().meta({ description: 'A server holds the name, or has ended without handing it back' }),
    dead: z.boolean().meta({
      description:
        'It was not seen to renew its lease for as long as that lasts: what is on its disk cannot be reached',
    }),
    lease_ms: count
      .nullable()
      .meta({ description: 'Length of its lease; null: it has none, because nobody else reaches the registry' }),
    renewals: count.meta({ description: 'How often its lease was renewed in all' }),
    renewed: epoch.nullable().meta({ description: 'Of the last renewal, by its own clock' }),
    public_key: z.string().nullable().meta({ description: 'Of its data folder, as a did:key' }),
  })
  .meta({ id: 'Host' });
export type HostAnswer = z.infer<typeof hostSchema>;
