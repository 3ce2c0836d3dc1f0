/**
 * Cuts and merges in a thread of its own: checksums and hashes of large logs would hold up the server's. The thread
 * begins with the first task and gives nobody a reason to wait for it at the end of the process. Knows nothing of what
 * segments are for.
 */
import { Worker } from 'node:worker_threads';
import { performing } from '../base/effects.ts';
import { deserializeError, type SerializedError } from '../base/serialized-error.ts';
import type { BaseCut, BaseRequest, CutResult, FirstPageCut, FirstPageRequest, SegmentRequest } from './cut.ts';
import type { LogEnd, WalkRequest } from './log-walk.ts';
import type { Merged, MergeRequest } from './merge.ts';

const THREAD = new URL('./cut-thread.ts', import.meta.url);
/** Of the thread's heap. What it reads and writes lies outside of it, and takes up to 16 MiB. */
const MOST_HEAP_MIB = 64;

/** A task of the thread. */
export type CutTask =
  | { kind: 'segment'; request: SegmentRequest }
  | { kind: 'first_page'; request: FirstPageRequest }
  | { kind: 'base'; request: BaseRequest }
  | { kind: 'walk'; request: WalkRequest }
  | { kind: 'merge'; request: MergeRequest };

export type CutCall = CutTask & { call: number };

/** `system`: an error of the system, of a file that the task names. */
export type CutAnswer = { call: number } & (
  | { result: unknown }
  | { failure: SerializedError }
  | { system: { code: string; syscall: string; message: string } }
);

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

export class Cutter {
  #thread: Worker | null = null;
  readonly #waiting = new Map<number, Waiting>();
  readonly #running = new Set<Promise<unknown>>();
  #calls = 0;
  #isClosed = false;

  /** `cutSegment`, in the thread. One at a time; a base does not hold it up. */
  cutSegment(request: SegmentRequest): Promise<CutResult> {
    return this.#run({ kind: 'segment', request }) as Promise<CutResult>;
  }

  /** `cutFirstPage`, in the thread. In turn with segments. */
  cutFirstPage(request: FirstPageRequest): Promise<FirstPageCut> {
    return this.#run({ kind: 'first_page', request }) as Promise<FirstPageCut>;
  }

  /** `cutBase`, in the thread. One at a time. */
  cutBase(request: BaseRequest): Promise<BaseCut> {
    return this.#run({ kind: 'base', request }) as Promise<BaseCut>;
  }

  /** `walkLog`, in the thread. In turn with segments. */
  walkLog(request: WalkRequest): Promise<LogEnd | null> {
    return this.#run({ kind: 'walk', request }) as Promise<LogEnd | null>;
  }

  /** `mergeSegments`, in the thread. One at a time; holds up neither segments nor bases. */
  merge(request: MergeRequest): Promise<Merged> {
    return this.#run({ kind: 'merge', request }) as Promise<Merged>;
  }

  /** Waits for what was asked for, and ends the thread. Asking afterwards is an error. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#running);
    await this.#thread?.terminate();
    this.#thread = null;
  }

  #run(task: CutTask): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error('The cutter is closed.'));
    const running = task.kind === 'walk' ? this.#ask(task) : this.#making(task);
    this.#running.add(running);
    const ended = () => void this.#running.delete(running);
    running.then(ended, ended);
    return running;
  }

  #making(task: Exclude<CutTask, { kind: 'walk' }>): Promise<unknown> {
    const { target, sync } = task.request;
    return performing({ kind: sync ? 'delegate' : 'create', path: target }, () => this.#ask(task));
  }

  #ask(task: CutTask): Promise<unknown> {
    const thread = this.#started();
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      thread.ref();
      thread.postMessage({ ...task, call } satisfies CutCall);
    });
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MIB } });
    this.#thread = thread;
    thread.unref();
    thread.on('message', (answer: CutAnswer) => this.#answered(thread, answer));
    let cause: unknown = null;
    thread.once('error', (error) => {
      cause = error;
    });
    thread.once('exit', () => {
      if (this.#thread === thread) this.#thread = null;
      // All that waits was asked of this one: the next begins with the next task.
      const error = new Error('The thread that cuts segments ended.', { cause });
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return thread;
  }

  #answered(thread: Worker, answer: CutAnswer): void {
    const waiting = this.#waiting.get(answer.call);
    this.#waiting.delete(answer.call);
    if (this.#waiting.size === 0) thread.unref();
    if ('result' in answer) waiting?.resolve(answer.result);
    else if ('failure' in answer) waiting?.reject(deserializeError(answer.failure));
    else {
      const { code, syscall, message } = answer.system;
      waiting?.reject(Object.assign(new Error(message), { code, syscall }));
    }
  }
}
