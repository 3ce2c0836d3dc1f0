/** The thread of the cutter: segments one after the other, and beside them bases and rebuilt files. */
import { parentPort } from 'node:worker_threads';
import { isWinterdockError } from '../base/errors.ts';
import { serializeError } from '../base/serialized-error.ts';
import { cutBase, cutFirstPage, cutSegment } from './cut.ts';
import type { CutAnswer, CutCall, CutTask } from './cutter.ts';
import { rebuild } from './rebuild.ts';

/** Each queue does one task at a time, so that memory stays bounded. */
const queues = { small: Promise.resolve(), large: Promise.resolve() };

parentPort?.on('message', (task: CutCall) => {
  const name = task.kind === 'base' || task.kind === 'rebuild' ? 'large' : 'small';
  queues[name] = queues[name].then(async () => parentPort?.postMessage(await answerTo(task)));
});

async function answerTo(task: CutCall): Promise<CutAnswer> {
  const { call } = task;
  try {
    return { call, result: await resultOf(task) };
  } catch (error) {
    if (!isWinterdockError(error) && error instanceof Error && 'code' in error && 'syscall' in error) {
      const { code, syscall, message } = error;
      return { call, system: { code: String(code), syscall: String(syscall), message } };
    }
    return { call, failure: serializeError(error, 'A segment was not cut for an unexpected reason.') };
  }
}

function resultOf(task: CutTask): Promise<unknown> {
  switch (task.kind) {
    case 'segment':
      return cutSegment(task.request);
    case 'first_page':
      return cutFirstPage(task.request);
    case 'base':
      return cutBase(task.request);
    case 'rebuild':
      return rebuild(task.request);
  }
}
