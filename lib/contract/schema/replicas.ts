/** Contract schemas of the second clock: what is promised of a replica, and how far it is. Safe for the browser. */
import { z } from 'zod';
import { REPLICATE_FORM, REPLICATE_RULE } from '../../base/replicate-form.ts';

/** How long the store may lack what a sandbox commits. */
export const replicateSchema = z.string().regex(REPLICATE_FORM, REPLICATE_RULE).meta({
  description:
    'What is promised of the replica: `off` nothing; `filed` each state at rest, in the background; `1s` to `3600s` what is committed, so many seconds later at most; `sync` before the answer that says it, and no read answers what the replica lacks. Between those of `1s` to `3600s` and `sync` a change applies at once, else from the next wake on.',
});

const recoveryPointSchema = z.object({
  /** Of the newest state of it that the replica has; null: it has none. */
  at: z.int().min(0).nullable(),
  /** Seconds, with fractions, for which the replica has lacked something that was committed; null: nobody knows. */
  behind_s: z.number().min(0).nullable(),
  /** `live`: it is shipped as it commits. `filed`: as it rests, or rested when it was last shipped. */
  as: z.enum(['live', 'filed', 'none']),
});

/** What a sandbox says of its replica. */
export const REPLICA_FIELDS = {
  /** What is set for it itself of its replica; null: what its tenant or the server says. */
  own_replicate: z.string().nullable(),
  /** What applies to it: `off` on a server without a replica. */
  replicate: z.string(),
  /** Whether `replicate` holds only once its process was started anew. */
  replicate_from_next_wake: z.boolean(),
  recovery_point: recoveryPointSchema,
};
