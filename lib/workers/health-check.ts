/**
 * Health checks of one process: sends pings and counts the checks without an answer. Knows neither the process's calls
 * nor the channel. The owner decides when a check is allowed.
 */

/**
 * Milliseconds after any message during which the process counts as alive. Calls in quick succession need no
 * acknowledgement, which costs each side a small message.
 */
const FRESH_MS = 20;
/** How often it is looked whether a process that owes an answer can still give one, in milliseconds. */
const LOOK_MS = 100;
/** A look that comes so long after the one before shows that this server was held up, in milliseconds. */
const LATE_MS = 500;
/**
 * How long a process is waited for that the kernel keeps from answering, at the disk or without a processor, in
 * milliseconds: as long as one whose write is pending.
 */
const HELD_UP_MS = 120_000;
/** The shortest wait for a pong, in milliseconds, however long the process has been silent. */
const MIN_WAIT_MS = 1000;
/**
 * Unanswered checks in a row after which a process is killed although a write or read is pending: two minutes. On a
 * slow disk the largest file takes one, and the process answers nothing meanwhile.
 */
export const KILL_AFTER_CHECKS = 12;

export interface HealthCheckTimes {
  /** Milliseconds between two checks of an idle process. */
  checkEveryMs: number;
  /** Unanswered checks in a row after which a process that runs nothing is paused. */
  silentAfterChecks: number;
  /** Milliseconds without an answer after which a process that has work to do is given up. */
  giveUpAfterMs: number;
  /** Milliseconds that a process paused for its silence has to answer when it is needed again. */
  readyMs: number;
  /** Milliseconds between asking a process to end (SIGTERM) and killing it (SIGKILL). */
  termMs: number;
}

/**
 * Ten checks of ten seconds are 100 seconds, and 200 idle processes cost 20 small messages a second. A process that has
 * work to do gets ten seconds: one that is merely slow on a busy machine must not lose its tmp.
 */
export const HEALTH_CHECK_TIMES: HealthCheckTimes = {
  checkEveryMs: 10_000,
  silentAfterChecks: 10,
  giveUpAfterMs: 10_000,
  readyMs: 30_000,
  termMs: 3000,
};

/** Looks at a process that owes an answer. */
interface Watch {
  /** Whether the server itself keeps it stopped. */
  isHeld(): boolean;
  isStuck(): boolean;
  isHeldUp(): boolean;
}

export class HealthCheck {
  readonly #sendPing: () => void;
  readonly #giveUpAfterMs: number;
  readonly #watchAnswer: () => Watch;
  /** When the unanswered ping was sent, in milliseconds of `performance.now()`; null when none is open. */
  #pingSentAt: number | null = null;
  #lastMessageAt = Number.NEGATIVE_INFINITY;
  #unanswered = 0;
  /** Milliseconds that the answer to the open ping may take. */
  #patienceMs: number;
  #waiters: ((alive: boolean) => void)[] = [];

  /**
   * `sendPing` sends a ping. The owner reports the answer through `pongReceived`. `watchAnswer` begins to look at a
   * process that owes one for some time: one that is stuck is not waited for.
   */
  constructor(sendPing: () => void, giveUpAfterMs: number, watchAnswer: () => Watch) {
    this.#sendPing = sendPing;
    this.#watchAnswer = watchAnswer;
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#patienceMs = giveUpAfterMs;
  }

  /** Whether a message came so recently that no ping is needed. */
  get isFresh(): boolean {
    return performance.now() - this.#lastMessageAt < FRESH_MS;
  }

  /** Whether a ping, or a message instead of one, has no answer yet. */
  get isAsking(): boolean {
    return this.#pingSentAt !== null;
  }

  /** Forgets the open ping and the silence until now. The next answer may take `patienceMs`. */
  startAnew(patienceMs: number): void {
    this.#pingSentAt = null;
    this.#unanswered = 0;
    this.#patienceMs = patienceMs;
  }

  /** Notes a message of any kind. */
  messageReceived(): void {
    this.#lastMessageAt = performance.now();
  }

  /** Notes a pong, or the answer to a message that was sent instead of a ping. */
  pongReceived(): void {
    this.#pingSentAt = null;
    this.#unanswered = 0;
    this.#patienceMs = this.#giveUpAfterMs;
    for (const resolve of this.#waiters.splice(0)) resolve(true);
  }

  /** Notes that the process is gone: pending checks resolve to false. */
  processExited(): void {
    for (const resolve of this.#waiters.splice(0)) resolve(false);
  }

  /** One check: sends a ping, or counts the open one as unanswered. Returns how many checks in a row had no answer. */
  check(): number {
    if (this.#pingSentAt !== null) this.#unanswered += 1;
    else if (!this.isFresh) this.#pingOnce();
    return this.#unanswered;
  }

  /**
   * Sends a ping unless one is open. Resolves true on the pong, false when the wait is over, or when the process is
   * stuck. One that is held up is waited for two minutes, and so is an answer that came while this server was.
   * `hurried`: wait one second only. `asked`: a message that the process answers as quickly as a ping was just sent
   * instead.
   */
  isAlive({ hurried = false, asked = false } = {}): Promise<boolean> {
    if (asked) this.#pingSentAt ??= performance.now();
    else this.#pingOnce();
    const silentMs = performance.now() - (this.#pingSentAt ?? 0);
    const waitMs = hurried ? MIN_WAIT_MS : Math.max(MIN_WAIT_MS, this.#patienceMs - silentMs);
    return new Promise((resolve) => {
      let watch: Watch | null = null;
      let until = performance.now() + waitMs;
      let lookedAt = performance.now();
      const over = (alive: boolean) => {
        clearInterval(looks);
        resolve(alive);
      };
      const looks = setInterval(() => {
        const now = performance.now();
        // This server was held up itself: the answer may lie in the channel, which is read before the next look.
        const passedMs = now - lookedAt;
        const wasLate = passedMs > LATE_MS;
        lookedAt = now;
        // Its time stands still while it cannot answer.
        if (watch?.isHeld() === true) until += passedMs;
        if (watch === null) watch = this.#watchAnswer();
        else if (watch.isStuck()) return over(false);
        if (now < until || wasLate) return;
        if (!watch.isHeldUp() || now - until >= HELD_UP_MS) over(false);
      }, LOOK_MS);
      this.#waiters.push(over);
    });
  }

  #pingOnce(): void {
    if (this.#pingSentAt !== null) return;
    this.#pingSentAt = performance.now();
    this.#sendPing();
  }
}
