/** A process that does with messages what a script says, in place of a worker: for what no worker of ours does. */
import { join } from 'node:path';
import { startWorkerProcess, type Worker } from '../process.ts';

/**
 * Starts one. `script`: JavaScript in which `message` is called with each message of the server, declared as a function
 * by it, and `channel.send(message, done)` sends one; `socket` is what the channel writes to.
 */
export function startScriptedWorker(script: string): Worker {
  const code = `import { WorkerChannel } from ${JSON.stringify(join(import.meta.dirname, '..', '..', 'base', 'channel.ts'))};
    const channel = new WorkerChannel((received) => message(received), () => process.exit(0));
    ${script}`;
  const flags = ['--no-warnings', '--input-type=module', '-e', code];
  return startWorkerProcess([process.execPath, ...flags], { NODE_ENV: 'test' });
}
