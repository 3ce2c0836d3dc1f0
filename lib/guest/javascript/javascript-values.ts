/**
 * Values that leave QuickJS: settling promises, describing what was thrown, and the largest value that may leave. Knows
 * nothing of what the code is.
 */
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten';
import { isHeavyJson } from '../../base/json-weight.ts';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import { MAX_STREAM_BYTES } from '../../workers/protocol/output.ts';
import type { JavaScriptBridge } from './javascript-bridge.ts';

/** Maximum length of a result as JSON: that of a stream. */
const MAX_VALUE_BYTES = MAX_STREAM_BYTES;
const MAX_ERROR_CHARACTERS = 64 * 1024;

export type JavaScriptResult =
  /** `json` is the last expression; undefined when JSON cannot represent it. */
  { ok: true; json: string | undefined } | { ok: false; error: string; timedOut: boolean };

interface Deadline {
  /** In milliseconds of `monotonicMs`. */
  deadline: number;
}

/** Why the JSON of a value is too large for the server; null when it is not. */
export function excessOf(json: string): string | null {
  const bytes = Buffer.from(json);
  if (bytes.length > MAX_VALUE_BYTES) return `more than ${MAX_VALUE_BYTES} bytes of JSON`;
  return isHeavyJson(bytes) ? 'too many values, or too many in each other' : null;
}

/** Runs the guest's pending jobs until its value is settled, if that is a promise. */
export function settleValue(
  context: QuickJSContext,
  runtime: QuickJSRuntime,
  bridge: JavaScriptBridge,
  value: QuickJSHandle,
  { deadline }: Deadline,
): { value: QuickJSHandle } | JavaScriptResult {
  const jobs = runtime.executePendingJobs();
  if (jobs.error) {
    value.dispose();
    return failedResult(context, bridge, jobs.error, { deadline });
  }
  jobs.dispose();
  const state = context.getPromiseState(value);
  if (state.type === 'fulfilled') {
    if (!state.notAPromise) value.dispose();
    return { value: state.value };
  }
  value.dispose();
  if (state.type === 'rejected') return failedResult(context, bridge, state.error, { deadline });
  // A job that was interrupted leaves its promise pending, like a promise that nothing settles.
  if (monotonicMs() > deadline) return { ok: false, error: 'InternalError: interrupted', timedOut: true };
  return { ok: false, error: 'The value is a promise that nothing settles.', timedOut: false };
}

export function failedResult(
  context: QuickJSContext,
  bridge: JavaScriptBridge,
  handle: QuickJSHandle,
  { deadline }: Deadline,
): JavaScriptResult {
  const timedOut = monotonicMs() > deadline;
  const error = handle.consume((thrown) => describeThrown(context, bridge, thrown));
  const long = error.length > MAX_ERROR_CHARACTERS;
  return { ok: false, error: long ? `${error.slice(0, MAX_ERROR_CHARACTERS)} … (cut)` : error, timedOut };
}

/** The message of a thrown value. */
function describeThrown(context: QuickJSContext, bridge: JavaScriptBridge, thrown: QuickJSHandle): string {
  if (context.typeof(thrown) === 'string') return `Uncaught ${bridge.text(thrown)}`;
  const dumped: unknown = context.dump(thrown);
  if (typeof dumped !== 'object' || dumped === null) return `Uncaught ${String(dumped)}`;
  const { name, message, stack } = dumped as { name?: unknown; message?: unknown; stack?: unknown };
  if (name === undefined && message === undefined && stack === undefined) return `Uncaught ${JSON.stringify(dumped)}`;
  const title = `${name ?? 'Error'}: ${message ?? ''}`;
  // The stack begins with the same, or with what it was when the program asked for it.
  const [, frames = ''] = /(?:^|\n)( {4}at .*)$/s.exec(String(stack ?? '').trimEnd()) ?? [];
  return frames === '' ? title : `${title}\n${frames}`;
}
