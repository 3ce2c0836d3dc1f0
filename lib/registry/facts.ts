/** Small values of the whole installation, by name, that survive a restart. Knows nothing of their meaning. */

export interface FactStore {
  /** The value stored under a name, or null. The reader parses it. */
  read(name: string): Promise<unknown>;
  /** Stores `value` as JSON; `now` in epoch seconds. */
  write(name: string, value: unknown, now: number): Promise<void>;
}
