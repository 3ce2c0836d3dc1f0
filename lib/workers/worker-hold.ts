/**
 * Stops all workers (SIGSTOP) while their host may not act, and lets them go on. What else stops a worker and lets it
 * go on meanwhile holds from then on. Knows nothing of why.
 */

type Signal = (name: NodeJS.Signals) => void;

/** The signals of one worker. */
export class HeldSignals {
  readonly #send: Signal;
  /** What everybody else wants. */
  #isStopped = false;
  #isHeld = false;

  constructor(send: Signal) {
    this.#send = send;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** A signal of anybody else. One that is held goes on only when it is let go; it can be ended. */
  readonly signal: Signal = (name) => {
    if (name === 'SIGSTOP') this.#isStopped = true;
    if (name === 'SIGCONT') this.#isStopped = false;
    if (!this.#isHeld || name !== 'SIGCONT') this.#send(name);
  };

  hold(): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    this.#send('SIGSTOP');
  }

  letGo(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    if (!this.#isStopped) this.#send('SIGCONT');
  }
}

/** All workers of a host. */
export class WorkerHold {
  readonly #workers = new Set<HeldSignals>();
  #isHeld = false;

  /** A worker is ready to act, or acts. Returns the function that is called when it has ended. */
  add(worker: HeldSignals): () => void {
    this.#workers.add(worker);
    if (this.#isHeld) worker.hold();
    return () => void this.#workers.delete(worker);
  }

  /** Stops them, and those that come. Idempotent. */
  hold(): void {
    this.#isHeld = true;
    for (const worker of this.#workers) worker.hold();
  }

  /** Idempotent. */
  letGo(): void {
    this.#isHeld = false;
    for (const worker of this.#workers) worker.letGo();
  }

  /** Ends them at once. */
  end(): void {
    for (const worker of this.#workers) worker.signal('SIGKILL');
  }
}
