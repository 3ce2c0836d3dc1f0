/** A bounded cache from session cookie to caller, so that a page's many requests ask the auth library once. */

export interface SessionCache<T> {
  get(cookie: string): T | undefined;
  set(cookie: string, value: T): void;
  clear(): void;
}

/** Makes a cache of at most `entries` cookies, each for `lifeMs` milliseconds. The oldest makes room. */
export function createSessionCache<T>(options: {
  entries: number;
  lifeMs: number;
  now?: () => number;
}): SessionCache<T> {
  const now = options.now ?? (() => performance.now());
  const cached = new Map<string, { value: T; until: number }>();
  return {
    get(cookie) {
      const entry = cached.get(cookie);
      if (entry === undefined) return undefined;
      if (entry.until > now()) return entry.value;
      cached.delete(cookie);
      return undefined;
    },
    set(cookie, value) {
      cached.delete(cookie);
      const oldest = cached.size >= options.entries ? cached.keys().next().value : undefined;
      if (oldest !== undefined) cached.delete(oldest);
      cached.set(cookie, { value, until: now() + options.lifeMs });
    },
    clear() {
      cached.clear();
    },
  };
}
