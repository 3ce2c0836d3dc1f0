/**
 * The messages between the server and an Instance, both ways, validated at each end. Carried by Node's IPC channel with the
 * advanced serialisation, so bytes travel as bytes.
 */
import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode, isWinterdockError, messageOf, WinterdockError } from '../errors.ts';
import { VOLUMES } from '../vfs/volumes.ts';

const id = z.int().min(0);
const volume = z.enum(VOLUMES);
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
  stdin: z.string().optional(),
  timeoutMs: z.int(),
  streaming: z.boolean(),
});
const evalCall = z.object({
  kind: z.literal('eval'),
  language: z.enum(['js', 'python']),
  code: z.string(),
  timeoutMs: z.int(),
});

const writeOperation = z.discriminatedUnion('op', [
  z.object({ op: z.literal('put'), volume, path: z.string(), content: bytes, condition }),
  z.object({ op: z.literal('delete'), volume, path: z.string(), condition }),
  z.object({ op: z.literal('move'), volume, from: z.string(), to: z.string() }),
]);

const readRequest = z.looseObject({ op: z.string() });

/** Server to Instance. */
export const toInstanceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('open'), spec: openSpec }),
  z.object({ type: z.literal('call'), id, call: z.discriminatedUnion('kind', [execCall, evalCall]) }),
  z.object({ type: z.literal('abort'), id }),
  z.object({ type: z.literal('write'), id, operation: writeOperation }),
  z.object({ type: z.literal('read'), id, request: readRequest }),
  z.object({ type: z.literal('close') }),
]);
export type ToInstance = z.infer<typeof toInstanceSchema>;
export type Call = Extract<ToInstance, { type: 'call' }>['call'];
export type ExecCall = z.infer<typeof execCall>;
export type EvalCall = z.infer<typeof evalCall>;

const failure = z.object({
  code: z.custom<ErrorCode>((value) => typeof value === 'string' && value in ERROR_STATUS),
  message: z.string(),
  hint: z.string().optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
});
export type Failure = z.infer<typeof failure>;

/** Instance to server. */
export const fromInstanceSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('opened') }),
  z.object({ type: z.literal('output'), id, stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.object({ type: z.literal('done'), id, result: z.unknown() }),
  z.object({ type: z.literal('failed'), id: id.nullable(), failure }),
  z.object({ type: z.literal('closed') }),
]);
export type FromInstance = z.infer<typeof fromInstanceSchema>;

/** An error as it travels. Anything unexpected keeps its message only for the server's log. */
export function failureOf(error: unknown): Failure {
  if (isWinterdockError(error)) {
    return {
      code: error.code,
      message: error.message,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      extra: error.extra,
    };
  }
  return { code: 'internal', message: `The Instance failed: ${messageOf(error)}` };
}

/** The error that a failure was. */
export function errorOf({ code, message, hint, extra }: Failure): WinterdockError {
  return new WinterdockError(code, message, { ...(hint === undefined ? {} : { hint }), extra: extra ?? {} });
}
