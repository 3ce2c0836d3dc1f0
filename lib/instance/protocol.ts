/**
 * The messages between the server and a worker, both ways. Node's IPC channel carries them with advanced serialisation,
 * so bytes travel as bytes. The server validates what it sends and what it receives. A worker imports only the types:
 * the schema library would cost each of them 10 MB and 60 ms, and a worker trusts its server anyway.
 */
import { z } from 'zod';
import { isSerializedError, type SerializedError } from '../base/serialized-error.ts';
import type { VfsPath } from '../vfs/paths.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { MAX_STREAM_BYTES } from './output.ts';

const id = z.int().min(0);
const volume = z.enum(VOLUMES);
/** Already parsed by the server. */
const path = z.custom<VfsPath>((value) => typeof value === 'string');
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const versions = z.union([z.literal('*'), z.array(z.int())]).optional();
const condition = z.object({ ifMatch: versions, ifNoneMatch: versions }).optional();

const openSpec = z.object({
  file: z.string(),
  policy: z.string(),
  maxBytes: z.int(),
  maxFileBytes: z.int(),
  mustExist: z.boolean(),
});

const execCall = z.object({
  kind: z.literal('exec'),
  command: z.string(),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  stdin: bytes.optional(),
  timeoutMs: z.number().min(0),
  /** Whether the caller streams: then output is sent at the end of every top-level command. */
  streaming: z.boolean(),
});
const evalCall = z.object({
  kind: z.literal('eval'),
  language: z.enum(['js', 'python']),
  code: z.string(),
  timeoutMs: z.number().min(0),
});

const writeOperation = z.discriminatedUnion('op', [
  z.object({ op: z.literal('put'), volume, path, content: bytes, condition }),
  z.object({ op: z.literal('delete'), volume, path, condition }),
  z.object({ op: z.literal('move'), volume, from: path, to: path }),
  z.object({ op: z.literal('mkdir'), volume, path }),
  z.object({ op: z.literal('rmdir'), volume, path, recursive: z.boolean() }),
]);

/** Server to worker. The VFS itself validates the fields of a read. */
export const toInstanceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), spec: openSpec }),
  z.object({ type: z.literal('call'), id, call: z.discriminatedUnion('kind', [execCall, evalCall]) }),
  z.object({ type: z.literal('abort'), id }),
  z.object({ type: z.literal('write'), id, operation: writeOperation }),
  z.object({ type: z.literal('read'), id, request: z.looseObject({ op: z.string() }) }),
  z.object({ type: z.literal('close') }),
  /** Answered at once by a responsive process; sent only while no call runs. */
  z.object({ type: z.literal('ping') }),
]);
export type ToInstance = z.infer<typeof toInstanceSchema>;
export type Call = Extract<ToInstance, { type: 'call' }>['call'];
export type ExecCall = z.infer<typeof execCall>;
export type EvalCall = z.infer<typeof evalCall>;

const failure = z.custom<SerializedError>(isSerializedError);

const chunk = z.object({ stream: z.enum(['stdout', 'stderr']), text: z.string().max(MAX_STREAM_BYTES) });
/** The output that was not sent before the result. */
const rest = z.array(chunk).max(1000);
const execResult = z.object({
  exitCode: z.int(),
  cwd: z.string(),
  timedOut: z.boolean(),
  truncated: z.boolean(),
  tookMs: z.number(),
  rest,
});
const evalResult = z.object({
  ok: z.boolean(),
  json: z.string().optional(),
  error: z.string().optional(),
  timedOut: z.boolean(),
  tookMs: z.number(),
  rest,
});

/** Worker to server. */
export const fromInstanceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('opened') }),
  z.object({ type: z.literal('output'), id, chunks: rest }),
  z.object({ type: z.literal('executed'), id, result: execResult }),
  z.object({ type: z.literal('evaluated'), id, result: evalResult }),
  z.object({ type: z.literal('done'), id, result: z.unknown() }),
  z.object({ type: z.literal('failed'), id: id.nullable(), failure }),
  z.object({ type: z.literal('closed'), identity: z.string().max(64).nullable() }),
  z.object({ type: z.literal('pong') }),
]);
export type FromInstance = z.infer<typeof fromInstanceSchema>;
export type ExecResult = z.infer<typeof execResult>;
export type EvalResult = z.infer<typeof evalResult>;
