/** The thread of the cutter: segments one after the other; beside them bases and rebuilt files; beside both, merges. */
import { parentPort } from 'node:worker_threads';
import { isWinterdockError } from '../base/errors.ts';
import { serializeError } from '../base/serialized-error.ts';
import { cutBase, cutFirstPage, cutSegment } from './cut.ts';
import type { CutAnswer, CutCall, CutTask } from './cutter.ts';
import { walkLog } from './log-walk.ts';
import { mergeSegments } from './merge.ts';

/** Each queue does one task at a time, so that memory stays bounded. */
const queues = { small: Promise.resolve(), large: Promise.resolve(), merge: Promise.resolve() };

parentPort?.on('message', (task: CutCall) => {
  const name = queueOf(task.kind);
  queues[name] = queues[name].then(async () => parentPort?.postMessage(await answerTo(task)));
});

function queueOf(kind: CutTask['kind']): keyof typeof queues {
  if (kind === 'merge') return 'merge';
  return kind === 'base' ? 'large' : 'small';
}

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

async function resultOf(task: CutTask): Promise<unknown> {
  switch (task.kind) {
    case 'segment':
      return cutSegment(task.request);
    case 'first_page':
      return cutFirstPage(task.request);
    case 'base':
      return cutBase(task.request);
    case 'walk':
      return walkLog(task.request);
    case 'merge':
      return mergeSegments(task.request);
  }
}
