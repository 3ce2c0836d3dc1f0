/** Routes of the ledger: pages of it, and its stream. */
import { z } from 'zod';
import { eventSchema, eventsQuerySchema, instanceEventsQuerySchema, streamQuerySchema } from '../../contract/schema.ts';
import { eventStream } from '../answer.ts';
import { streamLedger } from '../ledger-stream.ts';
import { listAnswer, route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { parse } from '../validate.ts';
import { idParams } from './instances.ts';

const tag = 'Events';
const page = { 200: listAnswer('A page of events, newest first', eventSchema) };
const lastEventIdSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

export const eventRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/events',
    operation: 'instanceEvents',
    name: 'listInstanceEvents',
    summary: 'Lists what happened to an instance, newest first.',
    tag,
    params: idParams,
    query: instanceEventsQuerySchema,
    answers: page,
  }),
  route({
    method: 'GET',
    path: '/events',
    operation: 'events',
    name: 'listEvents',
    summary:
      'Lists what happened, newest first. A refusal that repeats is its first line, then one line now and then with how often, since when and when last.',
    tag,
    query: eventsQuerySchema,
    answers: page,
  }),
  customRoute({
    method: 'GET',
    path: '/events/stream',
    operation: 'followEvents',
    name: 'streamEvents',
    summary:
      'Streams the ledger as it grows (server-sent events; `id` is the sequence number). `Last-Event-ID`, or the query `last_event_id` where a header cannot be set, resumes after that line. `with=changes` also sends, as events `changes`, the rows and counts that lines are about as they are now, and how far the jobs and the starts of what was made are, at most twice a second; as events `beat`, every 15 s, how far it told; and as an event `gap` that lines were passed over because there were too many or they were dropped: then read everything again. When the key or the session ends, the last event is `error` with the problem `unauthorized`; when its rights change, with `forbidden`: then follow again.',
    tag,
    query: streamQuerySchema,
    headers: { 'Last-Event-ID': 'Begin after the line with this sequence number' },
    answers: { 200: { description: 'Events', mediaType: 'text/event-stream', schema: eventSchema } },
    async handle({ services, caller, query, header, head }) {
      const { last_event_id: fromQuery, with: more, ...filters } = query;
      const sent = header('last-event-id');
      const after = sent === null || sent === '' ? fromQuery : parse(lastEventIdSchema, sent, 'Last-Event-ID');
      services.events.requirePlace(caller.actor);
      const { filter, tenants } = await services.operations.followEvents(caller, filters);
      return eventStream((sink) => {
        if (head) return sink.end();
        streamLedger({ services, caller, filter, tenants, after: after ?? null, changes: more === 'changes', sink });
      });
    },
  }),
];
