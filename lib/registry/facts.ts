/** Small facts of the whole dock that outlive a restart, by name. Knows nothing of what they mean. */

export interface FactStore {
  /** What was kept under a name, or null. It is what someone wrote once: the reader parses it. */
  read(name: string): Promise<unknown>;
  /** `value` is kept as JSON; `now` in epoch seconds. */
  write(name: string, value: unknown, now: number): Promise<void>;
}
