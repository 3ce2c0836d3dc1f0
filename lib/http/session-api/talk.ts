/** What a client of Ash says to an agent and hears of it: one message, and its answer as a stream. */
import { z } from 'zod';
import packageJson from '../../../package.json' with { type: 'json' };
import { isWinterdockError, publicMessage } from '../../base/errors.ts';
import type { Instance } from '../../contract/schema.ts';
import { parseVfsPath } from '../../vfs/paths.ts';
import type { Answer } from '../answer.ts';
import { callAsStream } from '../call-stream.ts';
import type { Route, RouteContext } from '../route.ts';
import { outputOf, textOf } from './output.ts';
import { MODEL_LABEL, refused } from './session.ts';
import { sessionIdOf } from './session-id.ts';
import { inUse, modelSchema, ongoing, sessionParams, sessionRoute, wholeText } from './session-route.ts';

/** The agent of a blueprint: a script in its workspace, which reads the message from its stdin. */
const AGENT_SCRIPT = '.agent.sh';
const MESSAGE_LENGTH = 1_000_000;

const messageSchema = z.looseObject({
  content: wholeText.min(1).max(MESSAGE_LENGTH),
  includePartialMessages: z.boolean().optional(),
  model: modelSchema.optional(),
});
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
    const sessionId = sessionIdOf(params.id);
    const begin = () => {
      if (!begun) send('session_start', { sessionId, version: packageJson.version });
      begun = true;
    };
    const env = model === undefined ? {} : { env: { ASH_MODEL: model } };
    // Whole lines: `while read` of a shell passes over a last one without its end.
    const stdin = body.content.endsWith('\n') ? body.content : `${body.content}\n`;
    const input = { command, stdin, ...env };
    try {
      const answer = await services.operations.exec(caller, params.id, input, {
        signal,
        onWoke: begin,
        // An agent asks models.
        isLongest: true,
        onOutput({ stream, ...piece }) {
          if (stream === 'stderr') return;
          send('text_delta', { type: 'text_delta', delta: textOf(piece.text, piece.encoding) });
        },
      });
      const { stdout, stderr } = outputOf(answer);
      const content = [{ type: 'text', text: stdout }];
      begin();
      send('message', { type: 'assistant', message: { role: 'assistant', content } });
      if (answer.exit_code !== 0 || answer.truncated) {
        send('error', { error: `The agent ended with ${answer.exit_code}: ${stderr.slice(-2_000)}` });
      }
    } catch (error) {
      if (!begun) throw error;
      send('error', { error: publicMessage(error) });
    }
    send('done', { sessionId });
  });
}

export const TALK_ROUTES: readonly Route[] = [
  sessionRoute({
    method: 'POST',
    path: '/sessions/:id/messages',
    operation: 'exec',
    params: sessionParams,
    body: messageSchema,
    async handle(context) {
      const { labels } = await inUse(context, await ongoing(context));
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
];
