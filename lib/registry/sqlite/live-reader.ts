/**
 * Reads and copies a registry file that a server may be using: every read sees the newest commit. Knows nothing of what
 * its rows' files hold.
 */
import { count, integer, sqliteTable } from '../../../db/drizzle.ts';
import { instances, storeNames } from '../../../db/schema.ts';
import type { LiveRegistryReader } from '../driver.ts';
import { liveStatements, neededCopies } from '../statements/live-rows.ts';
import { RegistryFileReader } from './file-reader.ts';
import { columnsIn } from './instance-rows.ts';
import { ledgerReader } from './ledger-reader.ts';
import { toAsync } from './to-async.ts';

/** Number of its migrations, from the migrator's own table, which is not part of the schema. */
const migrations = sqliteTable('__drizzle_migrations', { id: integer('id') });

/**
 * Opens the existing registry file at `path`. Throws SQLite's errors, and an error for a file that is not a registry.
 */
export function openLiveReader(path: string): LiveRegistryReader {
  const file = new RegistryFileReader(path, { oneMoment: false });
  try {
    if (!file.has(instances)) throw new Error(`${path} is not the registry of a Winterdock.`);
    const columns = columnsIn(file);
    const ask = liveStatements(file, () => columns);
    const recorded = file.statement((queries) => queries.select({ n: count() }).from(migrations).prepare());
    const hasStore = () => file.has(storeNames);
    return toAsync<LiveRegistryReader>({
      copyTo: (to) => file.copyTo(to),
      row: (id) => ask.row().get({ id }) ?? null,
      rows: (after, limit) => ask.rows().all({ after, limit }),
      copies: () =>
        neededCopies({
          snapshots: ask.snapshots().all(),
          blueprints: ask.blueprints().all(),
          waiting: ask.waiting().all(),
        }),
      originOf({ created, lineageSnapshot, lineageBlueprint }) {
        // One that came from a snapshot names its blueprint too.
        if (lineageSnapshot !== null) {
          const found = ask.snapshot().get({ id: lineageSnapshot });
          return found === undefined ? null : { kind: 'snapshot', ...found, name: lineageSnapshot };
        }
        if (lineageBlueprint === null) return null;
        const found = ask.blueprint().get({ name: lineageBlueprint });
        // A later one may have taken the name of one that was deleted.
        if (found === undefined || found.created > created) return null;
        return { kind: 'blueprint', hash: found.hash, bytes: found.bytes, name: lineageBlueprint };
      },
      // An older registry knows no store.
      storeNames: (after, limit) =>
        hasStore()
          ? ask
              .storeNames()
              .all({ after, limit })
              .map(({ name }) => name)
          : [],
      storedCopy: (kind, hash) => (hasStore() ? (ask.storedCopy().get({ kind, hash })?.name ?? null) : null),
      count: () => ask.count().get()?.n ?? 0,
      chainHead: () => ledgerReader(file).head(),
      migrations: () => recorded().get()?.n ?? 0,
      close: () => file.close(),
    });
  } catch (error) {
    file.close();
    throw error;
  }
}
