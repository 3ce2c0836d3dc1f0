/** Contract schemas of calls of components and workflows. Safe for the browser. */
import { z } from 'zod';
import { THERMALS } from '../../lifecycle/words.ts';
import { MOST_CALL_MS } from './calls.ts';

const COMPONENT_ERRORS = [
  'input',
  'output',
  'capability',
  'component',
  'timeout',
  'memory',
  'state',
  'dependency',
] as const;

const call = {
  input: z.record(z.string(), z.unknown()).optional().meta({ description: 'The inputs by their names.' }),
  timeout_ms: z.int().min(1).max(MOST_CALL_MS).optional().meta({
    description:
      'Milliseconds of the whole call; more than `WB_MAX_CALL_MS` is refused. One component has no more of it than an `exec` may ask for.',
  }),
};

export const componentCallSchema = z.strictObject(call);
export type ComponentCallInput = z.infer<typeof componentCallSchema>;

/** Without `world`: the only world of the workbook. */
export const workflowCallSchema = z.strictObject({ ...call, world: z.string().max(200).optional() });
export type WorkflowCallInput = z.infer<typeof workflowCallSchema>;

const componentErrorSchema = z.object({
  message: z.string(),
  component: z.string().optional(),
  kind: z.enum(COMPONENT_ERRORS),
});

const componentLogSchema = z.object({
  stream: z.enum(['stdout', 'stderr', 'log']),
  text: z.string(),
  component: z.string().optional(),
});

const outcome = {
  logs: z.array(componentLogSchema),
  timed_out: z.boolean(),
  took_ms: z.number(),
  woke: z.enum(THERMALS),
};

export const componentCallAnswerSchema = z
  .object({ output: z.unknown().optional(), error: componentErrorSchema.optional(), ...outcome })
  .meta({ id: 'ComponentCallAnswer' });
export type ComponentCallAnswer = z.infer<typeof componentCallAnswerSchema>;

export const workflowCallAnswerSchema = z
  .object({
    outputs: z.record(z.string(), z.unknown()),
    components: z.array(
      z.object({
        path: z.string(),
        state: z.enum(['done', 'failed', 'skipped']),
        output: z.unknown().optional(),
        error: componentErrorSchema.optional(),
        took_ms: z.number(),
        /** Why it was skipped. */
        because: z.string().optional(),
      }),
    ),
    ...outcome,
  })
  .meta({ id: 'WorkflowCallAnswer' });
export type WorkflowCallAnswer = z.infer<typeof workflowCallAnswerSchema>;
