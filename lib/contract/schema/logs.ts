/** Contract schemas of logs: the lines that calls in a sandbox printed. Safe for the browser. */
import { z } from 'zod';
import { LOG_LEVELS, LOG_SOURCES, LOG_STREAMS } from '../../logs/log-line.ts';
import { slugSchema } from './ids.ts';

/** The end of the year 9999. */
const LAST_SECOND = 253_402_300_799;

const seconds = z.coerce.number<number | string>().min(0).max(LAST_SECOND);

export const logsQuerySchema = z.strictObject({
  since: seconds.optional().meta({ description: 'Lines from then on, in seconds since the epoch' }),
  until: seconds.optional().meta({ description: 'Lines up to then, in seconds since the epoch' }),
  level: z.enum(LOG_LEVELS).optional().meta({ description: 'Lines of this level and of those above it' }),
  source: z.enum(LOG_SOURCES).optional().meta({ description: 'Lines that this printed' }),
  q: z.string().min(1).max(500).optional().meta({ description: 'Lines with this text in them, in any case' }),
  request_id: z.string().min(1).max(200).optional().meta({ description: 'Lines that this request printed' }),
  follow: z.enum(['0', '1']).optional().meta({
    description: '`1`: an event stream, as with `Accept: text/event-stream`, that first has the newest lines',
  }),
  limit: z.coerce.number<number | string>().int().min(1).max(1000).default(100),
  cursor: z.coerce.number<number | string>().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  reason: z.string().trim().max(1000).optional().meta({ description: 'Why; the ledger keeps it. Support needs one' }),
});
export type LogsQuery = z.infer<typeof logsQuerySchema>;

export const printedLineSchema = z
  .object({
    seq: z.int().min(0).meta({ description: 'Grows from line to line; the place of a line in its log' }),
    time_ms: z.int().min(0).meta({ description: 'When it was printed, in milliseconds since the epoch' }),
    instance: slugSchema,
    source: z.enum(LOG_SOURCES).meta({ description: '`log`: the log itself, of lines that it lacks' }),
    stream: z.enum(LOG_STREAMS).meta({ description: '`log`: what a component logged' }),
    level: z.enum(LOG_LEVELS).meta({
      description: 'What the line says itself at its beginning; else `warn` of stderr, and `info`',
    }),
    text: z.string().meta({
      description: 'Without control characters. A line of more than 8192 characters is several. Secrets are asterisks',
    }),
    request_id: z.string().nullable().meta({
      description: 'The request that caused it: the same as that of its lines in the ledger',
    }),
  })
  .meta({ id: 'PrintedLine' });
export type PrintedLine = z.infer<typeof printedLineSchema>;
