/**
 * The HTTP contract as zod schemas: requests, answers, problems. Safe for the browser: imports nothing of
 * the engine but the state map. snake_case, epoch seconds, durations with their unit in the name.
 */
import { z } from 'zod';
import type { InstanceId } from '../base/ids.ts';
import { STATES } from '../lifecycle/state-map.ts';
import { FAULTS, SOURCES, THERMALS, TRIGGERS, VIAS } from '../lifecycle/words.ts';
import './schema/input-words.ts';
import { actorNameSchema } from './schema/actors.ts';
import { bundleOriginSchema } from './schema/bundles.ts';
import {
  dockingSchemas,
  labelsSchema,
  oneIdleTime,
  PAUSE_WORDS,
  pauseSchema,
  policySchema,
  TIMEOUT_WORDS,
  thresholdSchema,
  workbookNameSchema,
} from './schema/creation.ts';
import { instanceIdSchema, slugSchema } from './schema/ids.ts';
import { jobSchema } from './schema/jobs.ts';
import { salvagedSchema, usedMomentSchema } from './schema/repairs.ts';
import { REPLICA_FIELDS, replicateSchema } from './schema/replicas.ts';
import { fromStoredSchema, storedNeedsReason, storedObjectSchema, uploadSchema } from './schema/stored.ts';

export { OFFERED_POLICIES, whyNotOffered } from '../workers/protocol/policies.ts';
export * from './schema/access.ts';
export * from './schema/attention.ts';
export * from './schema/comparisons.ts';
export * from './schema/databases.ts';
export * from './schema/guests.ts';
export * from './schema/ids.ts';
export * from './schema/jobs.ts';
export * from './schema/ledger.ts';
export * from './schema/load.ts';
export * from './schema/logs.ts';
export * from './schema/mcp.ts';
export * from './schema/moments.ts';
export * from './schema/network.ts';
export * from './schema/query.ts';
export * from './schema/storage.ts';
export * from './schema/stream.ts';
export * from './schema/tenants.ts';
export * from './schema/usage.ts';
export * from './schema/volumes.ts';

const stateSchema = z.enum(STATES);
const thermalSchema = z.enum(THERMALS);
const faultSchema = z.enum(FAULTS);
const sourceSchema = z.enum(SOURCES);
const triggerSchema = z.enum(TRIGGERS);
const viaSchema = z.enum(VIAS);

const NAME_LENGTH = 200;
const REASON_LENGTH = 1000;

const nameSchema = z
  .string()
  .trim()
  .min(1)
  .max(NAME_LENGTH)
  .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');
const epochSchema = z.int().min(0).max(253_402_300_799);
export const reasonSchema = z.string().trim().max(REASON_LENGTH);

const nextMoveSchema = z.object({ state: stateSchema, at: epochSchema, because: z.string() });

export const instanceSchema = z
  .object({
    id: slugSchema,
    tenant: slugSchema,
    name: z.string().nullable(),
    state: stateSchema,
    thermal: thermalSchema,
    /** Since when its process is paused in memory; null when it is not warm. */
    warm_since: epochSchema.nullable(),
    fault: faultSchema.nullable(),
    fault_reason: z.string().nullable(),
    pending: z.string().nullable(),
    /** When the operation under way began. */
    pending_since: epochSchema.nullable(),
    /** The operation under way was interrupted: the sandbox can be settled. */
    interrupted: z.boolean(),
    vfs_path: z.string().nullable(),
    updated: epochSchema,
    created: epochSchema,
    state_since: epochSchema,
    idle_seconds: z.int().min(0),
    next: nextMoveSchema.nullable(),
    keep_hot: z.boolean(),
    hold_until: epochSchema.nullable(),
    ephemeral: z.boolean(),
    policy: z.string(),
    hot_to_warm_s: z.int().nullable(),
    idle_to_suspend_s: z.int().nullable(),
    idle_to_freeze_s: z.int().nullable(),
    ...REPLICA_FIELDS,
    /** Terminals that are attached. */
    attached: z.int().min(0),
    /** Calls and runs under way, and those that wait for their turn. Each of them holds it as it is. */
    calls: z.int().min(0),
    bytes: z.int().min(0).nullable(),
    labels: z.record(z.string(), z.string()),
    workbook: z.string().nullable(),
    /** Null without a workbook, and for a name from before there were workbooks. */
    workbook_version: z.int().nullable(),
    lineage: z.object({
      blueprint: z.string().nullable(),
      snapshot: z.string().nullable(),
      parent: z.string().nullable(),
    }),
    stored: storedObjectSchema.nullable(),
    upload: uploadSchema,
    /** The host that has it awake, moves it, or has its newest bytes; null: any host may wake it. */
    host: z.string().nullable(),
    /** Of that host: it grows with each change of owner and each restored registry. */
    term: z.int().min(0).nullable(),
    unreachable: z
      .object({
        last_seen: epochSchema.nullable().meta({ description: 'When that host renewed its lease last' }),
        recovery_point: epochSchema
          .nullable()
          .meta({ description: 'How far the object store has the sandbox; null: it has nothing of it' }),
        goes_on: z.enum(['whole', 'seconds']).nullable().meta({
          description:
            'What a wake or a call has elsewhere: all that was answered, or what the replica has; null: none',
        }),
      })
      .nullable()
      .meta({
        description:
          'Not null while `host` does not answer: the state is the one that the sandbox had there, and only that host has what is newest',
      }),
  })
  .meta({ id: 'Instance' });
/** As operations answer it. The client's type has a plain text for the id. */
export type Instance = z.infer<typeof instanceSchema> & { id: InstanceId };

export const eventSchema = z
  .object({
    seq: z.int(),
    time: epochSchema,
    time_ms: z.int(),
    instance: z.string().nullable(),
    tenant: z.string().nullable(),
    type: z.string(),
    from: stateSchema.nullable(),
    to: stateSchema.nullable(),
    trigger: triggerSchema,
    actor: z.string(),
    actor_name: actorNameSchema,
    via: viaSchema,
    source: sourceSchema.nullable(),
    took_ms: z.number().nullable(),
    reason: z.string().nullable(),
    error: z.string().nullable(),
    request_id: z.string().nullable(),
    address: z.string().nullable(),
  })
  .meta({ id: 'Event' });
/** As operations answer it. The client's type has a plain text for the id. */
export type Event = z.infer<typeof eventSchema> & { instance: InstanceId | null };

const countsSchema = z.record(stateSchema, z.int().min(0));

/** Progress of the resumes of one restore or clone, under the id of its request. */
const startedSchema = z.object({
  request_id: z.string(),
  tenant: slugSchema,
  started: z.int().min(0),
  failed: z.int().min(0),
  total: z.int().min(1),
});

/**
 * A batch of the change feed: the current rows and counts of what changed. `seq`: the newest line when it was read,
 * which tells the newer of two batches.
 */
export const changesSchema = z
  .object({
    seq: z.int(),
    rows: z.array(instanceSchema),
    /** True when more changed than is listed here: reload. */
    more: z.boolean(),
    states: countsSchema,
    faults: z.record(faultSchema, z.int().min(0)),
    /** How many of the active ones have a paused process. */
    warm: z.int().min(0),
    /** One for each tenant with changes. */
    tenants: z.array(z.object({ tenant: slugSchema, states: countsSchema })),
    /** Jobs that began, moved on or ended. */
    jobs: z.array(jobSchema),
    /** Progress of starts, for sandboxes made with `start`. */
    starts: z.array(startedSchema),
    /** Sandboxes in which a run was begun, started or ended. */
    runs: z.array(slugSchema),
  })
  .meta({ id: 'Changes' });
export type Changes = z.infer<typeof changesSchema> & { rows: Instance[] };

export const problemSchema = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    hint: z.string().optional(),
    request_id: z.string(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problemSchema>;

/** `limit` of every paged list: 1 to 500, default 100. In queries it arrives as a string. */
const limitSchema = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursorSchema = z.string().max(1200).optional();

export * from './schema/lists.ts';

export const createSchema = z
  .strictObject({
    id: instanceIdSchema.optional(),
    tenant: slugSchema,
    name: nameSchema.optional(),
    ephemeral: z
      .boolean()
      .optional()
      .meta({ description: 'It is never suspended or frozen: once idle for its time it is archived and deleted.' }),
    policy: policySchema.optional(),
    keep_hot: z.boolean().optional(),
    hot_to_warm_s: pauseSchema.optional().meta(PAUSE_WORDS),
    idle_to_suspend_s: thresholdSchema.optional(),
    timeout_secs: thresholdSchema.optional().meta(TIMEOUT_WORDS),
    idle_to_freeze_s: thresholdSchema.optional(),
    replicate: replicateSchema.optional(),
    labels: labelsSchema.optional(),
    workbook: workbookNameSchema.optional(),
    vfs_path: z.literal(':memory:').optional(),
  })
  .superRefine(oneIdleTime);
export type CreateInput = z.infer<typeof createSchema>;

export const patchSchema = z
  .strictObject({
    name: nameSchema.nullable().optional(),
    labels: labelsSchema.optional(),
    keep_hot: z.boolean().optional(),
    hold_until: epochSchema.nullable().optional(),
    hot_to_warm_s: pauseSchema.nullable().optional().meta(PAUSE_WORDS),
    idle_to_suspend_s: thresholdSchema.nullable().optional(),
    timeout_secs: thresholdSchema.nullable().optional().meta(TIMEOUT_WORDS),
    idle_to_freeze_s: thresholdSchema.nullable().optional(),
    replicate: replicateSchema.nullable().optional(),
    policy: policySchema.optional(),
    ...dockingSchemas,
  })
  .superRefine(oneIdleTime);
export type PatchInput = z.infer<typeof patchSchema>;

export const resumeSchema = z
  .strictObject({
    policy: policySchema.optional(),
    force: z.boolean().optional(),
    from: fromStoredSchema.optional(),
    reason: reasonSchema.optional(),
  })
  .superRefine(storedNeedsReason);
export type ResumeInput = z.infer<typeof resumeSchema>;

export const deleteSchema = z.strictObject({ reason: reasonSchema.optional() });
export type DeleteInput = z.infer<typeof deleteSchema>;

export const verbBodySchema = z.strictObject({ reason: reasonSchema.optional(), force: z.boolean().optional() });
export type VerbInput = z.infer<typeof verbBodySchema>;

export const resumeAnswerSchema = z.object({
  path: z.enum(['warm', 'cold']),
  result: z.literal('already_active').optional(),
  source: sourceSchema.optional(),
  vfs_path: z.string(),
  took_ms: z.number(),
  instance: instanceSchema,
});
export type ResumeAnswer = z.infer<typeof resumeAnswerSchema>;

export const prefetchAnswerSchema = z.object({ source: sourceSchema, vfs_path: z.string().nullable() });
export type PrefetchAnswer = z.infer<typeof prefetchAnswerSchema>;

export * from './schema/calls.ts';
export * from './schema/runs.ts';
export * from './schema/terminals.ts';

export const attachmentSchema = z.object({
  attachment: slugSchema,
  /** Seconds for which it holds without being renewed. */
  lease_s: z.int(),
});
export type AttachmentAnswer = z.infer<typeof attachmentSchema>;

export const instanceEventsQuerySchema = z.strictObject({
  type: z.string().max(100).optional(),
  limit: limitSchema,
  cursor: cursorSchema,
});

export const eventsQuerySchema = z.strictObject({
  tenant: slugSchema.optional(),
  instance: instanceIdSchema.optional(),
  type: z.string().max(100).optional(),
  actor: z.string().max(200).optional(),
  trigger: triggerSchema.optional(),
  request_id: z.string().max(200).optional().describe('Lines of this request. What a job did has the id of the job.'),
  since: z.coerce.number<number | string>().int().min(0).optional(),
  until: z.coerce.number<number | string>().int().min(0).optional(),
  limit: limitSchema,
  cursor: cursorSchema,
});
export type EventsQuery = z.infer<typeof eventsQuerySchema>;

export const exportQuerySchema = eventsQuerySchema
  .omit({ limit: true, cursor: true })
  .extend({ format: z.enum(['csv', 'jsonl']) });
export type ExportQuery = z.infer<typeof exportQuerySchema>;

export const settingsSchema = z
  .object({ hot_to_warm_s: pauseSchema, idle_to_suspend_s: thresholdSchema, idle_to_freeze_s: thresholdSchema })
  .meta({ id: 'Settings' });
export type Settings = z.infer<typeof settingsSchema>;
export const settingsPatchSchema = z.strictObject({
  hot_to_warm_s: pauseSchema.optional().meta(PAUSE_WORDS),
  idle_to_suspend_s: thresholdSchema.optional(),
  idle_to_freeze_s: thresholdSchema.optional(),
});

export * from './schema/bundles.ts';
export * from './schema/repairs.ts';

/** A new sandbox, and who vouches for what it was made of. */
export const importedSchema = instanceSchema.extend({ imported: bundleOriginSchema }).meta({ id: 'ImportedInstance' });
export type ImportedInstance = Instance & { imported: z.infer<typeof bundleOriginSchema> };
export const salvageAnswerSchema = salvagedSchema.extend({ instance: instanceSchema }).meta({ id: 'Salvaged' });
export type SalvageAnswer = z.infer<typeof salvageAnswerSchema>;
export const restoredMomentSchema = usedMomentSchema
  .extend({ instance: instanceSchema })
  .meta({ id: 'RestoredMoment' });
export type RestoredMoment = z.infer<typeof usedMomentSchema> & { instance: Instance };
export const restoredSchema = z.union([instanceSchema, restoredMomentSchema]);
export type Restored = Instance | RestoredMoment;

export * from './schema/backups.ts';
export * from './schema/copies.ts';
export * from './schema/hosts.ts';
export * from './schema/readiness.ts';
export * from './schema/webhooks.ts';
export * from './schema/workbooks.ts';
