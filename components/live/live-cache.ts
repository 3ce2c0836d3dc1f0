/**
 * What the event stream delivered, by key, for the components that show it. Small enough for every page; what a browser
 * asks for itself is React Query's. What nobody shows is dropped when it is too much, the oldest first.
 */

/** Values that nobody shows: a page that is still loading may show them. */
const UNSHOWN = 1000;

export class LiveCache {
  readonly #values = new Map<string, unknown>();
  readonly #read = new Set<string>();
  readonly #shown = new Map<string, Set<() => void>>();

  get<T>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  /** `next`: from what is kept, which is left as it is. */
  change<T>(key: string, next: (kept: T | undefined) => T): void {
    const kept = this.get<T>(key);
    const value = next(kept);
    this.#values.delete(key);
    this.#values.set(key, value);
    if (value === kept) return;
    for (const tell of this.#shown.get(key) ?? []) tell();
    this.#dropUnshown();
  }

  /** Reads a key's value anew, unless that is under way. */
  async reading(key: string, read: () => Promise<void>): Promise<void> {
    if (this.#read.has(key)) return;
    this.#read.add(key);
    await read().finally(() => this.#read.delete(key));
  }

  /** Whether a component shows it now. */
  isShown(key: string): boolean {
    return this.#shown.has(key);
  }

  /** How many values are kept. */
  get size(): number {
    return this.#values.size;
  }

  /** Tells of each change until the returned function is called. */
  subscribe(key: string, tell: () => void): () => void {
    const listeners = this.#shown.get(key) ?? new Set();
    this.#shown.set(key, listeners.add(tell));
    return () => {
      listeners.delete(tell);
      if (listeners.size === 0 && this.#shown.get(key) === listeners) this.#shown.delete(key);
    };
  }

  #dropUnshown(): void {
    let over = this.#values.size - this.#shown.size - UNSHOWN;
    if (over <= 0) return;
    for (const key of this.#values.keys()) {
      if (over <= 0) return;
      if (this.#shown.has(key)) continue;
      this.#values.delete(key);
      over -= 1;
    }
  }
}
