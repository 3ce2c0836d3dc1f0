/** Stores whose writes carry an id: the transaction that changes something notes it. */
import type { Registry } from '../registry.ts';
import type { PostgresDatabase } from './database.ts';

type Method = (...args: unknown[]) => unknown;

/** The registry, whose writes note an id by `note`, which rejects when it is noted already. */
export function carryingWrites(registry: Registry, database: PostgresDatabase, note: () => Promise<void>): Registry {
  const parts = Object.entries(registry).map(([name, store]) => {
    if (name === 'commitEvents' || typeof store !== 'object') return [name, store];
    const get = (of: object, key: string | symbol) => {
      const method = Reflect.get(of, key);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => database.carrying(note, () => (method as Method).apply(of, args));
    };
    return [name, new Proxy(store, { get })];
  });
  return Object.fromEntries(parts);
}
