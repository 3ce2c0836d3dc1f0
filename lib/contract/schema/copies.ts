/** Contract schemas of copies: snapshots, blueprints, what came from them. Safe for the browser. */
import { z } from 'zod';
import { STATES } from '../../lifecycle/state-map.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { actorNameSchema } from './actors.ts';
import { policySchema } from './creation.ts';
import { instanceIdSchema, slugSchema } from './ids.ts';
import { replicateSchema } from './replicas.ts';

const title = (length: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(length)
    .regex(/^[^\p{Cc}]*$/u, 'must not contain control characters');
const epoch = z.int().min(0).max(253_402_300_799);
const limit = z.coerce.number<number | string>().int().min(1).max(500).default(100);
const cursor = z.string().max(1200).optional();

/** Most sandboxes of one call. */
const MAX_COUNT = 1000;
/** So that `-1000` still fits behind it. */
const NAME_LENGTH = 195;
const TAG_LENGTH = 200;

const content = {
  /** `sha256:` and the lower-case hex of the file's bytes. */
  hash: z.string(),
  bytes: z.int(),
  volumes: z.array(z.enum(VOLUMES)),
  contents: z.array(z.object({ volume: z.enum(VOLUMES), files: z.int(), bytes: z.int() })),
  created: epoch,
  actor: z.string(),
  actor_name: actorNameSchema,
  /** How many sandboxes were made from it, deleted ones included. */
  instances: z.int(),
};

export const snapshotSchema = z
  .object({ id: z.string(), tenant: slugSchema, tag: z.string().nullable(), source: slugSchema, ...content })
  .meta({ id: 'Snapshot' });
export type Snapshot = z.infer<typeof snapshotSchema>;

export const blueprintSchema = z
  .object({
    name: slugSchema,
    tenant: slugSchema.nullable(),
    source: slugSchema.nullable(),
    /** What its clones are set to of their replicas; null: nothing. */
    replicate: z.string().nullable(),
    ...content,
  })
  .meta({ id: 'Blueprint' });
export type Blueprint = z.infer<typeof blueprintSchema>;

export const takeSnapshotSchema = z.strictObject({ tag: title(TAG_LENGTH).optional() });
export type TakeSnapshotInput = z.infer<typeof takeSnapshotSchema>;

export const snapshotsQuerySchema = z.strictObject({
  tenant: slugSchema.optional(),
  tag: z.string().max(TAG_LENGTH).optional(),
  source: instanceIdSchema.optional(),
  limit,
  cursor,
});
export type SnapshotsQuery = z.infer<typeof snapshotsQuerySchema>;

const count = z.int().min(1).max(MAX_COUNT);

export const restoreSchema = z.strictObject({
  tenant: slugSchema.optional(),
  count: count.optional(),
  name: title(NAME_LENGTH).optional(),
  policy: policySchema.optional(),
  start: z.boolean().optional(),
});
export type RestoreInput = z.infer<typeof restoreSchema>;

export const createBlueprintSchema = z.strictObject({
  name: slugSchema,
  from_instance: instanceIdSchema,
  replicate: replicateSchema.optional(),
});
export type CreateBlueprintInput = z.infer<typeof createBlueprintSchema>;

/** `name` makes the request's body the file that the blueprint is made of. */
export const createBlueprintQuerySchema = z.strictObject({
  name: slugSchema.optional(),
  replicate: replicateSchema.optional(),
});

export const blueprintsQuerySchema = z.strictObject({ limit, cursor });
export type BlueprintsQuery = z.infer<typeof blueprintsQuerySchema>;

export const cloneSchema = z.strictObject({
  tenant: slugSchema,
  count: count.optional(),
  name: title(NAME_LENGTH).optional(),
  start: z.boolean().optional(),
});
export type CloneInput = z.infer<typeof cloneSchema>;

const lineageNodeSchema = z.object({
  kind: z.enum(['instance', 'snapshot', 'blueprint']),
  id: z.string(),
  /** Name of an instance or blueprint, tag of a snapshot. */
  label: z.string().nullable(),
  /** Null when it is deleted without a row. */
  tenant: z.string().nullable(),
  state: z.enum(STATES).nullable(),
  /** Whether it is deleted: a snapshot, blueprint or instance that only the lineage still shows. */
  deleted: z.boolean(),
  bytes: z.int().nullable(),
  /** Its own bytes on disk: 0 for a clone that was never resumed, null when unknown. */
  disk_bytes: z.int().nullable(),
  created: epoch.nullable(),
});
export type LineageNode = z.infer<typeof lineageNodeSchema>;

export const lineageSchema = z
  .object({
    /** Parents before children. */
    nodes: z.array(lineageNodeSchema),
    /** By `kind:id`. */
    edges: z.array(z.object({ from: z.string(), to: z.string() })),
    /** More exist than are listed. */
    truncated: z.boolean(),
  })
  .meta({ id: 'Lineage' });
export type Lineage = z.infer<typeof lineageSchema>;
