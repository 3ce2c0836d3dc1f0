/**
 * Automatic moves that the disk has refused: they are tried again after a while, and a longer one each time. Kept in
 * memory only.
 */

const FIRST_SECONDS = 60;
const LONGEST_SECONDS = 3600;

export class RetryDelays {
  readonly #refused = new Map<string, { until: number; seconds: number }>();

  /**
   * Whether the move of a sandbox waits still, at `now` in epoch seconds. A clock that was set back makes none wait for
   * longer than the longest.
   */
  isWaiting(id: string, now: number): boolean {
    const refused = this.#refused.get(id);
    return refused !== undefined && now < refused.until && refused.until <= now + LONGEST_SECONDS;
  }

  delay(id: string, now: number): void {
    const before = this.#refused.get(id);
    const seconds = before === undefined ? FIRST_SECONDS : Math.min(LONGEST_SECONDS, before.seconds * 2);
    this.#refused.set(id, { until: now + seconds, seconds });
  }

  clear(id: string): void {
    this.#refused.delete(id);
  }
}
