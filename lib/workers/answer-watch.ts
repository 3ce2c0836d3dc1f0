/**
 * Whether a process that owes an answer can still give one: the kernel shows it stopped, or it had processor time
 * enough to answer many times. One that gets no processor time, or is at the disk, is neither, and is waited for. Knows
 * no messages.
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
/** As it shows a process that wants a processor, and one that it keeps at the disk. */
const HELD_UP = ['R', 'D'];
/** Looks back over which a process that was held up at one of them counts as held up. */
const LOOKS_BACK = 10;

export class AnswerWatch {
  readonly #process: { readonly pid: number; isHeld(): boolean };
  #cpuAtFirst: number | null = null;
  #wasStopped = false;
  /** Looks since the last one at which it was held up. */
  #looksSince = Number.POSITIVE_INFINITY;

  /** Begins at the question. `isHeld`: the server itself has stopped it. */
  constructor(process: { readonly pid: number; isHeld(): boolean }) {
    this.#process = process;
    this.#cpuAtFirst = this.#cpuSeconds();
  }

  isHeld(): boolean {
    return this.#process.isHeld();
  }

  /** One look. A process counts as stopped at the second one: what lets it go on may be under way. */
  isStuck(): boolean {
    const { pid } = this.#process;
    const state = processStat(pid)?.[STAT.state] ?? '';
    this.#looksSince = HELD_UP.includes(state) ? 0 : this.#looksSince + 1;
    const isStopped = !this.#process.isHeld() && state === STOPPED;
    const isStuck = isStopped && this.#wasStopped;
    this.#wasStopped = isStopped;
    if (isStuck) return true;
    const cpuSeconds = this.#cpuSeconds();
    if (cpuSeconds === null || this.#cpuAtFirst === null) return false;
    return cpuSeconds - this.#cpuAtFirst >= STUCK_AFTER_SECONDS;
  }

  /** Whether at one of the last looks it waited for a processor or for the disk, and so may still answer. */
  isHeldUp(): boolean {
    return this.#looksSince <= LOOKS_BACK;
  }

  /** Of the thread that answers, where the system tells. */
  #cpuSeconds(): number | null {
    const { pid } = this.#process;
    return cpuTimeOf(pid)?.ran ?? cpuSecondsOf(pid);
  }
}
