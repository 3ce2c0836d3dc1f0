/** Contract schemas of runs: commands that outlive the request that began them. Safe for the browser. */

import { z } from 'zod';
import { THERMALS } from '../../lifecycle/words.ts';
import { actorNameSchema } from './actors.ts';
import { slugSchema } from './ids.ts';

/** Characters that a run may be given: command, variables and input together. They are in memory until its turn. */
const MAX_RUN_INPUT = 1024 * 1024;
const MAX_RUN_TIMEOUT_MS = 604_800_000;
const MAX_READ_BYTES = 1024 * 1024;

const epoch = z.int().min(0).max(253_402_300_799);
const offset = z.coerce.number<number | string>().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Half of a surrogate pair has no UTF-8: it would be sent as another character. */
const whole = z
  .string()
  .max(MAX_RUN_INPUT)
  .refine((text) => text.isWellFormed(), 'must be whole characters: half a surrogate pair is none');

const RUN_STATES = ['queued', 'running', 'done', 'stopped', 'failed', 'lost'] as const;

export const startRunSchema = z
  .strictObject({
    command: whole.min(1),
    cwd: whole.max(1100).optional(),
    env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), whole.max(65_536)).optional(),
    stdin: whole.optional().meta({ description: 'Text for its stdin, in UTF-8.' }),
    timeout_ms: z.int().min(1).max(MAX_RUN_TIMEOUT_MS).optional().meta({
      description:
        'Milliseconds from its turn on, at most `WB_MAX_RUN`, or `max_run_s` of the tenant. Without it, the time that the policy of the instance gives a call.',
    }),
  })
  .refine(
    ({ command, cwd, env, stdin }) =>
      [command, cwd ?? '', stdin ?? '', ...Object.entries(env ?? {}).flat()].reduce(
        (sum, text) => sum + text.length,
        0,
      ) <= MAX_RUN_INPUT,
    { path: ['command'], message: `must have, with env and stdin, at most ${MAX_RUN_INPUT} characters` },
  );
export type StartRunInput = z.infer<typeof startRunSchema>;

export const sandboxRunSchema = z
  .object({
    id: z.string(),
    instance: slugSchema,
    /** Its beginning, when it is long. */
    command: z.string(),
    language: z.enum(['shell', 'js', 'python']),
    cwd: z.string(),
    /** The terminal that it was typed into. */
    terminal: z.string().nullable(),
    /**
     * `queued` until its turn comes. `done`: it ended by itself, or its time ran out. `stopped`: somebody stopped it,
     * its instance was filed, or the server stopped. `failed`: it could not begin, or its process was lost. `lost`: the
     * server was killed under it.
     */
    state: z.enum(RUN_STATES),
    created: epoch,
    started: epoch.nullable(),
    ended: epoch.nullable(),
    took_ms: z.number().nullable(),
    exit_code: z.int().nullable(),
    timed_out: z.boolean(),
    /** Why it was stopped or failed. */
    reason: z.string().nullable(),
    woke: z.enum(THERMALS).nullable(),
    /** Bytes of both outputs so far, and where what is still there of them begins. */
    output_bytes: z.int().min(0),
    output_start: z.int().min(0),
    actor: z.string(),
    actor_name: actorNameSchema,
  })
  .meta({ id: 'Run' });
export type SandboxRun = z.infer<typeof sandboxRunSchema>;

export const runsQuerySchema = z.strictObject({
  limit: z.coerce.number<number | string>().int().min(1).max(500).default(100),
  cursor: z.string().max(1200).optional(),
});
export type RunsQuery = z.infer<typeof runsQuerySchema>;

export const runOutputQuerySchema = z.strictObject({
  offset: offset.optional().meta({ description: 'The byte to begin with, of both outputs together. Default: 0.' }),
  limit: z.coerce.number<number | string>().int().min(1).max(MAX_READ_BYTES).default(65_536).meta({
    description: 'Bytes of an answer, about. Not of a stream.',
  }),
});
export type RunOutputQuery = z.infer<typeof runOutputQuerySchema>;

export const runPieceSchema = z.object({
  stream: z.enum(['stdout', 'stderr']),
  offset: z.int().min(0),
  text: z.string(),
  encoding: z.literal('base64').optional().meta({ description: 'There when `text` is in base64, being no UTF-8.' }),
});
export type RunPiece = z.infer<typeof runPieceSchema>;

/** `dropped`: bytes from the asked offset on that are no longer there. `next`: the offset to go on at. */
export const runOutputSchema = z
  .object({
    run: sandboxRunSchema,
    pieces: z.array(runPieceSchema),
    dropped: z.int().min(0),
    next: z.int().min(0),
  })
  .meta({ id: 'RunOutput' });
export type RunOutput = z.infer<typeof runOutputSchema>;
