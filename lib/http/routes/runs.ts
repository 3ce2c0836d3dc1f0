/** Routes of runs: commands that outlive the request that began them. */
import { z } from 'zod';
import {
  runOutputQuerySchema,
  runOutputSchema,
  runsQuerySchema,
  sandboxRunSchema,
  startRunSchema,
} from '../../contract/schema.ts';
import { empty, eventStream, json } from '../answer.ts';
import { acceptsEvents } from '../call-stream.ts';
import { listAnswer, route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { streamRun } from '../run-stream.ts';
import { parse } from '../validate.ts';
import { idParams } from './instances.ts';

const tag = 'Runs';
const params = idParams.extend({ run: z.string().min(1).max(100) });
const lastEventIdSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const one = { 200: { description: 'The run', schema: sandboxRunSchema } };

export const runRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/instances/:id/runs',
    operation: 'startRun',
    summary:
      'Begins a shell script that outlives this request, and answers when that is recorded. It wakes a sleeping instance, takes its turn among the calls, and counts as one: it is activity, and filing waits for it, or ends it. After a restart of the server it is `lost`.',
    tag,
    params: idParams,
    body: startRunSchema,
    answers: {
      202: { description: 'The run', schema: sandboxRunSchema, headers: { Location: 'Its address' } },
    },
    answer: (run, { path }) => json(202, run, { location: `${path}/${run.id}` }),
  }),
  route({
    method: 'GET',
    path: '/instances/:id/runs',
    operation: 'listRuns',
    summary: 'Lists the runs of an instance, newest first: those under way, and as many ended ones as it keeps.',
    tag,
    params: idParams,
    query: runsQuerySchema,
    answers: { 200: listAnswer('A page of runs', sandboxRunSchema) },
  }),
  route({
    method: 'GET',
    path: '/instances/:id/runs/:run',
    operation: 'getRun',
    summary: 'Shows a run: whether it is under way, or how it ended.',
    tag,
    params,
    answers: one,
  }),
  customRoute({
    method: 'GET',
    path: '/instances/:id/runs/:run/output',
    operation: 'runOutput',
    name: 'getRunOutput',
    summary:
      'Reads the output of a run so far. The server keeps the newest part of it in memory; `dropped` says what is missing. Offsets count the bytes of both outputs together. With `Accept: text/event-stream` it follows the run: events `run` as its state changes, `stdout` and `stderr`, `gap` for what is no longer there, and at last `exit`. The id of an event is the offset after it: `Last-Event-ID` goes on at exactly that byte. Closing the connection does not stop the run.',
    tag,
    params,
    query: runOutputQuerySchema,
    headers: { 'Last-Event-ID': 'Follow from this offset on' },
    answers: { 200: { description: 'The output', schema: runOutputSchema, orMediaType: 'text/event-stream' } },
    async handle(context) {
      const { services, caller, params: names, query, header, head } = context;
      const reader = await services.operations.runOutput(caller, names.id, names.run);
      const sent = header('last-event-id');
      const offset =
        sent === null || sent === '' ? (query.offset ?? 0) : parse(lastEventIdSchema, sent, 'Last-Event-ID');
      if (!acceptsEvents(context)) return json(200, { run: reader.run(), ...reader.read(offset, query.limit) });
      if (head) return empty(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      reader.requirePlace();
      return eventStream((sink) => void streamRun(reader, offset, sink, caller.requestId));
    },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/runs/:run/stop',
    operation: 'stopRun',
    summary:
      'Stops a run, and answers with its end, or, when that takes longer than three seconds, without. What its commands wrote until then stays. One that has ended stays as it is.',
    tag,
    params,
    answers: one,
  }),
];
