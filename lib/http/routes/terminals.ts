/** Routes of terminals that the server keeps. */
import { z } from 'zod';
import {
  completionQuerySchema,
  completionSchema,
  sandboxRunSchema,
  terminalEventSchema,
  terminalLineSchema,
  terminalSchema,
} from '../../contract/schema.ts';
import { empty, eventStream, json } from '../answer.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route } from '../route.ts';
import { streamTerminal } from '../terminal-stream.ts';
import { parse } from '../validate.ts';
import { idParams } from './instances.ts';

const tag = 'Terminals';
const params = idParams.extend({ terminal: z.string().min(1).max(100) });
const lastEventIdSchema = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const one = { description: 'The terminal', schema: terminalSchema };

export const terminalRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/instances/:id/terminals',
    operation: 'listTerminals',
    summary:
      'Lists the terminals of an instance: the open ones, and the last ones that ended, with the reason. They are in memory: a restart of the server ends them.',
    tag,
    params: idParams,
    answers: { 200: { description: 'The terminals', schema: z.array(terminalSchema) } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/terminals',
    operation: 'openTerminal',
    summary: 'Opens a terminal. Wakes nothing.',
    tag,
    params: idParams,
    answers: { 201: { ...one, headers: { Location: 'Its address' } } },
    answer: (terminal, { path }) => json(201, terminal, { location: `${path}/${terminal.id}` }),
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/terminals/:terminal',
    operation: 'closeTerminal',
    summary: 'Closes a terminal with its scrollback, and stops the line that runs in it.',
    tag,
    params,
    answers: { 204: { description: 'It is closed' } },
  }),
  customRoute({
    method: 'GET',
    path: '/instances/:id/terminals/:terminal/stream',
    operation: 'showTerminal',
    name: 'streamTerminal',
    summary:
      'Shows a terminal: first what stands in it, then what happens, as server-sent events (`line`, `waits`, `woke`, `stdout`, `stderr`, `gap`, `refused`, `exit`, `note`, `clear`, and at last `gone`). `Last-Event-ID` goes on after that entry. As long as a stream is open, and for a minute after the last one, the terminal counts as shown: one that is used holds its instance awake.',
    tag,
    params,
    headers: { 'Last-Event-ID': 'Begin after this entry' },
    answers: { 200: { description: 'Events', mediaType: 'text/event-stream', schema: terminalEventSchema } },
    async handle({ services, caller, params: names, header, head }) {
      const reader = await services.operations.showTerminal(caller, names.id, names.terminal);
      if (head) return empty(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      const sent = header('last-event-id');
      const after = sent === null || sent === '' ? 0 : parse(lastEventIdSchema, sent, 'Last-Event-ID');
      return eventStream((sink) => void streamTerminal(reader, after, sink, caller.requestId));
    },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/terminals/:terminal/lines',
    operation: 'typeInTerminal',
    summary:
      'Runs a line in a terminal, in the directory that the one before left, as a run. One line runs at a time: `conflict` meanwhile.',
    tag,
    params,
    body: terminalLineSchema,
    answers: { 202: { description: 'Its run', schema: sandboxRunSchema } },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/terminals/:terminal/interrupt',
    operation: 'interruptTerminal',
    summary: 'Stops the line that runs in a terminal.',
    tag,
    params,
    answers: { 200: one },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/terminals/:terminal/clear',
    operation: 'clearTerminal',
    summary: 'Removes the scrollback of a terminal, for everybody who shows it. A line that runs goes on and stays.',
    tag,
    params,
    answers: { 200: one },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/complete',
    operation: 'completeLine',
    summary:
      'Says how a line of shell may go on: with commands where one begins, else with paths. Reads the file where it rests, and wakes nothing.',
    tag,
    params: idParams,
    body: completionQuerySchema,
    answers: { 200: { description: 'The names', schema: completionSchema } },
  }),
];
