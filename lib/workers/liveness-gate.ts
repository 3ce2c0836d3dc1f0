/**
 * Which messages a process has certainly not started. A message to a process that was idle asks for an acknowledgement,
 * which the process sends before it does anything else about the message. Without one in time the process is stuck; its
 * unacknowledged messages are safe to repeat elsewhere once it is dead and its channel is read to the end. Knows
 * neither what the messages say nor how a stuck process is ended.
 */

import type { HealthCheck } from './health-check.ts';
import type { NumberedRequest } from './protocol/protocol.ts';

export class LivenessGate {
  readonly #health: HealthCheck;
  readonly #onSilent: () => void;
  readonly #unacknowledged = new Set<number>();
  #isWatching = false;

  /** `onSilent` runs when an acknowledgement did not come in time. */
  constructor(health: HealthCheck, onSilent: () => void) {
    this.#health = health;
    this.#onSilent = onSilent;
  }

  /**
   * The message as it is to be sent now. It asks for an acknowledgement when the process is `idle` and sent nothing
   * recently, and when an earlier message is not acknowledged yet. `doubtful`: also when it sent something recently.
   */
  pass(message: NumberedRequest, idle: boolean, { doubtful = false } = {}): NumberedRequest {
    if (this.#unacknowledged.size === 0 && (!idle || (this.#health.isFresh && !doubtful))) return message;
    this.#unacknowledged.add(message.id);
    if (!this.#isWatching) void this.#watch();
    return { ...message, acknowledge: true };
  }

  /** Notes an acknowledgement. False when none was awaited. */
  acknowledged(id: number): boolean {
    this.#health.pongReceived();
    return this.#unacknowledged.delete(id);
  }

  /** Whether the process was asked to acknowledge this message and has not: then it has not started it. */
  neverBegan(id: number): boolean {
    return this.#unacknowledged.has(id);
  }

  async #watch(): Promise<void> {
    this.#isWatching = true;
    while (this.#unacknowledged.size > 0) {
      // The pong of an earlier ping is a sign of life, and no acknowledgement: then the wait begins again.
      if (await this.#health.isAlive({ asked: true })) continue;
      this.#onSilent();
      break;
    }
    this.#isWatching = false;
  }
}
