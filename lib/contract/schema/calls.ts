/** Contract schemas of running something in a sandbox: commands and code. Safe for the browser. */
import { z } from 'zod';
import { MAX_STDIN_BYTES } from '../../client/limits.ts';
import { THERMALS } from '../../lifecycle/words.ts';

const thermalSchema = z.enum(THERMALS);
const COMMAND_LENGTH = 1024 * 1024;
/** As much as `WB_MAX_CALL_MS` may be, in milliseconds. */
export const MOST_CALL_MS = 3_600_000;
const timeoutSchema = z.int().min(1).max(MOST_CALL_MS).optional().meta({
  description:
    'Milliseconds from its turn on. Default: 60 000, with the policies `compute` and `minimal` 5 000. More is refused than `WB_MAX_CALL_MS` and the policy (60 000 with those two) allow, in whose place `max_call_s` of the tenant or of the key may stand.',
});
/** What a tenant or a key may have in place of its policy. Everybody may ask for a minute. */
export const longestCallSchema = z
  .int()
  .min(60)
  .max(MOST_CALL_MS / 1000)
  .meta({
    description:
      'Seconds that a call may ask for at most, in place of what the policy allows; `WB_MAX_CALL_MS` holds all the same.',
  });
/** Half of a surrogate pair has no UTF-8: it would be sent as another character. */
const unicode = z
  .string()
  .refine((text) => text.isWellFormed(), 'must be whole characters: half a surrogate pair is none');
const base64 = z
  .string()
  .max(Math.ceil(MAX_STDIN_BYTES / 3) * 4, `must be at most ${MAX_STDIN_BYTES} bytes in base64`)
  .refine((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), {
    message: 'must be base64 (RFC 4648, padded, without line breaks)',
  });
const encodingSchema = z.literal('base64').meta({
  description: 'Asks for stdout and stderr in base64, whatever they hold.',
});

export const execSchema = z
  .strictObject({
    command: unicode.max(COMMAND_LENGTH),
    cwd: unicode.max(1100).optional(),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), unicode.max(65_536)).optional(),
    stdin: unicode.max(MAX_STDIN_BYTES).optional().meta({ description: 'Text for its stdin, in UTF-8.' }),
    stdin_base64: base64.optional().meta({
      description: `Any bytes for its stdin, at most ${MAX_STDIN_BYTES}. Instead of \`stdin\`.`,
    }),
    encoding: encodingSchema.optional(),
    timeout_ms: timeoutSchema,
  })
  .refine(({ stdin, stdin_base64 }) => stdin === undefined || stdin_base64 === undefined, {
    path: ['stdin_base64'],
    message: 'cannot be given together with stdin: send the input as one of them',
  });
export type ExecInput = z.infer<typeof execSchema>;

/** Output: text, or base64 when it is asked for or the output is no UTF-8. */
const outputs = {
  stdout: z.string(),
  stderr: z.string(),
  stdout_encoding: z.literal('base64').optional().meta({
    description: 'There when `stdout` is in base64: it was asked for, or it is no UTF-8. Without it `stdout` is text.',
  }),
  stderr_encoding: z.literal('base64').optional().meta({ description: 'As `stdout_encoding`, of `stderr`.' }),
};

export const execAnswerSchema = z.object({
  exit_code: z.int(),
  ...outputs,
  cwd: z.string(),
  timed_out: z.boolean(),
  truncated: z.boolean(),
  took_ms: z.number(),
  woke: thermalSchema,
});
export type ExecAnswer = z.infer<typeof execAnswerSchema>;

export const evalSchema = z.strictObject({
  language: z.enum(['js', 'python']),
  code: unicode.max(COMMAND_LENGTH),
  encoding: encodingSchema.optional(),
  timeout_ms: timeoutSchema,
});
export type EvalInput = z.infer<typeof evalSchema>;

export const evalAnswerSchema = z.object({
  ok: z.boolean(),
  value: z.unknown().optional(),
  ...outputs,
  error: z.string().optional(),
  timed_out: z.boolean(),
  took_ms: z.number(),
  woke: thermalSchema,
});
export type EvalAnswer = z.infer<typeof evalAnswerSchema>;
