/** One timer for each call that runs, by its number. Knows nothing of calls. */

export class CallTimers {
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #over: () => void;

  /** `over`: called when the time of one is over. */
  constructor(over: () => void) {
    this.#over = over;
  }

  has(id: number): boolean {
    return this.#timers.has(id);
  }

  /** Sets the time of a call from now on, in place of what it had. */
  set(id: number, milliseconds: number): void {
    this.clear(id);
    this.#timers.set(id, setTimeout(this.#over, milliseconds).unref());
  }

  clear(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}
