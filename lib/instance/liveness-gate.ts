/**
 * Holds messages back until the process has answered a ping. A message that was held back has certainly not started
 * when the process turns out to be stuck, so it is safe to repeat. Knows neither the messages nor how a stuck process
 * is ended.
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

  /** Whether a message may be sent now. Pings the process first when it is `idle` and sent nothing recently. */
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

  /** Keeps a message until the process answers. */
  defer(id: number, send: () => void): void {
    this.#deferred.set(id, send);
  }

  /** Whether this message is still deferred, so the process never got it. */
  defers(id: number): boolean {
    return this.#deferred.has(id);
  }
}
