/**
 * Whether a process still answers: asks it, waits, and counts the checks that it leaves unanswered. Knows neither its
 * calls nor the channel; whoever has it decides when it may be asked.
 */

/**
 * Milliseconds for which one that has said something is taken to answer still: calls one after another do without the
 * question, which takes 0.1 ms.
 */
const FRESH_MS = 20;
/** The shortest wait for an answer, in milliseconds, however long the process has been silent already. */
const LEAST_MS = 1000;
/** Checks without an answer after which a process is called silent. */
export const SILENT_CHECKS = 10;
/**
 * The same for one that was writing: the largest file takes a slow disk a minute, in which nothing else is answered.
 */
export const HOPELESS_CHECKS = 40;

export interface Patience {
  /** Milliseconds between two checks of a process that does nothing. */
  checkEveryMs: number;
  /** Milliseconds without an answer after which a process that somebody needs is given up. */
  patienceMs: number;
}

/**
 * Every three seconds: ten silent checks are half a minute, and 200 idle processes cost 70 small messages a second. A
 * process that is needed gets ten seconds, for one that merely starves on a busy machine must not lose its tmp.
 */
export const PATIENCE: Patience = { checkEveryMs: 3000, patienceMs: 10_000 };

export class Silence {
  readonly #ask: () => void;
  readonly #patienceMs: number;
  /** Milliseconds of `performance.now()` when it was asked what it has not answered yet. */
  #askedAt: number | null = null;
  #heardAt = Number.NEGATIVE_INFINITY;
  #unanswered = 0;
  #waiting: ((answers: boolean) => void)[] = [];

  /** `ask` sends the question; its answer is told by `answered`. */
  constructor(ask: () => void, patienceMs: number) {
    this.#ask = ask;
    this.#patienceMs = patienceMs;
  }

  /** Whether it said something so recently that it need not be asked. */
  get fresh(): boolean {
    return performance.now() - this.#heardAt < FRESH_MS;
  }

  /** It said anything. */
  heard(): void {
    this.#heardAt = performance.now();
  }

  /** It answered. */
  answered(): void {
    this.#askedAt = null;
    this.#unanswered = 0;
    for (const resolve of this.#waiting.splice(0)) resolve(true);
  }

  /** The process is gone: nobody need wait for its answer. */
  gone(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }

  /** One check: asks, or counts that the last question has no answer. Returns how many checks in a row had none. */
  check(): number {
    if (this.#askedAt !== null) this.#unanswered += 1;
    else if (!this.fresh) this.#question();
    return this.#unanswered;
  }

  /**
   * Asks, unless it was asked already. Resolves true with the answer; false when its silence has lasted too long.
   * `hurried`: after a second.
   */
  answers({ hurried = false } = {}): Promise<boolean> {
    this.#question();
    const silentMs = performance.now() - (this.#askedAt ?? 0);
    const waitMs = hurried ? LEAST_MS : Math.max(LEAST_MS, this.#patienceMs - silentMs);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#waiting.push((answers) => {
        clearTimeout(timer);
        resolve(answers);
      });
    });
  }

  #question(): void {
    if (this.#askedAt !== null) return;
    this.#askedAt = performance.now();
    this.#ask();
  }
}
