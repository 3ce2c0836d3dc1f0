/** Contract schemas of terminals: scrollback, directory and running line kept by the server. Safe for the browser. */
import { z } from 'zod';
import { slugSchema } from './ids.ts';

const MAX_LINE = 256 * 1024;
const MAX_COMPLETED = 10_000;

const epoch = z.int().min(0).max(253_402_300_799);
const whole = z
  .string()
  .refine((text) => text.isWellFormed(), 'must be whole characters: half a surrogate pair is none');

export const terminalSchema = z
  .object({
    id: z.string(),
    instance: slugSchema,
    /** Counts the terminals of an instance, for people. */
    number: z.int().min(1),
    created: epoch,
    /** Null while it is open. */
    ended: epoch.nullable(),
    cwd: z.string(),
    /** The run of the line that runs. */
    run: z.string().nullable(),
    /** How many browsers show it. */
    shown: z.int().min(0),
    /** Why it went, with its scrollback; null while it is open. */
    gone: z.string().nullable(),
  })
  .meta({ id: 'Terminal' });
export type SandboxTerminal = z.infer<typeof terminalSchema>;

export const terminalLineSchema = z.strictObject({
  text: whole.min(1).max(MAX_LINE),
  language: z.enum(['shell', 'js', 'python']).default('shell'),
});
export type TerminalLineInput = z.infer<typeof terminalLineSchema>;

/** What happens in a terminal, as the events of its stream. */
export const terminalEventSchema = z.object({
  event: z.enum(['line', 'waits', 'woke', 'stdout', 'stderr', 'gap', 'refused', 'exit', 'note', 'clear', 'gone']),
  data: z.record(z.string(), z.unknown()),
});
export type TerminalEvent = z.infer<typeof terminalEventSchema>;

export const completionQuerySchema = z.strictObject({
  line: whole.max(MAX_COMPLETED).meta({ description: 'What stands before the cursor.' }),
  cwd: whole.max(1100).default('/workspace'),
});
export type CompletionInput = z.infer<typeof completionQuerySchema>;

/** `begin`: how much of the line the names replace. A folder ends with a slash. */
export const completionSchema = z
  .object({
    begin: z.string(),
    /** The quote that the word stands in, and that is still open. */
    quote: z.enum(['"', "'"]).nullable(),
    names: z.array(z.string()),
    truncated: z.boolean(),
  })
  .meta({ id: 'Completion' });
export type LineCompletion = z.infer<typeof completionSchema>;
