/**
 * The messages between the server and a worker, both ways (channel.ts carries them). The server checks every message
 * that it receives: a worker may be in hostile hands. What it sends is held by the types
 * alone. The check is written by hand: a schema library took a tenth of a call's time.
 */
import { isDeepValue } from '../../base/json-weight.ts';
import { isSerializedError, type SerializedError } from '../../base/serialized-error.ts';
import type { PeekRequest, ReadRequest } from '../../vfs/types.ts';
import {
  type ComponentProgress,
  type ComponentsCall,
  type ComponentsResult,
  parseComponentProgress,
  parseComponentsResult,
} from './component-call.ts';
import { type FetchAnswer, type FetchRequest, parseFetchRequest } from './fetch-messages.ts';
import type { EvalRequest, ExecRequest, OpenSpec, OutputChunk, WriteOperation } from './instance.ts';
import type { NativeStart } from './native-start.ts';
import { MAX_STREAM_BYTES } from './output.ts';
import { parseShellJobRequest, type ShellJobAnswer, type ShellJobRequest } from './shell-jobs.ts';
import type { StopSignal } from './stop-signals.ts';

/** Most pieces of output in one message. */
const MAX_CHUNKS = 1000;
const MAX_IDENTITY_LENGTH = 64;
const MAX_HOLDS_LENGTH = 64;
/** Characters of a working directory: a path has 1024. */
const MAX_CWD_LENGTH = 1100;
/** Characters of what a terminal keeps of its shell between two lines. */
export const MAX_KEPT_LENGTH = 256 * 1024;
/** Characters of the value of `eval`, which is JSON, and of its error. */
const MAX_VALUE_LENGTH = MAX_STREAM_BYTES;
const MAX_ERROR_LENGTH = 65_600;

export interface ExecCall
  extends Omit<ExecRequest, 'timeoutMs' | 'mostMs' | 'longestMs' | 'endless' | 'background' | 'commitsMeanwhile'> {
  kind: 'exec';
  timeoutMs: number;
  /** Its output is not limited as a whole, but in how much of it waits to be sent. */
  endless: boolean;
  /** Whether the caller streams: then output is sent at the end of every top-level command. */
  streaming: boolean;
  commitsMeanwhile: boolean;
}

export interface EvalCall
  extends Omit<EvalRequest, 'timeoutMs' | 'mostMs' | 'longestMs' | 'background' | 'commitsMeanwhile'> {
  kind: 'eval';
  timeoutMs: number;
  commitsMeanwhile: boolean;
}

export type Call = ExecCall | EvalCall | ComponentsCall;

/**
 * A request with a number. `acknowledge`: the worker answers `started` before it does anything else about it. A message
 * without that answer has certainly not started.
 */
interface Numbered {
  id: number;
  acknowledge?: boolean;
}

export type NumberedRequest = Numbered &
  (
    | { type: 'call'; call: Call }
    | { type: 'write'; operation: WriteOperation }
    /** The VFS itself validates the fields of a read. */
    | { type: 'read'; request: ReadRequest }
  );

/** Server to worker. */
export type ToInstance =
  /**
   * `joins`: another process of the sandbox has the file open. `uid`: the user to become; null: it stays as it is.
   * `native`: for real programs.
   */
  | { type: 'open'; spec: Omit<OpenSpec, 'id'> & { joins: boolean; uid: number | null; native?: NativeStart } }
  | NumberedRequest
  /** A read between calls, of at most `maxBytes` of content: answered with `done`, null when there is more. */
  | { type: 'peek'; id: number; request: PeekRequest; maxBytes: number }
  /** `signal`: a script that has an action for it runs that; absent: it is to end at once. */
  | { type: 'abort'; id: number; signal?: StopSignal }
  /** To the question with this number. */
  | { type: 'job'; question: number; answer: ShellJobAnswer }
  | { type: 'fetched'; question: number; answer: FetchAnswer }
  /** `rests`: it is the last process that has the file open, and puts it to rest. `isLogKept`: see `keepLog`. */
  | { type: 'close'; rests: boolean; isLogKept: boolean }
  /** Answered at once by a responsive process; sent only while no call runs. */
  | { type: 'ping' }
  /** Gives back what memory it can; sent only to an idle process. */
  | { type: 'trim'; id: number };

export interface ExecResult {
  exitCode: number;
  cwd: string;
  timedOut: boolean;
  truncated: boolean;
  tookMs: number;
  kept?: string | undefined;
  /** The output that was not sent before the result. */
  rest: OutputChunk[];
}

export interface EvalResult {
  ok: boolean;
  json?: string | undefined;
  error?: string | undefined;
  timedOut: boolean;
  tookMs: number;
  rest: OutputChunk[];
}

/** Worker to server. */
export type FromInstance =
  /** `pid`: of the process itself, which must be the one that the server watches. */
  | { type: 'ready'; pid: number }
  | { type: 'opened' | 'pong' }
  | { type: 'started'; id: number }
  /** The script acts on the signal of an `abort`. */
  | { type: 'trapped'; id: number }
  | { type: 'output'; id: number; chunks: OutputChunk[] }
  | { type: 'executed'; id: number; result: ExecResult }
  | { type: 'evaluated'; id: number; result: EvalResult }
  | { type: 'progress'; id: number; progress: ComponentProgress }
  /** A question of the call `id`. */
  | { type: 'job'; id: number; question: number; request: ShellJobRequest }
  /** A request of the call `id` to the network; `null` gives it up. */
  | { type: 'fetch'; id: number; question: number; request: FetchRequest | null }
  | { type: 'called'; id: number; result: ComponentsResult }
  | { type: 'done'; id: number; result: unknown }
  | { type: 'failed'; id: number | null; failure: SerializedError }
  | { type: 'closed'; identity: string | null }
  /** What it holds, so that it must not be paused; null when nothing: then it has given memory back. */
  | { type: 'trimmed'; id: number; holds: string | null }
  /** Whether what runs in the background, between calls, keeps it awake. */
  | { type: 'holding'; isHeld: boolean };

type Fields = Record<string, unknown>;

/** A message of a worker with its known fields alone, or null when it is none. */
export function parseFromInstance(raw: unknown): FromInstance | null {
  if (!isFields(raw)) return null;
  const { type, id } = raw;
  switch (type) {
    case 'ready':
      return isId(raw.pid) ? { type, pid: raw.pid } : null;
    case 'opened':
    case 'pong':
      return { type };
    case 'started':
    case 'trapped':
      return isId(id) ? { type, id } : null;
    case 'output': {
      const chunks = parseChunks(raw.chunks);
      return isId(id) && chunks !== null ? { type, id, chunks } : null;
    }
    case 'executed': {
      const result = parseExecResult(raw.result);
      return isId(id) && result !== null ? { type, id, result } : null;
    }
    case 'evaluated': {
      const result = parseEvalResult(raw.result);
      return isId(id) && result !== null ? { type, id, result } : null;
    }
    case 'progress': {
      const progress = parseComponentProgress(raw.progress);
      return isId(id) && progress !== null ? { type, id, progress } : null;
    }
    case 'job': {
      const request = parseShellJobRequest(raw.request);
      const { question } = raw;
      return isId(id) && isId(question) && request !== null ? { type, id, question, request } : null;
    }
    case 'fetch': {
      const request = raw.request === null ? null : parseFetchRequest(raw.request);
      const { question } = raw;
      const isRequest = raw.request === null || request !== null;
      return isId(id) && isId(question) && isRequest ? { type, id, question, request } : null;
    }
    case 'called': {
      const result = parseComponentsResult(raw.result);
      return isId(id) && result !== null ? { type, id, result } : null;
    }
    case 'done':
      // Of all others only known fields are taken.
      return isId(id) && !isDeepValue(raw.result) ? { type, id, result: raw.result } : null;
    case 'failed': {
      const { failure } = raw;
      return (id === null || isId(id)) && isSerializedError(failure) ? { type, id, failure } : null;
    }
    case 'closed': {
      const { identity } = raw;
      const isIdentity = typeof identity === 'string' && identity.length <= MAX_IDENTITY_LENGTH;
      return isIdentity || identity === null ? { type, identity } : null;
    }
    case 'trimmed': {
      const { holds } = raw;
      const isHeld = typeof holds === 'string' && holds.length <= MAX_HOLDS_LENGTH;
      return isId(id) && (isHeld || holds === null) ? { type, id, holds } : null;
    }
    case 'holding':
      return typeof raw.isHeld === 'boolean' ? { type, isHeld: raw.isHeld } : null;
    default:
      return null;
  }
}

function parseExecResult(value: unknown): ExecResult | null {
  if (!isFields(value)) return null;
  const { exitCode, cwd, timedOut, truncated, tookMs, kept } = value;
  const rest = parseChunks(value.rest);
  if (rest === null || !Number.isSafeInteger(exitCode) || typeof cwd !== 'string' || cwd.length > MAX_CWD_LENGTH)
    return null;
  if (typeof timedOut !== 'boolean' || typeof truncated !== 'boolean' || !Number.isFinite(tookMs)) return null;
  if (!isTextOrAbsent(kept, MAX_KEPT_LENGTH)) return null;
  const result: ExecResult = { exitCode: exitCode as number, cwd, timedOut, truncated, tookMs: tookMs as number, rest };
  if (kept !== undefined) result.kept = kept;
  return result;
}

function parseEvalResult(value: unknown): EvalResult | null {
  if (!isFields(value)) return null;
  const { ok, json, error, timedOut, tookMs } = value;
  const rest = parseChunks(value.rest);
  if (rest === null || typeof ok !== 'boolean') return null;
  if (!isTextOrAbsent(json, MAX_VALUE_LENGTH) || !isTextOrAbsent(error, MAX_ERROR_LENGTH)) return null;
  if (typeof timedOut !== 'boolean' || !Number.isFinite(tookMs)) return null;
  const result: EvalResult = { ok, timedOut, tookMs: tookMs as number, rest };
  if (json !== undefined) result.json = json;
  if (error !== undefined) result.error = error;
  return result;
}

function parseChunks(value: unknown): OutputChunk[] | null {
  if (!Array.isArray(value) || value.length > MAX_CHUNKS) return null;
  const chunks: OutputChunk[] = [];
  // By index: an array with holes has fewer entries than its length.
  for (let at = 0; at < value.length; at += 1) {
    const chunk: unknown = value[at];
    if (!isFields(chunk)) return null;
    const { stream, text, skipped } = chunk;
    if (stream !== 'stdout' && stream !== 'stderr') return null;
    if (typeof text !== 'string' || text.length > MAX_STREAM_BYTES) return null;
    if (skipped === undefined) chunks.push({ stream, text });
    else if (isId(skipped)) chunks.push({ stream, text, skipped });
    else return null;
  }
  return chunks;
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTextOrAbsent(value: unknown, longest: number): value is string | undefined {
  return value === undefined || (typeof value === 'string' && value.length <= longest);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
