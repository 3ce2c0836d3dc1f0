/**
 * What is for a process that may be stuck waits here until it has answered that it is there, so that what waits has
 * surely not begun when it turns out to be stuck. Knows neither the messages nor what is done with a process that does
 * not answer.
 */
import type { Silence } from './silence.ts';

export class Gate {
  readonly #silence: Silence;
  readonly #then: { answered: () => void; silent: () => void };
  readonly #held = new Map<number, () => void>();
  #asking = false;

  /** `answered` runs once what waited was sent, `silent` when the process has been silent for too long. */
  constructor(silence: Silence, then: { answered: () => void; silent: () => void }) {
    this.#silence = silence;
    this.#then = then;
  }

  /** Whether something may be sent now. One that is `idle` and has said nothing for a while is asked first. */
  passes(idle: boolean): boolean {
    if (this.#asking) return false;
    if (!idle || this.#silence.fresh) return true;
    this.#asking = true;
    void this.#silence.answers().then((answers) => {
      this.#asking = false;
      if (!answers) {
        this.#then.silent();
        return;
      }
      for (const send of this.#held.values()) send();
      this.#held.clear();
      this.#then.answered();
    });
    return false;
  }

  /** Keeps what did not pass. */
  hold(id: number, send: () => void): void {
    this.#held.set(id, send);
  }

  /** Whether this was kept and never sent. */
  holds(id: number): boolean {
    return this.#held.has(id);
  }
}
