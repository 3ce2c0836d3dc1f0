/** Scripts whose input and outputs are bytes. Safe for the browser. */
import { fromBase64, toBase64 } from './base64.ts';
import type { CallLine, CallOptions } from './call.ts';
import type { Transport } from './transport.ts';
import type { ExecAnswer, ExecInput } from './types.ts';

/** What to run. `stdin` may be text or any bytes. */
export type ExecBytesInput = Omit<ExecInput, 'stdin' | 'stdin_base64' | 'encoding'> & {
  stdin?: string | Uint8Array;
};

/** Its result, with the outputs as bytes. */
export type ExecBytesAnswer = Omit<ExecAnswer, 'stdout' | 'stderr' | 'stdout_encoding' | 'stderr_encoding'> & {
  stdout: Uint8Array;
  stderr: Uint8Array;
};

/** The input as the contract has it. */
export function bodyOf({ stdin, ...input }: ExecBytesInput): ExecInput {
  if (stdin === undefined) return input;
  return typeof stdin === 'string' ? { ...input, stdin } : { ...input, stdin_base64: toBase64(stdin) };
}

/** Runs a script to its end and returns its outputs as bytes. Never retried. */
export async function execBytes(
  transport: Transport,
  line: CallLine,
  id: string,
  input: ExecBytesInput,
  options: CallOptions,
): Promise<ExecBytesAnswer> {
  const body = { ...bodyOf(input), encoding: 'base64' };
  const answer = await transport.answer({ line, parameters: [id], body, options });
  const { stdout, stderr, stdout_encoding: _, stderr_encoding: _2, ...rest } = answer as ExecAnswer;
  return { ...rest, stdout: fromBase64(stdout), stderr: fromBase64(stderr) };
}
