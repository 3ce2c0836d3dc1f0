/** Small facts of the whole dock that outlive a restart, by name. Knows nothing of what they mean. */
import type { Facts } from '../facts.ts';
import type { RegistryDatabase } from './database.ts';

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
