/** A thread that answers as its tasks say, for tests of threads. */
import { setTimeout } from 'node:timers/promises';
import { answerCalls } from '../call-thread.ts';
import { WinterdockError } from '../errors.ts';

export type EchoTask =
  | { echo: string; afterMs?: number }
  /** Ends when it is called off. */
  | { waits: true }
  | { fails: 'own' | 'other' | 'system' }
  | { exits: number };

answerCalls<EchoTask>(async (task, signal) => {
  if ('exits' in task) process.exit(task.exits);
  if ('echo' in task) {
    await setTimeout(task.afterMs ?? 0);
    return task.echo;
  }
  if ('waits' in task) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return 'called off';
  }
  if (task.fails === 'own') throw new WinterdockError('moment_gone', 'It is gone.', { extra: { oldest: 7 } });
  if (task.fails === 'other') throw new Error('a path of the machine');
  throw Object.assign(new Error('no file'), { code: 'ENOENT', syscall: 'open' });
}, 'The echo failed.');
