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
const MIN_WAIT_MS = 1000;
/** Checks without an answer after which a process is called silent. */
export const SILENT_AFTER_CHECKS = 10;
/**
 * The same for one that was writing: the largest file takes a slow disk a minute, in which nothing else is answered.
 */
export const KILL_AFTER_CHECKS = 40;

export interface HealthCheckTimes {
  /** Milliseconds between two checks of a process that does nothing. */
  checkEveryMs: number;
  /** Milliseconds without an answer after which a process that somebody needs is given up. */
  giveUpAfterMs: number;
}

/**
 * Every three seconds: ten silent checks are half a minute, and 200 idle processes cost 70 small messages a second. A
 * process that is needed gets ten seconds, for one that merely starves on a busy machine must not lose its tmp.
 */
export const HEALTH_CHECK_TIMES: HealthCheckTimes = { checkEveryMs: 3000, giveUpAfterMs: 10_000 };

export class HealthCheck {
  readonly #sendPing: () => void;
  readonly #giveUpAfterMs: number;
  /** Milliseconds of `performance.now()` when it was asked what it has not answered yet. */
  #pingSentAt: number | null = null;
  #lastMessageAt = Number.NEGATIVE_INFINITY;
  #unanswered = 0;
  #waiters: ((alive: boolean) => void)[] = [];

  /** `ask` sends the question; its answer is told by `answered`. */
  constructor(sendPing: () => void, giveUpAfterMs: number) {
    this.#sendPing = sendPing;
    this.#giveUpAfterMs = giveUpAfterMs;
  }

  /** Whether it said something so recently that it need not be asked. */
  get isFresh(): boolean {
    return performance.now() - this.#lastMessageAt < FRESH_MS;
  }

  /** It said anything. */
  messageReceived(): void {
    this.#lastMessageAt = performance.now();
  }

  /** It answered. */
  pongReceived(): void {
    this.#pingSentAt = null;
    this.#unanswered = 0;
    for (const resolve of this.#waiters.splice(0)) resolve(true);
  }

  /** The process is gone: nobody need wait for its answer. */
  processExited(): void {
    for (const resolve of this.#waiters.splice(0)) resolve(false);
  }

  /** One check: asks, or counts that the last question has no answer. Returns how many checks in a row had none. */
  check(): number {
    if (this.#pingSentAt !== null) this.#unanswered += 1;
    else if (!this.isFresh) this.#pingOnce();
    return this.#unanswered;
  }

  /**
   * Asks, unless it was asked already. Resolves true with the answer; false when its silence has lasted too long.
   * `hurried`: after a second.
   */
  isAlive({ hurried = false } = {}): Promise<boolean> {
    this.#pingOnce();
    const silentMs = performance.now() - (this.#pingSentAt ?? 0);
    const waitMs = hurried ? MIN_WAIT_MS : Math.max(MIN_WAIT_MS, this.#giveUpAfterMs - silentMs);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#waiters.push((alive) => {
        clearTimeout(timer);
        resolve(alive);
      });
    });
  }

  #pingOnce(): void {
    if (this.#pingSentAt !== null) return;
    this.#pingSentAt = performance.now();
    this.#sendPing();
  }
}
