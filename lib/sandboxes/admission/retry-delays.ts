/**
 * Delays of automatic moves that the disk refused: each is tried again after a while, longer each time. In memory only.
 */
import type { InstanceId } from '../../base/ids.ts';

const FIRST_SECONDS = 60;
const LONGEST_SECONDS = 3600;

export class RetryDelays {
  readonly #refused = new Map<InstanceId, { until: number; seconds: number }>();

  /**
   * Whether the move of a sandbox still has to wait at `now` (epoch seconds). When the clock was set back, none waits
   * longer than the longest delay.
   */
  isWaiting(id: InstanceId, now: number): boolean {
    const refused = this.#refused.get(id);
    return refused !== undefined && now < refused.until && refused.until <= now + LONGEST_SECONDS;
  }

  delay(id: InstanceId, now: number): void {
    const before = this.#refused.get(id);
    const seconds = before === undefined ? FIRST_SECONDS : Math.min(LONGEST_SECONDS, before.seconds * 2);
    this.#refused.set(id, { until: now + seconds, seconds });
  }

  clear(id: InstanceId): void {
    this.#refused.delete(id);
  }
}
