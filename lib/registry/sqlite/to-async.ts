/** SQLite answers synchronously; the contract's methods return promises. An error of a method rejects its promise. */

/** A store inside this driver, where a transaction cannot wait: its methods may return values instead of promises. */
export type SyncMethods<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => R | Promise<R> : T[K];
};

/** The store with every method asynchronous. */
export function toAsync<T extends object>(part: SyncMethods<T>): T {
  const methods: Record<string, unknown> = {};
  for (let from: object = part; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from)) {
      const method = (part as Record<string, unknown>)[name];
      if (name === 'constructor' || name in methods || typeof method !== 'function') continue;
      methods[name] = async (...given: unknown[]) => method.apply(part, given);
    }
  }
  return methods as T;
}
