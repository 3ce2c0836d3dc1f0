/**
 * Whether a process that owes an answer can still give one: the kernel shows it stopped, or it had processor time
 * enough to answer many times. One that gets no processor time is neither, and is waited for. Knows no messages.
 */

import { processStat, STAT } from '../base/process-stat.ts';
import { cpuSecondsOf, cpuTimeOf } from './cpu-use.ts';

/**
 * Processor time without an answer after which a process is stuck, in seconds. An answer takes less than one
 * millisecond, and giving memory back before it 60 at most.
 */
const STUCK_AFTER_SECONDS = 0.5;
/** As the kernel shows what SIGSTOP has stopped. */
const STOPPED = 'T';

export class AnswerWatch {
  readonly #process: { readonly pid: number; isHeld(): boolean };
  #cpuAtFirst: number | null = null;
  #wasStopped = false;

  /** Begins at the question. `isHeld`: the server itself has stopped it. */
  constructor(process: { readonly pid: number; isHeld(): boolean }) {
    this.#process = process;
    this.#cpuAtFirst = this.#cpuSeconds();
  }

  /** One look. A process counts as stopped at the second one: what lets it go on may be under way. */
  isStuck(): boolean {
    const { pid } = this.#process;
    const isStopped = !this.#process.isHeld() && processStat(pid)?.[STAT.state] === STOPPED;
    const isStuck = isStopped && this.#wasStopped;
    this.#wasStopped = isStopped;
    if (isStuck) return true;
    const cpuSeconds = this.#cpuSeconds();
    if (cpuSeconds === null || this.#cpuAtFirst === null) return false;
    return cpuSeconds - this.#cpuAtFirst >= STUCK_AFTER_SECONDS;
  }

  /** Of the thread that answers, where the system tells. */
  #cpuSeconds(): number | null {
    const { pid } = this.#process;
    return cpuTimeOf(pid)?.ran ?? cpuSecondsOf(pid);
  }
}
