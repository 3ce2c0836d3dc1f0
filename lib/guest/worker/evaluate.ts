/**
 * `eval`: runs one piece of JavaScript or Python, and returns its value and output.
 */

import type { Run } from '../../workers/protocol/call.ts';
import { MAX_STREAM_BYTES } from '../../workers/protocol/output.ts';
import type { PolicyProfile } from '../../workers/protocol/policies.ts';
import { maxGrowthBytes } from '../../workers/protocol/process-memory.ts';
import type { EvalCall, EvalResult } from '../../workers/protocol/protocol.ts';
import { runJavaScript } from '../javascript/javascript.ts';
import { escapeLoneSurrogates } from '../javascript/javascript-bridge.ts';
import { pythonSource } from '../python/python.ts';
import type { Shell } from '../shell/shell.ts';
import { vfsFunctions } from '../vfs-functions.ts';

const OUTPUT_TRUNCATED = `more than ${MAX_STREAM_BYTES} bytes were written to a stream, the rest was dropped`;

export interface EvalContext {
  shell: Shell;
  profile: PolicyProfile;
}

type EvalValue = Omit<EvalResult, 'tookMs' | 'rest'>;

/** Runs the code, and stops when `run` stops. Sends output to `run`. */
export async function evaluate(call: EvalCall, run: Run, context: EvalContext): Promise<EvalValue> {
  const result = await (call.language === 'js'
    ? evaluateJavaScript(call, run, context)
    : evaluatePython(call, run, context));
  if (!result.ok || !run.output.truncated) return result;
  return { ok: false, timedOut: result.timedOut, error: `RangeError: ${OUTPUT_TRUNCATED}` };
}

async function evaluateJavaScript(call: EvalCall, run: Run, { profile }: EvalContext): Promise<EvalValue> {
  const memory = { memoryBytes: profile.memoryBytes, growthBytes: maxGrowthBytes(profile) };
  const result = await runJavaScript({
    code: call.code,
    file: 'eval.js',
    ...memory,
    deadline: run.deadline,
    network: run,
    print: ({ stream, text }) => run.add(stream, Buffer.from(escapeLoneSurrogates(text))),
    write: (stream, bytes) => run.add(stream, bytes),
    values: { env: call.env ?? {} },
    ...(profile.capabilities.includes('vfs') && { vfs: vfsFunctions(() => run.files, memory) }),
  });
  if (!result.ok) return result;
  return { ok: true, timedOut: false, ...(result.json !== undefined && { json: result.json }) };
}

async function evaluatePython(call: EvalCall, run: Run, { shell }: EvalContext): Promise<EvalValue> {
  if (!call.code.isWellFormed()) {
    return {
      ok: false,
      timedOut: false,
      error: 'SyntaxError: the code holds half a surrogate pair, which UTF-8 cannot',
    };
  }
  const args = ['-c', pythonSource(call.code, 'eval.py', 'eval.py')];
  const { exitCode, timedOut } = await shell.exec({ command: 'python3', args, env: call.env }, run);
  if (exitCode === 0) return { ok: true, timedOut };
  const lastLine = run.output.stderrTail.trimEnd().split('\n').at(-1);
  return { ok: false, timedOut, error: lastLine?.toWellFormed() || `exit code ${exitCode}` };
}
