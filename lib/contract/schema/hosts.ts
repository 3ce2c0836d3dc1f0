/** Contract schemas of hosts: the servers of a registry. Safe for the browser. */
import { z } from 'zod';

const epoch = z.int().min(0).max(253_402_300_799);
const count = z.int().min(0);

/** The name of a host, as `WB_HOST_NAME` may have it. */
export const hostNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/, 'must be 1 to 100 letters, digits, dots and dashes');

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
    draining: z.boolean().meta({ description: 'Nothing new is placed on it' }),
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
