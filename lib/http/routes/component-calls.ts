/** Routes that call the components of a docked workbook, each as one answer or as a stream. */
import { z } from 'zod';
import {
  componentCallAnswerSchema,
  componentCallSchema,
  workflowCallAnswerSchema,
  workflowCallSchema,
} from '../../contract/schema.ts';
import { componentAnswer, logAnswer } from '../../operations/component-calls.ts';
import type { WorkbookCallOptions } from '../../sandboxes/workbook-call.ts';
import { json } from '../answer.ts';
import { acceptsEvents, callAsStream } from '../call-stream.ts';
import { customRoute, type Route } from '../route.ts';
import { idParams } from './instances.ts';

const tag = 'Workbooks';
const STREAMED =
  'With `Accept: text/event-stream` the events `woke`, `running`, `log` and `component` are sent as they happen, and `result` last. Closing the connection stops it.';
const callParams = idParams.extend({ component: z.string().min(1).max(1024) });

export const componentCallRoutes: Route[] = [
  customRoute({
    method: 'POST',
    path: '/instances/:id/call/:component',
    operation: 'callComponent',
    name: 'callComponent',
    summary: `Calls a component of the workbook that the sandbox is docked to, by its name, or by its path with encoded slashes. Wakes a sleeping sandbox. What the component did wrong is the \`error\` of a good answer: a call that fails keeps nothing. ${STREAMED}`,
    tag,
    params: callParams,
    body: componentCallSchema,
    answers: {
      200: { description: 'What it gave', schema: componentCallAnswerSchema, orMediaType: 'text/event-stream' },
    },
    async handle(context) {
      const { services, caller, params, body, signal } = context;
      const run = (options: WorkbookCallOptions) =>
        services.operations.callComponent(caller, params.id, params.component, body, options);
      return acceptsEvents(context) ? callAsStream(context, followed(run)) : json(200, await run({ signal }));
    },
  }),
  customRoute({
    method: 'POST',
    path: '/instances/:id/call',
    operation: 'callWorkflow',
    name: 'callWorkflow',
    summary: `Runs a workflow of the workbook that the sandbox is docked to: the only one, or that named by \`world\`. Its components run in the order of their dependencies; an error stops what depends on it. Wakes a sleeping sandbox. ${STREAMED}`,
    tag,
    params: idParams,
    body: workflowCallSchema,
    answers: {
      200: { description: 'What it gave', schema: workflowCallAnswerSchema, orMediaType: 'text/event-stream' },
    },
    async handle(context) {
      const { services, caller, params, body, signal } = context;
      const run = (options: WorkbookCallOptions) => services.operations.callWorkflow(caller, params.id, body, options);
      return acceptsEvents(context) ? callAsStream(context, followed(run)) : json(200, await run({ signal }));
    },
  }),
];

/** Sends a call's progress as events, and its answer as the last one. */
function followed(run: (options: WorkbookCallOptions) => Promise<unknown>): Parameters<typeof callAsStream>[1] {
  return async (send, signal) => {
    const answer = await run({
      signal,
      onWoke: ({ woke, wokeMs, from }) => send('woke', { woke, from, took_ms: wokeMs }),
      onProgress: (progress) => {
        if ('running' in progress) send('running', { path: progress.running });
        else if ('log' in progress) send('log', logAnswer(progress.log));
        else send('component', componentAnswer(progress.component));
      },
    });
    send('result', answer);
  };
}
