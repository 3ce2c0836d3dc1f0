/** A short memory of which session cookie is whose, so that a page of requests asks the auth library once. Bounded. */

export interface SessionCache {
  get(cookie: string): string | undefined;
  set(cookie: string, actor: string): void;
  clear(): void;
}

/** Makes the memory: at most `entries` cookies, each known for `lifeMs` milliseconds. The oldest makes room. */
export function createSessionCache(options: { entries: number; lifeMs: number; now?: () => number }): SessionCache {
  const now = options.now ?? (() => performance.now());
  const known = new Map<string, { actor: string; until: number }>();
  return {
    get(cookie) {
      const entry = known.get(cookie);
      if (entry === undefined) return undefined;
      if (entry.until > now()) return entry.actor;
      known.delete(cookie);
      return undefined;
    },
    set(cookie, actor) {
      known.delete(cookie);
      const oldest = known.size >= options.entries ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
      known.set(cookie, { actor, until: now() + options.lifeMs });
    },
    clear() {
      known.clear();
    },
  };
}
