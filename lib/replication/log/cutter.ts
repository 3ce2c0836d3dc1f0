/**
 * Cuts and merges in a thread of its own: checksums and hashes of large logs would hold up the server's. The thread
 * begins with the first task and gives nobody a reason to wait for it at the end of the process. Knows nothing of what
 * segments are for.
 */
import { CallThread } from '../../base/call-thread.ts';
import { performing } from '../../base/effects.ts';
import type { Merged, MergeRequest } from '../ltx/merge.ts';
import type { BaseCut, BaseRequest, CutResult, FirstPageCut, FirstPageRequest, SegmentRequest } from './cut.ts';
import type { LogEnd, WalkRequest } from './log-walk.ts';

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

export class Cutter {
  readonly #thread = new CallThread<CutTask>(THREAD, {
    name: 'The thread that cuts segments',
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MIB },
  });
  readonly #running = new Set<Promise<unknown>>();
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
    await this.#thread.end();
  }

  #run(task: CutTask): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error('The cutter is closed.'));
    const running = task.kind === 'walk' ? this.#thread.ask(task) : this.#making(task);
    this.#running.add(running);
    const ended = () => void this.#running.delete(running);
    running.then(ended, ended);
    return running;
  }

  #making(task: Exclude<CutTask, { kind: 'walk' }>): Promise<unknown> {
    const { target, sync } = task.request;
    return performing({ kind: sync ? 'delegate' : 'create', path: target }, () => this.#thread.ask(task));
  }
}
