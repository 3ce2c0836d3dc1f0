/** The messages between the server and a parse process. The server checks each answer: the text may be hostile. */
import { z } from 'zod';
import { isSerializedError, type SerializedError } from '../base/serialized-error.ts';
import { PLAN_PROBLEMS } from './types.ts';

export interface ParseRequest {
  source: string;
}

/** What was read; the plan as JSON, which the server stores and rarely reads. */
const parsedSourceSchema = z.strictObject({
  title: z.string().max(200).nullable(),
  plan: z.string().nullable(),
  problems: z
    .array(
      z.strictObject({
        code: z.enum(PLAN_PROBLEMS),
        message: z.string(),
        mend: z.string(),
        line: z.int().min(1),
        column: z.int().min(1),
        name: z.string().optional(),
      }),
    )
    .max(2000),
  durable: z.array(z.string()),
  components: z.int().min(0),
  schedules: z.int().min(0),
});
export type ParsedSource = z.infer<typeof parsedSourceSchema>;

export type ParseMessage = { ready: true } | { parsed: ParsedSource } | { failure: SerializedError };

/** Throws for anything else. */
export function parseParseMessage(message: unknown): ParseMessage {
  const { ready, parsed, failure } = (message ?? {}) as Record<string, unknown>;
  if (ready === true) return { ready };
  if (failure !== undefined && isSerializedError(failure)) return { failure };
  return { parsed: parsedSourceSchema.parse(parsed) };
}
