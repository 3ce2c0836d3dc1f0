/** Routes that run code in a sandbox: exec, as one answer or as a stream, and eval. */

import type { InstanceId } from '../../base/ids.ts';
import {
  attachmentSchema,
  type ExecInput,
  evalAnswerSchema,
  evalSchema,
  execAnswerSchema,
  execSchema,
  slugSchema,
} from '../../contract/schema.ts';
import { type Answer, json } from '../answer.ts';
import { acceptsEvents, callAsStream } from '../call-stream.ts';
import { route } from '../operation-route.ts';
import { customRoute, type Route, type RouteContext } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Runs';
const attachmentParams = idParams.extend({ attachment: slugSchema });

export const callRoutes: Route[] = [
  customRoute({
    method: 'POST',
    path: '/instances/:id/exec',
    operation: 'exec',
    name: 'execInInstance',
    summary:
      'Runs a shell script. Wakes a sleeping sandbox. Any byte may go in (`stdin_base64`) and come out: an output that is no UTF-8 comes in base64, and its encoding says so. With `Accept: text/event-stream` the events `woke`, `stdout`, `stderr` and `exit` are sent as they happen; a piece of output is `{"text"}`, or `{"text","encoding":"base64"}` when it is bytes, and no piece ends within a character. Closing the connection stops the script.',
    tag,
    params: idParams,
    body: execSchema,
    answers: { 200: { description: 'What it did', schema: execAnswerSchema, orMediaType: 'text/event-stream' } },
    async handle(context) {
      if (acceptsEvents(context)) return execAsStream(context);
      const { services, caller, params, body, signal } = context;
      return json(200, await services.operations.exec(caller, params.id, body, { signal }));
    },
  }),
  route({
    method: 'POST',
    path: '/instances/:id/eval',
    operation: 'eval',
    name: 'evalInInstance',
    summary: 'Evaluates JavaScript or Python. Wakes a sleeping sandbox. Closing the connection stops it.',
    tag,
    params: idParams,
    body: evalSchema,
    answers: { 200: { description: 'What it gave', schema: evalAnswerSchema } },
    cancellable: true,
  }),
  route({
    method: 'PUT',
    path: '/instances/:id/attachments/:attachment',
    operation: 'attach',
    name: 'attachToInstance',
    summary:
      'Keeps an instance in its state while a terminal is open: no automatic moves. Wakes nothing. The caller makes up the id of the attachment and renews it by the same call; one that is not renewed ends.',
    tag,
    params: attachmentParams,
    answers: { 200: { description: 'It holds', schema: attachmentSchema } },
  }),
  route({
    method: 'DELETE',
    path: '/instances/:id/attachments/:attachment',
    operation: 'detach',
    name: 'detachFromInstance',
    summary: 'Ends an attachment: the idle clock starts.',
    tag,
    params: attachmentParams,
    answers: { 204: { description: 'It has ended' } },
  }),
];

function execAsStream(context: RouteContext<{ id: InstanceId }, unknown, ExecInput>): Promise<Answer> {
  const { services, caller, params, body } = context;
  return callAsStream(context, async (send, signal) => {
    const done = await services.operations.exec(caller, params.id, body, {
      signal,
      onWoke: ({ woke, wokeMs, from }) => send('woke', { woke, from, took_ms: wokeMs }),
      onOutput: ({ stream, ...piece }) => send(stream, piece),
    });
    const { stdout: _, stderr: _2, stdout_encoding: _3, stderr_encoding: _4, ...exit } = done;
    send('exit', exit);
  });
}
