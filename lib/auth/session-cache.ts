/** A short memory of which session cookie is whose, so that a page of requests asks the auth library once. Bounded. */

export interface SessionCache<T> {
  get(cookie: string): T | undefined;
  set(cookie: string, known: T): void;
  clear(): void;
}

/** Makes the memory: at most `entries` cookies, each known for `lifeMs` milliseconds. The oldest makes room. */
export function createSessionCache<T>(options: {
  entries: number;
  lifeMs: number;
  now?: () => number;
}): SessionCache<T> {
  const now = options.now ?? (() => performance.now());
  const known = new Map<string, { whose: T; until: number }>();
  return {
    get(cookie) {
      const entry = known.get(cookie);
      if (entry === undefined) return undefined;
      if (entry.until > now()) return entry.whose;
      known.delete(cookie);
      return undefined;
    },
    set(cookie, whose) {
      known.delete(cookie);
      const oldest = known.size >= options.entries ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      known.set(cookie, { whose, until: now() + options.lifeMs });
    },
    clear() {
      known.clear();
    },
  };
}
