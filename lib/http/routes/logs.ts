/** Routes of logs: what calls in sandboxes printed, of one sandbox and of a tenant. */
import { z } from 'zod';
import { type LogsQuery, logsQuerySchema, printedLineSchema, slugSchema } from '../../contract/schema.ts';
import type { LogPage } from '../../operations/logs.ts';
import { type Answer, empty, eventStream, json } from '../answer.ts';
import { acceptsEvents } from '../call-stream.ts';
import { streamLog } from '../log-stream.ts';
import { listAnswer } from '../operation-route.ts';
import { nextLink } from '../paging.ts';
import { customRoute, type Route, type RouteContext } from '../route.ts';
import { parse } from '../validate.ts';
import { idParams } from './instances.ts';

const tenantParams = z.strictObject({ tenant: slugSchema });
const lastEventIdSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const page = listAnswer('A page of lines', printedLineSchema);
const answers = {
  200: {
    ...page,
    headers: { ...page.headers, 'X-Log-Dropped': 'Lines that could not be kept since the start of the server' },
    orMediaType: 'text/event-stream',
  },
};
const headers = { 'Last-Event-ID': 'Follow from after this line on' };

/** Answers with a page, or follows it. */
async function answerOf(
  context: RouteContext<unknown, LogsQuery>,
  read: (query: LogsQuery, after: number | null) => Promise<LogPage>,
): Promise<Answer> {
  const { query, header, head, path, search } = context;
  if (query.follow !== '1' && !acceptsEvents(context)) {
    const { items, next, dropped } = await read({ ...query, follow: undefined }, null);
    return json(200, items, { ...nextLink(path, search, next), 'x-log-dropped': String(dropped) });
  }
  const { cursor, ...rest } = query;
  const sent = header('last-event-id') ?? '';
  const after = sent === '' ? (cursor ?? null) : parse(lastEventIdSchema, sent, 'Last-Event-ID');
  if (head) {
    await read({ ...rest, limit: 1 }, after);
    return empty(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  }
  const begun = await read({ ...rest, follow: '1' }, after);
  const { feed } = begun;
  if (feed === null) return json(200, begun.items);
  return eventStream((sink) => void streamLog(begun, feed, after !== null, sink));
}

export const logRoutes: Route[] = [
  customRoute({
    method: 'GET',
    path: '/instances/:id/logs',
    operation: 'instanceLogs',
    name: 'listInstanceLogs',
    summary:
      'Reads what calls, runs, terminals, schedules and components printed in an instance, the newest line first. Wakes nothing. With `follow=1` or `Accept: text/event-stream` it follows: events `line`, the oldest first, and `gap` where lines are missing; `Last-Event-ID`, or `cursor`, goes on after that line. Support needs a `reason`, which the ledger keeps.',
    tag: 'Runs',
    params: idParams,
    query: logsQuerySchema,
    headers,
    answers,
    handle: (context) =>
      answerOf(context, (query, after) =>
        context.services.operations.instanceLogs(context.caller, context.params.id, query, after),
      ),
  }),
  customRoute({
    method: 'GET',
    path: '/tenants/:tenant/logs',
    operation: 'tenantLogs',
    name: 'listTenantLogs',
    summary: 'Reads, or follows, the same of all instances of a tenant together.',
    tag: 'Tenants',
    params: tenantParams,
    query: logsQuerySchema,
    headers,
    answers,
    handle: (context) =>
      answerOf(context, (query, after) =>
        context.services.operations.tenantLogs(context.caller, context.params.tenant, query, after),
      ),
  }),
];
