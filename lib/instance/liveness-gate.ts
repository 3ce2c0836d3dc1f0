/**
 * What is for a process that may be stuck waits here until it has answered that it is there, so that what waits has
 * surely not begun when it turns out to be stuck. Knows neither the messages nor what is done with a process that does
 * not answer.
 */
import type { HealthCheck } from './health-check.ts';

export class LivenessGate {
  readonly #health: HealthCheck;
  readonly #on: { alive: () => void; silent: () => void };
  readonly #deferred = new Map<number, () => void>();
  #asking = false;

  /** `alive` runs after the deferred messages were sent; `silent` when no pong came in time. */
  constructor(health: HealthCheck, on: { alive: () => void; silent: () => void }) {
    this.#health = health;
    this.#on = on;
  }

  /** Whether something may be sent now. One that is `idle` and has said nothing for a while is asked first. */
  isOpen(idle: boolean): boolean {
    if (this.#asking) return false;
    if (!idle || this.#health.isFresh) return true;
    this.#asking = true;
    void this.#health.isAlive().then((alive) => {
      this.#asking = false;
      if (!alive) {
        this.#on.silent();
        return;
      }
      for (const send of this.#deferred.values()) send();
      this.#deferred.clear();
      this.#on.alive();
    });
    return false;
  }

  /** Keeps what did not pass. */
  defer(id: number, send: () => void): void {
    this.#deferred.set(id, send);
  }

  /** Whether this was kept and never sent. */
  defers(id: number): boolean {
    return this.#deferred.has(id);
  }
}
