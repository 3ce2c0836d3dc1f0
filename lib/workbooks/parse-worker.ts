/**
 * Entry point of a parse process: reads the sources that the server sends, one after the other. It may read its code
 * and nothing else. Ends with the server.
 */
import { flushCompileCache } from 'node:module';
import { WorkerChannel } from '../base/channel.ts';
import { endHelper } from '../base/helper-end.ts';
import { leaveSignalsToServer } from '../base/process-signals.ts';
import { serializeError } from '../base/serialized-error.ts';
import type { ParseMessage, ParseRequest } from './messages.ts';
import { readSource } from './plan.ts';

const channel = new WorkerChannel(({ source }: ParseRequest) => {
  try {
    const { plan, ...reading } = readSource(source);
    send({ parsed: { ...reading, plan: plan === null ? null : JSON.stringify(plan) } });
  } catch (error) {
    send({ failure: serializeError(error, 'The source could not be parsed.') });
  }
}, endHelper);
leaveSignalsToServer();
send({ ready: true });
flushCompileCache();

function send(message: ParseMessage): void {
  channel.send(message);
}
