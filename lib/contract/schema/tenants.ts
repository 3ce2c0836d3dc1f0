/** Contract schemas of tenants, their quotas, wake times and the simulator. Safe for the browser. */
import { z } from 'zod';
import { STATES } from '../../lifecycle/state-map.ts';
import { SOURCES } from '../../lifecycle/words.ts';
import { longestCallSchema } from './calls.ts';
import { PAUSE_WORDS } from './creation.ts';
import { slugSchema } from './ids.ts';
import { replicateSchema } from './replicas.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const YEAR_SECONDS = 52 * 7 * 86_400;
const threshold = z.int().min(1).max(YEAR_SECONDS);
/** When a running process is paused; 0: never. */
const pause = z.int().min(0).max(YEAR_SECONDS);
/** The longest time of a run. */
const runTime = z.int().min(1).max(604_800);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

const count = z.int().min(0);
const quota = z.object({ limit: count.nullable(), used: count });

export const tenantSchema = z
  .object({
    tenant: z.string(),
    counts: z.record(z.enum(STATES), count),
    /** Bytes of the files in each drawer, as their rows know them: `none` is what new ones will begin with. */
    bytes: z.object({ total: count, live: count, cold: count, archive: count, none: count }),
    /** Bytes of the files in each volume, of so many `sandboxes`: each is weighed some seconds after it was filed. */
    volumes: z.object({ sandboxes: count, workspace: count, memory: count, tmp: count }),
    /** What it overrides; null falls back to the global value. */
    hot_to_warm_s: pause.nullable(),
    idle_to_suspend_s: threshold.nullable(),
    idle_to_freeze_s: threshold.nullable(),
    /** The longest time of a run; null: `WB_MAX_RUN`. */
    max_run_s: runTime.nullable(),
    max_call_s: longestCallSchema.nullable(),
    /** What is promised of the replicas of its sandboxes; null: `WB_REPLICATE`. */
    replicate: z.string().nullable(),
    /** What applies to its sandboxes. */
    thresholds: z.object({ hot_to_warm_s: pause, idle_to_suspend_s: threshold, idle_to_freeze_s: threshold }),
    /** What it may have and has; without a limit nothing binds. */
    quotas: z.object({
      max_sandboxes: quota,
      max_active: quota,
      max_bytes: quota,
      /** Processor seconds since midnight UTC. */
      max_daily_cpu_s: quota,
    }),
    /**
     * The last time that it was forgotten, by which job; `finished` is null while that runs. Null when it never was.
     */
    forgetting: z.object({ job: z.string(), started: epoch, finished: epoch.nullable() }).nullable(),
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.infer<typeof tenantSchema>;

export const tenantsQuerySchema = z.strictObject({
  /** Part of the name. */
  q: z.string().trim().toLowerCase().max(63).optional(),
  /** `true`: only those that override a threshold. */
  own_thresholds: z.enum(['true', 'false']).optional(),
  limit,
  cursor,
});
export type TenantsQuery = z.infer<typeof tenantsQuerySchema>;

const quotaLimit = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().optional();

/** Null takes a limit or an override away; what is absent stays. */
export const tenantPatchSchema = z.strictObject({
  hot_to_warm_s: pause.nullable().optional().meta(PAUSE_WORDS),
  idle_to_suspend_s: threshold.nullable().optional(),
  idle_to_freeze_s: threshold.nullable().optional(),
  max_sandboxes: quotaLimit,
  max_active: quotaLimit,
  max_bytes: quotaLimit,
  max_daily_cpu_s: quotaLimit,
  max_run_s: runTime
    .nullable()
    .optional()
    .meta({ description: 'The longest time of a run, in place of `WB_MAX_RUN`. Null takes it away.' }),
  max_call_s: longestCallSchema.nullable().optional(),
  replicate: replicateSchema.nullable().optional(),
});
export type TenantPatch = z.infer<typeof tenantPatchSchema>;

export const forgetTenantSchema = z.strictObject({
  /** The tenant's name, typed once more. Needed unless it is a dry run. */
  confirm: z.string().max(100).optional(),
  dry_run: z.boolean().optional(),
});
export type ForgetTenantInput = z.infer<typeof forgetTenantSchema>;

/** What still holds a tenant after it was forgotten, as far as this server knows of it. */
const heldElsewhere = {
  /**
   * Backups on record that were made while there was something of it, newest first, a hundred at most. `to` is known of
   * the last one. `gone_by`: when the retention has removed it at the latest, as the schedule is now; null: nothing
   * removes it by itself, or nobody knows.
   */
  backups: z.array(
    z.object({ id: z.string().nullable(), time: epoch, to: z.string().nullable(), gone_by: epoch.nullable() }),
  ),
  /**
   * Folders in the data folder that a restore set aside, each with everything of its time: they are a person's to
   * remove.
   */
  set_aside: z.array(z.string()),
  /**
   * Objects of it in the object store, which go with it. `remain_until`: a lock of the store keeps bytes of them until
   * then; null: nothing remains.
   */
  store: z.object({ objects: count, remain_until: epoch.nullable() }),
  /** The replica of the registry begins anew: no moment of it from before can be restored any more. */
  registry_moments_end: z.boolean(),
};

export const tenantForgetPlanSchema = z
  .object({
    tenant: z.string(),
    /** Sandboxes that would be deleted, by state; the active ones are stopped. */
    sandboxes: z.record(z.enum(STATES), count),
    /** Those that somebody asked to be kept as they are, the first twenty, and how many there are. */
    kept: z.array(
      z.object({
        id: z.string(),
        name: z.string().nullable(),
        state: z.enum(STATES),
        why: z.enum(['keep_hot', 'held']),
      }),
    ),
    kept_count: count,
    snapshots: count,
    blueprints: z.array(z.string()),
    /** Sandboxes of others that were made from these: they keep what they have, and the names that they know of it. */
    clones: count,
    shares: count,
    workbooks: count,
    keys: count,
    /** People of this tenant alone, who go, with their open sessions; and people of others too, who lose this one. */
    people: count,
    sessions: count,
    limited: count,
    invitations: count,
    /** Jobs that concerned it alone. */
    jobs: count,
    /** Lines of the ledger that keep ids only. */
    lines: count,
    /** Files that were set aside, and the names of those that may be another tenant’s as well and stay. */
    orphans: count,
    doubtful: z.array(z.string()),
    /** Copies of the registry that upgrades kept: each holds everything of its time, so they go. */
    registry_copies: z.array(z.string()),
    /** The registry’s file is written anew at the end, and serves nobody meanwhile. */
    registry_bytes: count,
    ...heldElsewhere,
  })
  .meta({ id: 'TenantForgetPlan' });
export type TenantForgetPlan = z.infer<typeof tenantForgetPlanSchema>;

export const forgettingStartedSchema = z.object({ id: z.string(), ...heldElsewhere }).meta({ id: 'ForgettingStarted' });
export type ForgettingStarted = z.infer<typeof forgettingStartedSchema>;

export const wakeTimesQuerySchema = z.strictObject({
  days: z.coerce.number<number | string>().int().min(1).max(400).default(30),
});
export const wakeTimeSchema = z
  .object({
    path: z.enum(['warm', 'cold']),
    /** Null for warm ones. */
    source: z.enum(SOURCES).nullable(),
    count,
    mean_ms: z.number(),
    p50_ms: z.number(),
    p99_ms: z.number(),
    /** Each bucket's own count; `le_ms` null is what is above every bound. */
    buckets: z.array(z.object({ le_ms: z.number().nullable(), count })),
  })
  .meta({ id: 'WakeTime' });
export type WakeTime = z.infer<typeof wakeTimeSchema>;

export const simulateSchema = z.strictObject({
  tenant: slugSchema.optional(),
  /** Default: what applies now. */
  idle_to_suspend_s: threshold.optional(),
  idle_to_freeze_s: threshold.optional(),
  days: z.int().min(1).max(90).default(7),
  /** Other values of `idle_to_suspend_s` to compute beside it, from the same lines. */
  curve: z.array(threshold).max(24).optional(),
});
export type SimulateInput = z.infer<typeof simulateSchema>;

const tally = z.object({
  process_hours: z.number(),
  cold_wakes: count,
  /** Wakes that found the file in the cold drawer. */
  thaws: count,
});
const moves = z.object({
  suspended: count,
  frozen: count,
  /** Ephemeral ones, which are archived and deleted. */
  ended: count,
});

/** Null falls back to the global value, which only a tenant's can; what is absent stays. */
export const previewSchema = z
  .strictObject({
    tenant: slugSchema.optional(),
    /** Counts nothing: pausing moves no sandbox. */
    hot_to_warm_s: pause.nullable().optional(),
    idle_to_suspend_s: threshold.nullable().optional(),
    idle_to_freeze_s: threshold.nullable().optional(),
  })
  .refine(
    ({ tenant, ...values }) => tenant !== undefined || !Object.values(values).includes(null),
    'only a tenant’s threshold may be null',
  );
export type PreviewInput = z.infer<typeof previewSchema>;
export const previewAnswerSchema = z
  .object({
    /** From now; what is due already counts. */
    within_s: count,
    /** Moves that would come and do not as it is, and the other way round. */
    more: moves,
    fewer: moves,
    /** There were too many to look at: there may be more of each. */
    cut: z.boolean(),
  })
  .meta({ id: 'ThresholdsPreview' });
export type PreviewAnswer = z.infer<typeof previewAnswerSchema>;

export const simulationSchema = z
  .object({
    since: epoch,
    until: epoch,
    lines: count,
    /** When the oldest of them happened; null when there is none. */
    first: epoch.nullable(),
    /** Suspensions for idleness among them, from which the rest is computed. */
    idle_ends: count,
    /** There were too many lines: older ones of the days asked for were left out. */
    cut: z.boolean(),
    idle_to_suspend_s: threshold,
    idle_to_freeze_s: threshold,
    was: tally,
    would: tally,
    /** Cold wakes of `would` that are estimated: gaps that a shorter threshold newly cuts are not in the ledger. */
    estimated_wakes: count,
    /** The same under each threshold of `curve` and the trial's time to freeze. */
    curve: z.array(z.object({ idle_to_suspend_s: threshold, would: tally, estimated_wakes: count })),
  })
  .meta({ id: 'Simulation' });
export type Simulation = z.infer<typeof simulationSchema>;
