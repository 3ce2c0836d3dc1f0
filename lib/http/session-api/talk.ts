/** What a client of Ash says to an agent and reads of it: messages, and what happened. */
import { z } from 'zod';
import { isWinterdockError, publicMessage } from '../../base/errors.ts';
import type { Event, Instance } from '../../contract/schema.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import { type Answer, json } from '../answer.ts';
import { callAsStream } from '../call-stream.ts';
import type { Route, RouteContext } from '../route.ts';
import { outputOf, textOf } from './output.ts';
import { MODEL_LABEL, refused } from './session.ts';
import {
  MAX_ROWS,
  modelSchema,
  ongoing,
  ROWS_A_READ,
  sessionParams,
  sessionRoute,
  wholeText,
} from './session-route.ts';

/** The agent of a blueprint: a script in its workspace, which reads the message from its stdin. */
const AGENT_SCRIPT = '.agent.sh';
const MESSAGE_LENGTH = 1_000_000;

const messageSchema = z.looseObject({
  content: wholeText.min(1).max(MESSAGE_LENGTH),
  includePartialMessages: z.boolean().optional(),
  model: modelSchema.optional(),
});
const eventsSchema = z.strictObject({
  limit: z.coerce.number<string>().int().min(1).max(ROWS_A_READ).default(100),
  after: z.coerce.number<string>().int().min(0).default(0),
  type: z.string().max(100).optional(),
});

const logsSchema = eventsSchema.pick({ after: true });

type Talk = RouteContext<{ id: Instance['id'] }, unknown, z.output<typeof messageSchema>>;

/** The script of the agent, or null without one. */
async function agentScript({ services, caller, params }: Talk): Promise<string | null> {
  try {
    const { content } = await services.operations.file(
      caller,
      params.id,
      'workspace',
      parseVfsPath(`/${AGENT_SCRIPT}`),
    );
    return Buffer.from(content).toString('utf8');
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/**
 * Runs the agent and sends what it prints; then the whole, and `done`. `model` is its `ASH_MODEL`. The script is the
 * command itself, not a program that the command starts: output is sent as each command of the script ends.
 */
function say(context: Talk, command: string, model: string | undefined): Promise<Answer> {
  const { services, caller, params, body } = context;
  return callAsStream(context, async (send, signal) => {
    let begun = false;
    const env = model === undefined ? {} : { env: { ASH_MODEL: model } };
    // Whole lines: `while read` of a shell passes over a last one without its end.
    const stdin = body.content.endsWith('\n') ? body.content : `${body.content}\n`;
    const input = { command, stdin, ...env };
    try {
      const answer = await services.operations.exec(caller, params.id, input, {
        signal,
        // An agent asks models.
        isLongest: true,
        onOutput({ stream, ...piece }) {
          if (stream === 'stderr') return;
          begun = true;
          send('text_delta', { type: 'text_delta', delta: textOf(piece.text, piece.encoding) });
        },
      });
      const { stdout, stderr } = outputOf(answer);
      const content = [{ type: 'text', text: stdout }];
      send('message', { type: 'assistant', message: { role: 'assistant', content } });
      if (answer.exit_code !== 0 || answer.truncated) {
        send('error', { error: `The agent ended with ${answer.exit_code}: ${stderr.slice(-2_000)}` });
      }
    } catch (error) {
      if (!begun) throw error;
      send('error', { error: publicMessage(error) });
    }
    send('done', { sessionId: params.id });
  });
}

/** The lines of the ledger about a session, oldest first: at most `MAX_ROWS`. */
async function eventsOf({
  services,
  caller,
  params,
  query,
}: RouteContext<{ id: Instance['id'] }, z.output<typeof eventsSchema>>): Promise<Event[]> {
  const found: Event[] = [];
  const type = query.type === undefined ? {} : { type: query.type };
  let cursor: string | undefined;
  while (found.length < MAX_ROWS) {
    const ask = { limit: ROWS_A_READ, ...type, ...(cursor === undefined ? {} : { cursor }) };
    const { items, next } = await services.operations.instanceEvents(caller, params.id, ask);
    found.push(...items.filter(({ seq }) => seq > query.after));
    if (next === null || items.some(({ seq }) => seq <= query.after)) break;
    cursor = next;
  }
  return found.reverse().slice(0, query.limit);
}

/** A line of the ledger as a line of a log. What scripts print is not in it: that is in their answers. */
function lineOf({ type, from, to, reason, error }: Event): string {
  const move = from === null || to === null ? type : `${from} → ${to}`;
  return [move, reason, error].filter((part) => part !== null && part !== undefined).join(': ');
}

export const TALK_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/messages',
    operation: 'exec',
    params: sessionParams,
    body: messageSchema,
    async handle(context) {
      const { labels } = await ongoing(context);
      const known = ['content', 'includePartialMessages', 'model'];
      const unknown = Object.keys(context.body).find((key) => !known.includes(key));
      if (unknown !== undefined) return refused(501, `${unknown.slice(0, 80)} has no meaning for a message here.`);
      const script = await agentScript(context);
      if (script === null) return refused(501, `Its workspace has no agent: no ${AGENT_SCRIPT}.`);
      if (script.length > MESSAGE_LENGTH) return refused(413, `${AGENT_SCRIPT} is over ${MESSAGE_LENGTH} characters.`);
      return say(context, script, context.body.model ?? labels[MODEL_LABEL]);
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/messages',
    operation: 'exec',
    params: sessionParams,
    query: z.looseObject({}),
    async handle(context) {
      await ongoing(context);
      return refused(501, 'What was said is not kept: it was in the answers alone.');
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/logs',
    operation: 'instanceEvents',
    params: sessionParams,
    query: logsSchema,
    async handle(context) {
      const { after } = context.query;
      const lines = await eventsOf({ ...context, query: { after, limit: MAX_ROWS, type: undefined } });
      const logs = lines.map((event) => ({
        index: event.seq,
        level: 'system',
        text: lineOf(event),
        ts: new Date(event.time_ms).toISOString(),
      }));
      return json(200, { logs, source: 'ledger' });
    },
  }),
  sessionRoute({
    method: 'GET',
    path: '/sessions/:id/events',
    operation: 'instanceEvents',
    params: sessionParams,
    query: eventsSchema,
    async handle(context) {
      const events = (await eventsOf(context)).map((event) => ({
        id: String(event.seq),
        sessionId: context.params.id,
        type: event.type,
        data: JSON.stringify({ from: event.from, to: event.to, reason: event.reason, error: event.error }),
        sequence: event.seq,
        createdAt: new Date(event.time_ms).toISOString(),
      }));
      return json(200, { events });
    },
  }),
];
