/** Contract schemas of load: what sandboxes take while they take it. Safe for the browser. */
import { z } from 'zod';
import { LOAD_POINTS } from '../load-limits.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const moment = z.coerce.number<number | string>().int().min(0).max(253_402_300_799).optional();
const count = z.int().min(0);
const seconds = z.number().min(0);

/** Names of an answer at most. */
const MOST_NAMES = 50;

const LONGEST_STEP = 100 * 366 * 24 * 3600;

export const loadQuerySchema = z.strictObject({
  /** The first moment; default: an hour before `to`. */
  from: moment,
  /** The last moment; default: now. */
  to: moment,
  /**
   * Seconds of a point: tens of seconds are answered from the samples of the last hour, whole minutes from those of the
   * last day, whole hours from the usage. Default: the finest that there is for this time, in 400 points at most.
   */
  step: z.coerce
    .number<number | string>()
    .int()
    .min(10)
    .max(LONGEST_STEP)
    .refine(
      (step) => step % (step < 60 ? 10 : step < 3600 ? 60 : 3600) === 0,
      'must be tens of seconds below a minute, whole minutes below an hour, and else whole hours',
    )
    .optional(),
});
export type LoadQuery = z.infer<typeof loadQuerySchema>;

export const topLoadQuerySchema = loadQuerySchema.extend({
  /** How many of those that took most are named. */
  top: z.coerce.number<number | string>().int().min(0).max(MOST_NAMES).default(10),
});
export type TopLoadQuery = z.infer<typeof topLoadQuerySchema>;

/** What was taken in a step. */
const taken = {
  cpu_s: seconds,
  /** The most at once. */
  memory_bytes: count,
  /** Calls and writes. */
  calls: count,
};
const carried = {
  /** What requests to the network got and sent. */
  bytes_in: count,
  bytes_out: count,
};

export const instanceLoadSchema = z
  .object({
    from: epoch,
    to: epoch,
    step: z.int(),
    /** What the points are made of. */
    made_of: z.enum(['samples', 'minutes', 'hours']),
    /** The first moment of which samples are in memory: an hour ago, or the start of the server. */
    samples_since: epoch,
    /** Steps in which something was measured, oldest first: what is left out is not known, or nothing was awake. */
    points: z
      .array(
        z.object({
          time: epoch,
          /** Seconds of the step that were measured; of hours null. */
          measured_s: seconds.nullable(),
          ...taken,
          /** Of hours null. */
          bytes_in: count.nullable(),
          bytes_out: count.nullable(),
          /** Of its file, of a tenant all its files as of that hour; null when it had none, or it is not known. */
          disk_bytes: count.nullable(),
        }),
      )
      .max(LOAD_POINTS),
  })
  .meta({ id: 'InstanceLoad' });
export type InstanceLoad = z.infer<typeof instanceLoadSchema>;

export const topLoadSchema = instanceLoadSchema
  .extend({
    /** Who took the most processor time, from the samples in memory: sandboxes of a tenant, tenants of the server. */
    top: z.array(z.object({ name: z.string(), ...taken, ...carried })).max(MOST_NAMES),
  })
  .meta({ id: 'TopLoad' });
export type TopLoad = z.infer<typeof topLoadSchema>;
