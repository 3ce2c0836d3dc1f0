/**
 * Entry point of the process that reads the registry's file for a base of its replica: the server, which has the file
 * open, may not, because closing any descriptor of it drops the locks of SQLite. It does one task, and ends with its
 * server at the latest.
 */
import { WorkerChannel } from '../base/channel.ts';
import { endHelper } from '../base/helper-end.ts';
import { becomeUser } from '../base/helper-user.ts';
import { leaveSignalsToServer } from '../base/process-signals.ts';
import { serializeError } from '../base/serialized-error.ts';
import { cutBase } from '../replication/log/cut.ts';
import { type BaseProcessReport, parseBaseOrder } from './base-messages.ts';

const channel = new WorkerChannel((message) => void handle(message), endHelper);
const send = (report: BaseProcessReport) => channel.send(report);
process.umask(0o077);
leaveSignalsToServer();
send({ ready: true });

async function handle(message: unknown): Promise<void> {
  try {
    const { request, user } = parseBaseOrder(message);
    becomeUser(user);
    send({ answer: await cutBase(request) });
  } catch (error) {
    send({ failure: serializeError(error, 'A base could not be read.') });
  }
}
