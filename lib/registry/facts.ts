/** Small facts of the whole dock that outlive a restart, by name. Knows nothing of what they mean. */
import type { RegistryDatabase } from './database.ts';
import type { Awaitable } from './registry.ts';

export interface Facts {
  /** What was kept under a name, or null. It is what someone wrote once: the reader parses it. */
  read(name: string): Awaitable<unknown>;
  /** `value` is kept as JSON; `now` in epoch seconds. */
  keep(name: string, value: unknown, now: number): Awaitable<void>;
}

/** Apart from the settings of the registry itself, which are in the same table. */
const PREFIX = 'fact.';
const READ = 'SELECT value FROM settings WHERE key = ?';
const KEEP = `INSERT INTO settings(key, value, updated) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET value = excluded.value, updated = excluded.updated`;

export function openFacts(database: RegistryDatabase): Facts {
  return {
    read(name) {
      const text = database.value(READ, PREFIX + name);
      return text === null ? null : JSON.parse(String(text));
    },
    keep(name, value, now) {
      database.write(() => database.sql(KEEP).run(PREFIX + name, JSON.stringify(value), now));
    },
  };
}
