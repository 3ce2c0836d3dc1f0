/** The thread of the cutter: segments one after the other; beside them bases and rebuilt files; beside both, merges. */
import { answerCalls } from '../../base/call-thread.ts';
import { mergeSegments } from '../ltx/merge.ts';
import { cutBase, cutFirstPage, cutSegment } from './cut.ts';
import type { CutTask } from './cutter.ts';
import { walkLog } from './log-walk.ts';

/** Each queue does one task at a time, so that memory stays bounded. */
const queues: Record<'small' | 'large' | 'merge', Promise<unknown>> = {
  small: Promise.resolve(),
  large: Promise.resolve(),
  merge: Promise.resolve(),
};

answerCalls<CutTask>((task) => {
  const name = queueOf(task.kind);
  const made = queues[name].then(() => resultOf(task));
  queues[name] = made.catch(() => undefined);
  return made;
}, 'A segment was not cut for an unexpected reason.');

function queueOf(kind: CutTask['kind']): keyof typeof queues {
  if (kind === 'merge') return 'merge';
  return kind === 'base' ? 'large' : 'small';
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
