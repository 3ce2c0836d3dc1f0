/** Contract schemas of usage by the hour, and of a sandbox's life. Safe for the browser. */
import { z } from 'zod';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS, SOURCES, TRIGGERS } from '../../lifecycle/words.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const moment = z.coerce.number<number | string>().int().min(0).max(253_402_300_799).optional();
const count = z.int().min(0);
const bytes = z.int().min(0);
const seconds = z.number().min(0);

/** Points of an answer at most. */
export const USAGE_POINTS = 1000;
const HOUR = 3600;

export const usageQuerySchema = z.strictObject({
  /** The first moment; default: seven days before `to`. Whole hours are answered. */
  from: moment,
  /** The last moment; default: now. */
  to: moment,
  /** Seconds of a point, in whole hours; default: the least of an hour and more that gives 1000 points at most. */
  step: z.coerce
    .number<number | string>()
    .int()
    .min(HOUR)
    .max(366 * 24 * HOUR)
    .refine((step) => step % HOUR === 0, 'must be a whole number of hours, like 3600')
    .optional(),
});
export type UsageQuery = z.infer<typeof usageQuerySchema>;

const span = { from: epoch, to: epoch, step: z.int() };
const used = {
  cpu_s: seconds,
  /** Calls and writes. */
  calls: count,
  /** The most private memory of its processes. */
  memory_bytes: bytes,
};

export const instanceUsageSchema = z
  .object({
    ...span,
    /** Steps in which it did something, oldest first. `disk_bytes` is null while it has no file. */
    points: z.array(z.object({ time: epoch, ...used, disk_bytes: bytes.nullable() })),
    total: z.object({ cpu_s: seconds, calls: count }),
  })
  .meta({ id: 'InstanceUsage' });
export type InstanceUsage = z.infer<typeof instanceUsageSchema>;

export const tenantUsageSchema = z
  .object({
    ...span,
    /**
     * Every step, oldest first. `wakes`, `faults` and `awake_s` are counted from the ledger: processes started, faults
     * raised, and seconds that its sandboxes were active, all together.
     */
    points: z.array(
      z.object({ time: epoch, ...used, disk_bytes: bytes, wakes: count, faults: count, awake_s: seconds }),
    ),
    total: z.object({ cpu_s: seconds, calls: count, wakes: count, faults: count, awake_s: seconds }),
    /** False while older lines of the ledger are still being counted: then what comes from it is too low. */
    complete: z.boolean(),
  })
  .meta({ id: 'TenantUsage' });
export type TenantUsage = z.infer<typeof tenantUsageSchema>;

/** Columns of a life at most. */
export const LIFE_COLUMNS = 240;

export const lifeQuerySchema = z.strictObject({
  /** Default: its creation. */
  from: moment,
  /** Default: now. */
  to: moment,
  columns: z.coerce.number<number | string>().int().min(1).max(LIFE_COLUMNS).default(LIFE_COLUMNS),
});
export type LifeQuery = z.infer<typeof lifeQuerySchema>;

export const instanceLifeSchema = z
  .object({
    from: epoch,
    to: epoch,
    created: epoch,
    /** The stretches in one state, oldest first; null when they are more than `columns`. */
    stretches: z.array(z.object({ state: z.enum(STATES), from: z.number(), to: z.number() })).nullable(),
    /** The hops between them; null when the stretches are. */
    hops: z
      .array(
        z.object({
          time: z.number(),
          from: z.enum(STATES),
          to: z.enum(STATES),
          trigger: z.enum(TRIGGERS),
          source: z.enum(SOURCES).nullable(),
          took_ms: z.number().nullable(),
        }),
      )
      .nullable(),
    /** Equal parts of the time, oldest first, with the seconds in each state and what happened meanwhile. */
    columns: z.array(
      z.object({
        from: z.number(),
        to: z.number(),
        states: z.array(z.object({ state: z.enum(STATES), seconds })),
        hops: count,
        wakes: count,
        faults: z.array(z.enum(FAULTS)),
        /** Lines of the ledger; `cut`: it has more. */
        lines: count,
        cut: z.boolean(),
        /** Computed from its first lines, because it has too many. */
        estimated: z.boolean(),
      }),
    ),
  })
  .meta({ id: 'InstanceLife' });
export type InstanceLife = z.infer<typeof instanceLifeSchema>;
