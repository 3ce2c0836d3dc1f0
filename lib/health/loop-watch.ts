/**
 * Who holds the event loop. Work says when control goes to it and when it was its; of two such moments without a wait
 * in between the time belongs to the earlier one. A timer that is late finds what held the loop. Knows nothing of what
 * the work is. Cheap enough for every request: no system calls, and no turn of the loop of its own.
 */
import { performance } from 'node:perf_hooks';

/** A stretch in which the loop answered nobody. */
export interface Stall<Work> {
  /** Of the processor, in milliseconds: what other processes took from this one aside. */
  cpuMs: number;
  /** How late the timer was, in milliseconds. */
  lateMs: number;
  /** What held the loop for most of it; null when no known work did. */
  work: Work | null;
}

/** Milliseconds between two looks. */
const LOOK_MS = 20;
/** The shortest stall, in milliseconds. */
const STALL_MS = 50;
/** Of the loop, in milliseconds: after a longer wait, what runs is no longer what ran before. */
const WAIT_MS = 0.5;

export class LoopWatch<Work extends object> {
  readonly #timer: NodeJS.Timeout;
  readonly #told: (stall: Stall<Work>) => void;
  #current: Work | null = null;
  #at = performance.now();
  #idleMs = idleMs();
  /** Since the last look: the work that held the loop longest in one piece, and for how long. */
  #heaviest: Work | null = null;
  #heaviestMs = 0;
  #lookedAt = this.#at;
  #cpuMs = cpuMs();

  /** `told` gets each stall once it is over. */
  constructor(told: (stall: Stall<Work>) => void) {
    this.#told = told;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Control goes to this work now: what the loop did before was not for it. */
  enter(work: Work): void {
    this.#pass(null, work);
  }

  /** Control was with this work until now. */
  leave(work: Work): void {
    this.#pass(work, null);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /**
   * Gives the time since the last moment to the work that had control then, or, where the loop has waited since, to
   * `other`. Returns whose it was.
   */
  #pass(other: Work | null, next: Work | null): Work | null {
    const [now, idle] = [performance.now(), idleMs()];
    const waitedMs = idle - this.#idleMs;
    const owner = (waitedMs < WAIT_MS ? this.#current : null) ?? other;
    const heldMs = now - this.#at - waitedMs;
    if (owner !== null && heldMs > this.#heaviestMs) {
      this.#heaviest = owner;
      this.#heaviestMs = heldMs;
    }
    this.#current = next;
    this.#at = now;
    this.#idleMs = idle;
    return owner;
  }

  #look(): void {
    this.#current = this.#pass(null, null);
    const lateMs = this.#at - this.#lookedAt - LOOK_MS;
    this.#lookedAt = this.#at;
    const before = this.#cpuMs;
    this.#cpuMs = cpuMs();
    const spentMs = this.#cpuMs - before;
    if (lateMs >= STALL_MS && spentMs >= STALL_MS) {
      const work = this.#heaviestMs >= lateMs / 2 ? this.#heaviest : null;
      this.#told({ cpuMs: spentMs, lateMs, work });
    }
    this.#heaviest = null;
    this.#heaviestMs = 0;
  }
}

/** Milliseconds that the loop has waited for events, since its start. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle;
}

/** Processor time of this thread, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
