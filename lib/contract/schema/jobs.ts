/** Contract schemas of plans and jobs. Safe for the browser. */
import { z } from 'zod';
import { HOLD_WORDS, type HoldKind, JOB_KINDS, JOB_VERBS, LOSSES, type Loss } from '../../lifecycle/job-verbs.ts';
import { STATES, VERBS } from '../../lifecycle/state-map.ts';
import { FAULTS, PENDINGS, THERMALS } from '../../lifecycle/words.ts';
import { actorNameSchema } from './actors.ts';
import { hostNameSchema, instanceIdSchema, slugSchema } from './ids.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const state = z.enum(STATES);
/** Up to a hundred years. */
const idleSeconds = z.int().min(0).max(3_155_760_000);
const reason = z.string().trim().max(1000);
const loss = z.enum(Object.keys(LOSSES) as [Loss, ...Loss[]]);
const hold = z.enum(Object.keys(HOLD_WORDS) as [HoldKind, ...HoldKind[]]);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

/** Sandboxes that one request may name one by one. */
export const MAX_JOB_IDS = 10_000;
const LABEL_COUNT = 32;

export const planQuerySchema = z.strictObject({ to: state });
export const runPlanSchema = z.strictObject({ to: state, reason: reason.optional(), force: z.boolean().optional() });
export type RunPlanInput = z.infer<typeof runPlanSchema>;

export const planSchema = z
  .object({
    id: z.string(),
    from: state,
    to: state,
    hops: z.array(
      z.object({
        from: state,
        to: state,
        verb: z.enum(VERBS),
        /** `active` is passed through without a process. */
        passing: z.boolean(),
      }),
    ),
    /** What it costs, with words for people. */
    losses: z.array(z.object({ loss, words: z.string() })),
    /** Calls that run now and terminals that are attached. */
    calls: z.int(),
    attached: z.int(),
    /** What tmp holds now; null when nothing of it is lost or it cannot be read. */
    tmp: z.object({ files: z.int(), bytes: z.int() }).nullable(),
    /** Why there is no plan, or why it needs `force`; null when it can run. */
    refusal: z.string().nullable(),
  })
  .meta({ id: 'Plan' });
export type Plan = z.infer<typeof planSchema>;

/** The filters of the list, as members. */
export const jobFilterSchema = z.strictObject({
  tenant: slugSchema.optional(),
  state: state.optional(),
  thermal: z.enum(THERMALS).optional(),
  fault: z.enum(FAULTS).optional(),
  name: z.string().max(200).optional(),
  label: z
    .string()
    .max(400)
    .regex(/^[^:]+:[\s\S]*$/, 'must be key:value')
    .optional(),
  host: hostNameSchema.optional(),
  since: epoch.optional(),
  until: epoch.optional(),
  pending: z.enum(PENDINGS).optional(),
  due_since: epoch.optional(),
  due_until: epoch.optional(),
  /** Idle for at least, or at most, so many seconds when the job is started. */
  idle_over: idleSeconds.optional(),
  idle_under: idleSeconds.optional(),
  q: z.string().max(200).optional(),
});
export type JobFilter = z.infer<typeof jobFilterSchema>;

export const startJobSchema = z
  .strictObject({
    verb: z.enum(JOB_VERBS),
    reason: reason.optional(),
    /** Everything that matches; `{}` is everything there is. */
    filter: jobFilterSchema.optional(),
    ids: z.array(instanceIdSchema).min(1).max(MAX_JOB_IDS).optional(),
    /** For `label`: what to set, and null for what to take away. */
    labels: z
      .record(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/, 'must be 1 to 63 of letters, digits, . _ / and -'),
        z.string().max(256).nullable(),
      )
      .refine((labels) => Object.keys(labels).length <= LABEL_COUNT, `at most ${LABEL_COUNT} labels`)
      .optional(),
    /** Files those too that are kept hot, held or shown in a terminal; without it they are set apart. */
    include_held: z.boolean().optional(),
    dry_run: z.boolean().optional(),
  })
  .refine(({ filter, ids }) => (filter === undefined) !== (ids === undefined), {
    path: ['filter'],
    error: 'give either filter or ids',
  })
  .refine(({ verb, labels }) => (verb === 'label') === (labels !== undefined && Object.keys(labels).length > 0), {
    path: ['labels'],
    error: 'is for the verb label, and needed for it',
  });
export type StartJobInput = z.infer<typeof startJobSchema>;

export const dryRunSchema = z
  .object({
    matched: z.int(),
    will: z.int(),
    /** Set apart, because somebody keeps them hot or holds them: `include_held` takes them in. */
    held: z.array(z.object({ hold, words: z.string(), count: z.int() })),
    skip: z.array(z.object({ reason: z.string(), count: z.int() })),
    /** The plans, by the state they start in. */
    plans: z.array(z.object({ from: state, hops: z.array(state), count: z.int() })),
    losses: z.array(z.object({ loss, words: z.string(), count: z.int() })),
    /** The first of those that it would move, of those set apart, and of those passed over. */
    rows: z.array(
      z.object({
        id: z.string(),
        /** Null for an unknown id. */
        tenant: z.string().nullable(),
        name: z.string().nullable(),
        state: state.nullable(),
        outcome: z.enum(['will', 'held', 'skip']),
        hops: z.array(state),
        hold: hold.nullable(),
        /** Why nothing happens to it; null when it would be moved. */
        reason: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'DryRun' });
export type DryRun = z.infer<typeof dryRunSchema>;

export const jobStartedSchema = z.object({ id: z.string() });

const JOB_STATES = ['running', 'done', 'cancelled'] as const;
const JOB_OUTCOMES = ['done', 'failed', 'skipped'] as const;

export const jobSchema = z
  .object({
    id: z.string(),
    /** `forget` is of a whole tenant: `DELETE /tenants/:tenant` begins it, and nothing cancels it. */
    verb: z.enum(JOB_KINDS),
    reason: z.string().nullable(),
    labels: z.record(z.string(), z.string().nullable()).nullable(),
    /** The filter of the request; for ids, null. */
    filter: jobFilterSchema.nullable(),
    /** Whether it also files what is kept hot or held. */
    include_held: z.boolean(),
    state: z.enum(JOB_STATES),
    actor: z.string(),
    actor_name: actorNameSchema,
    created: epoch,
    finished: epoch.nullable(),
    /** Sandboxes chosen, and their outcomes so far. */
    chosen: z.int(),
    done: z.int(),
    failed: z.int(),
    skipped: z.int(),
  })
  .meta({ id: 'Job' });
export type Job = z.infer<typeof jobSchema>;

export const jobsQuerySchema = z.strictObject({ state: z.enum(JOB_STATES).optional(), limit, cursor });
export type JobsQuery = z.infer<typeof jobsQuerySchema>;

export const jobResultSchema = z
  .object({
    /** Null for an unknown id. */
    instance: z.string().nullable(),
    outcome: z.enum(JOB_OUTCOMES),
    reason: z.string().nullable(),
    time_ms: z.int(),
  })
  .meta({ id: 'JobResult' });
export type JobResult = z.infer<typeof jobResultSchema>;

export const jobResultsQuerySchema = z.strictObject({ outcome: z.enum(JOB_OUTCOMES).optional(), limit, cursor });
export type JobResultsQuery = z.infer<typeof jobResultsQuerySchema>;
