/** The tool of what sandboxes printed. Who may read a run's output may use it; it wakes nothing. */
import { z } from 'zod';
import { logsQuerySchema, type PrintedLine } from '../../contract/schema.ts';
import { sandboxId } from './sandbox-tools.ts';
import { fitting, type McpTool, mcpTool, READ_HINTS } from './tool.ts';

const { level, source, q, reason } = logsQuerySchema.shape;

function lineText({ time_ms, source: by, level: at, text, request_id }: PrintedLine): string {
  return `${new Date(time_ms).toISOString()} ${by} ${at} ${request_id ?? '-'}  ${text}`;
}

export const logTools: readonly McpTool[] = [
  mcpTool({
    name: 'winterdock_read_log',
    title: 'Read a log',
    description:
      'Shows what ran earlier or by itself printed: the newest lines of commands, runs, terminals, schedules and components, the oldest first. `missing` counts what was not kept.',
    input: z.strictObject({
      id: sandboxId,
      search: q.describe('Lines with this text.'),
      level: level.describe('This level and those above.'),
      source: source.describe('What this printed.'),
      limit: z.int().min(1).max(1000).default(100).describe('Lines at the most.'),
      before: z.int().min(0).optional().describe('`next` of the answer before: older lines.'),
      reason: reason.describe('Why, for the ledger. Support needs one.'),
    }),
    operation: 'instanceLogs',
    hints: READ_HINTS,
    async run({ operations, caller }, { id, search, before, ...query }) {
      const page = await operations.instanceLogs(caller, id, { ...query, q: search, cursor: before });
      // Of more than one answer has room for the newest are shown; `next` goes on before them.
      const { items, cut } = fitting(page.items.map(lineText));
      const last = page.items[items.length - 1]?.seq ?? null;
      const next = cut > 0 ? last : page.next === null ? null : Number(page.next);
      return {
        facts: { lines: items.length, next, missing: page.dropped, texts: ['log'] },
        texts: [items.toReversed().join('\n')],
      };
    },
  }),
];
