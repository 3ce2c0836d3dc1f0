/** What the server and a bundle process say to each other, checked at both ends. Knows nothing of how a job is done. */
import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode, isWinterdockError, messageOf, WinterdockError } from '../base/errors.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { DISK, MANIFEST, manifestSchema, PAGE } from './manifest.ts';

const hashedSchema = z.object({ sha256: z.string(), bytes: z.int() });

const limitsSchema = z.object({
  /** Largest VFS file and largest content in it, in bytes. */
  maxBytes: z.int(),
  maxFileBytes: z.int(),
});
export type UnpackLimits = z.infer<typeof limitsSchema>;

const problemSchema = z.object({ message: z.string(), tooLarge: z.boolean() });
/** One thing that is wrong with a file that was handed in. */
export type BundleProblem = z.infer<typeof problemSchema>;

const unpackResultSchema = z.object({
  kind: z.enum(['bundle', 'vfs', 'unknown']),
  whole: hashedSchema,
  manifest: manifestSchema.nullable(),
  /** What was found, whatever the manifest says. */
  members: z.object({
    [PAGE]: hashedSchema.optional(),
    [DISK]: hashedSchema.optional(),
    [MANIFEST]: hashedSchema.optional(),
  }),
  /** The file written anew and what it holds; null when none was. */
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
  /** Looks at `disk` in full and writes the page about it at `page`; `hashed` is what is known of the disk's bytes. */
  z.object({
    kind: z.literal('page'),
    disk: path,
    hashed: hashedSchema,
    page: path,
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
    createdSeconds: z.int(),
  }),
  /** Takes `file` apart and writes what it holds anew at `target`. */
  z.object({ kind: z.literal('unpack'), file: path, folder: path, target: path, limits: limitsSchema }),
  /**
   * Writes what is readable of the damaged copy `file` anew at `target`; a packed one is expanded first, in `folder`,
   * as far as it goes.
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
  /** Writes the workspace of `disk` as a tar.gz to standard output. */
  z.object({ kind: z.literal('checkout'), disk: path, maxFileBytes: z.int() }),
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

const failureSchema = z.object({
  code: z.enum(Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  hint: z.string().optional(),
  extra: z.record(z.string(), z.unknown()),
});

const bundleMessageSchema = z.union([
  z.object({ ready: z.literal(true) }),
  /** The tar begins: everything before it went well. */
  z.object({ begun: z.literal(true) }),
  z.object({ answer: answerSchema }),
  z.object({ failure: failureSchema }),
]);
export type BundleMessage = z.infer<typeof bundleMessageSchema>;

/** A message of the server. Throws when it is none. */
export function parseBundleTask(message: unknown): BundleTask {
  return bundleTaskSchema.parse(message);
}

/** A message of a bundle process. Throws when it is none. */
export function parseBundleMessage(message: unknown): BundleMessage {
  return bundleMessageSchema.parse(message);
}

/**
 * Any error as it crosses to the server; one that is none of the contract's says nothing of the machine in its message.
 */
export function bundleFailure(error: unknown): BundleMessage {
  if (!isWinterdockError(error))
    return {
      failure: {
        code: 'internal',
        message: 'A bundle process failed unexpectedly.',
        extra: { reason: messageOf(error) },
      },
    };
  const { code, message, hint, extra } = error;
  return { failure: { code, message, extra, ...(hint === undefined ? {} : { hint }) } };
}

/** The error that a failure stands for. An `internal` one keeps its reason as the cause, out of answers. */
export function bundleError({ code, message, hint, extra }: z.infer<typeof failureSchema>): WinterdockError {
  if (code === 'internal')
    return new WinterdockError(code, message, { cause: new Error(String(extra.reason ?? message)) });
  return new WinterdockError(code, message, { hint, extra });
}
