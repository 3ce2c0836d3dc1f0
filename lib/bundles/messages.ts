/** Messages between the server and a bundle process, validated at both ends. Knows nothing of how a task is done. */
import { z } from 'zod';
import { isSerializedError, type SerializedError } from '../base/serialized-error.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { DISK, MANIFEST, manifestSchema, PAGE, SOURCE } from './manifest.ts';

const hashedSchema = z.object({ sha256: z.string(), bytes: z.int() });

/** What a checkout leaves out: how much, and the first paths of it. */
const leftOutSchema = z.strictObject({ count: z.int().min(0), first: z.array(z.string().max(8192)).max(10) });
export type LeftOutSummary = z.infer<typeof leftOutSchema>;

const limitsSchema = z.object({
  /** Largest VFS file and largest content in it, in bytes. */
  maxBytes: z.int(),
  maxFileBytes: z.int(),
});
export type UnpackLimits = z.infer<typeof limitsSchema>;

const problemSchema = z.object({ message: z.string(), tooLarge: z.boolean() });
/** One fault of an uploaded file. */
export type BundleProblem = z.infer<typeof problemSchema>;

const unpackResultSchema = z.object({
  kind: z.enum(['bundle', 'vfs', 'unknown']),
  whole: hashedSchema,
  manifest: manifestSchema.nullable(),
  /** The members that were found, whatever the manifest says. */
  members: z.object({
    [PAGE]: hashedSchema.optional(),
    [DISK]: hashedSchema.optional(),
    [MANIFEST]: hashedSchema.optional(),
    [SOURCE]: hashedSchema.optional(),
  }),
  /** The rebuilt VFS file and its contents; null when the upload has faults. */
  rebuilt: hashedSchema
    .extend({ volumes: z.array(z.object({ volume: z.enum(VOLUMES), files: z.int(), bytes: z.int() })) })
    .nullable(),
  problems: z.array(problemSchema),
});
export type UnpackResult = z.infer<typeof unpackResultSchema>;

const salvagedSchema = hashedSchema.extend({
  recovered: z.int(),
  recoveredBytes: z.int(),
  lost: z.array(z.object({ volume: z.enum(VOLUMES).nullable(), path: z.string().nullable(), why: z.string() })),
  lostCount: z.int(),
  list: z.string().nullable(),
});

const path = z.string().min(1);
const bundleTaskSchema = z.discriminatedUnion('kind', [
  /** Inspects `disk` and writes its page to `page`. `hashed`: hash and size of `disk`. */
  z.object({
    kind: z.literal('page'),
    disk: path,
    hashed: hashedSchema,
    page: path,
    /** The source of its workbook; null without one. */
    source: path.nullable(),
    manifest: manifestSchema,
    maxFileBytes: z.int(),
  }),
  /** Writes the zip at `target`. */
  z.object({
    kind: z.literal('zip'),
    target: path,
    page: path,
    disk: path,
    manifest: path,
    source: path.nullable(),
    createdSeconds: z.int(),
  }),
  /** Unpacks `file` and rebuilds its VFS file at `target`. */
  z.object({ kind: z.literal('unpack'), file: path, folder: path, target: path, limits: limitsSchema }),
  /**
   * Writes the readable rows of the damaged copy `file` to a new VFS file at `target`. A compressed copy is first
   * expanded in `folder`, as far as possible.
   */
  z.object({
    kind: z.literal('salvage'),
    file: path,
    packed: z.boolean(),
    folder: path,
    target: path,
    withLog: z.boolean(),
    identity: z.string().nullable(),
    limits: limitsSchema,
  }),
  /** Hashes a file. */
  z.object({ kind: z.literal('hash'), file: path }),
  /** Writes the workspace of `disk` as a tar.gz to standard output. `plain`: without the files that it has not. */
  z.object({ kind: z.literal('checkout'), disk: path, maxFileBytes: z.int(), plain: z.boolean() }),
]);
export type BundleTask = z.infer<typeof bundleTaskSchema>;

const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('page'), page: hashedSchema }),
  z.object({ kind: z.literal('zip'), whole: hashedSchema, manifest: hashedSchema }),
  z.object({ kind: z.literal('unpack'), unpacked: unpackResultSchema }),
  z.object({ kind: z.literal('salvage'), salvaged: salvagedSchema }),
  z.object({ kind: z.literal('hash'), hashed: hashedSchema }),
  z.object({ kind: z.literal('checkout') }),
]);
export type BundleTaskAnswer = z.infer<typeof answerSchema>;
export type BundleAnswerTo<K extends BundleTask['kind']> = Extract<BundleTaskAnswer, { kind: K }>;

const bundleMessageSchema = z.union([
  z.object({ ready: z.literal(true) }),
  /** The tar begins: all checks before it have passed. */
  z.object({ begun: z.strictObject({ leftOut: leftOutSchema }) }),
  z.object({ answer: answerSchema }),
  z.object({ failure: z.custom<SerializedError>(isSerializedError) }),
]);
export type BundleMessage = z.infer<typeof bundleMessageSchema>;

const toBundleProcessSchema = z.object({
  task: bundleTaskSchema,
  /** Whom it becomes before it opens anything; null: nobody else. */
  user: z.object({ uid: z.int(), gid: z.int() }).nullable(),
});
export type ToBundleProcess = z.infer<typeof toBundleProcessSchema>;

/** Parses a message of the server. Throws when it is invalid. */
export function parseToBundleProcess(message: unknown): ToBundleProcess {
  return toBundleProcessSchema.parse(message);
}

/** Parses a message of a bundle process. Throws when it is invalid. */
export function parseBundleMessage(message: unknown): BundleMessage {
  return bundleMessageSchema.parse(message);
}
