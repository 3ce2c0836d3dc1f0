/** What happened to a session, as clients of Ash read it: lines of the ledger as events and as lines of a log. */
import { z } from 'zod';
import type { Event, Instance } from '../../contract/schema.ts';
import { json } from '../answer.ts';
import type { Route, RouteContext } from '../route.ts';
import { sessionIdOf, uuidFor } from './session-id.ts';
import { MAX_ROWS, ROWS_A_READ, sessionParams, sessionRoute } from './session-route.ts';

/** The types that their clients know; what else happens in a conversation is not in the ledger. */
const TYPES = ['lifecycle', 'error'] as const;
type Type = (typeof TYPES)[number];

const eventsSchema = z.strictObject({
  limit: z.coerce.number<string>().int().min(1).max(1_000).default(200),
  after: z.coerce.number<string>().int().min(0).default(0),
  type: z.string().max(100).optional(),
});
// They ask for all lines with -1.
const logsSchema = z.strictObject({ after: z.coerce.number<string>().int().min(-1).default(-1) });

/** Words for a state that was reached, or for the type of a line; where there is none, the type says enough. */
const ACTIONS: Readonly<Record<string, string>> = {
  created: 'created',
  active: 'resumed',
  suspended: 'paused',
  frozen: 'paused',
  archived: 'stopped',
  deleted: 'ended',
  'thermal.warm': 'paused',
};

const typeOf = ({ error }: Event): Type => (error === null ? 'lifecycle' : 'error');
const isOfType = (event: Event, type: string | undefined) =>
  type === undefined || typeOf(event) === type || event.type === type;

/** The lines of the ledger about a session, ended or not, oldest first: of its last `MAX_ROWS`. */
async function linesOf(
  { services, caller, params }: Pick<RouteContext<{ id: Instance['id'] }>, 'services' | 'caller' | 'params'>,
  { after, type, limit }: { after: number; type?: string | undefined; limit: number },
): Promise<Event[]> {
  const found: Event[] = [];
  let cursor: string | undefined;
  for (let read = 0; read < MAX_ROWS; read += ROWS_A_READ) {
    const ask = { limit: ROWS_A_READ, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await services.operations.instanceEvents(caller, params.id, ask, { deleted: true });
    found.push(...items.filter((event) => event.seq > after && isOfType(event, type)));
    if (next === null || items.some(({ seq }) => seq <= after)) break;
    cursor = next;
  }
  return found.reverse().slice(0, limit);
}

/** A line of the ledger as a line of a log. What scripts print is not in it: that is in their answers. */
function lineOf({ type, from, to, reason, error }: Event): string {
  const move = from === null || to === null ? type : `${from} → ${to}`;
  return [move, reason, error].filter((part) => part !== null && part !== undefined).join(': ');
}

function eventOf(event: Event, id: Instance['id']) {
  const { seq, type, from, to, reason, error, time_ms: time } = event;
  return {
    id: uuidFor(`line ${seq} of the ledger`),
    sessionId: sessionIdOf(id),
    type: typeOf(event),
    data: JSON.stringify({ action: ACTIONS[to ?? type] ?? type, type, from, to, reason, error }),
    sequence: seq,
    createdAt: new Date(time).toISOString(),
  };
}

export const EVENT_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/events',
    operation: 'instanceEvents',
    params: sessionParams,
    query: eventsSchema,
    async handle(context) {
      const lines = await linesOf(context, context.query);
      return json(200, { events: lines.map((event) => eventOf(event, context.params.id)) });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/logs',
    operation: 'instanceEvents',
    params: sessionParams,
    query: logsSchema,
    async handle(context) {
      const lines = await linesOf(context, { ...context.query, limit: MAX_ROWS });
      const logs = lines.map((event) => ({
        index: event.seq,
        level: 'system',
        text: lineOf(event),
        ts: new Date(event.time_ms).toISOString(),
      }));
      return json(200, { logs, source: 'ledger' });
    },
  }),
];
