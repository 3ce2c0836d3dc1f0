/** The words of the contract about running something in a sandbox: commands and code. Safe for the browser. */
import { z } from 'zod';
import { THERMALS } from '../../lifecycle/words.ts';

const thermalSchema = z.enum(THERMALS);
const COMMAND_LENGTH = 1024 * 1024;
const timeoutSchema = z.int().min(1).max(600_000);

export const execSchema = z.strictObject({
  command: z.string().max(COMMAND_LENGTH),
  cwd: z.string().max(1100).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(65_536)).optional(),
  stdin: z.string().max(COMMAND_LENGTH).optional(),
  timeout_ms: timeoutSchema.optional(),
});
export type ExecInput = z.infer<typeof execSchema>;

export const execAnswerSchema = z.object({
  exit_code: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  cwd: z.string(),
  timed_out: z.boolean(),
  truncated: z.boolean(),
  took_ms: z.number(),
  woke: thermalSchema,
});
export type ExecAnswer = z.infer<typeof execAnswerSchema>;

export const evalSchema = z.strictObject({
  language: z.enum(['js', 'python']),
  code: z.string().max(COMMAND_LENGTH),
  timeout_ms: timeoutSchema.optional(),
});
export type EvalInput = z.infer<typeof evalSchema>;

export const evalAnswerSchema = z.object({
  ok: z.boolean(),
  value: z.unknown().optional(),
  stdout: z.string(),
  stderr: z.string(),
  error: z.string().optional(),
  timed_out: z.boolean(),
  took_ms: z.number(),
  woke: thermalSchema,
});
export type EvalAnswer = z.infer<typeof evalAnswerSchema>;
