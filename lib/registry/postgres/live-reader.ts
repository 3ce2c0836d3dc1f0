/** Reads and copies a registry on Postgres that a server may be using: every read sees the newest commit. */
import type { LiveRegistryReader } from '../driver.ts';
import { knownMigrations } from '../sqlite/migrate.ts';
import { INSTANCE_COLUMNS } from '../statements/instance-rows.ts';
import { liveStatements, neededCopies } from '../statements/live-rows.ts';
import type { PostgresDatabase } from './database.ts';
import { LedgerTable } from './ledger.ts';
import { carryOut } from './whole-schema.ts';

/** Reads the registry that `database` is connected to, which it closes. */
export function openLiveReader(database: PostgresDatabase): LiveRegistryReader {
  const ledger = new LedgerTable(database, 0);
  const ask = database.with((maker) => liveStatements(maker, () => INSTANCE_COLUMNS));
  return {
    copyTo: (path) => carryOut(database, path),
    row: async (id) => (await ask.row().get({ id })) ?? null,
    rows: (after, limit) => ask.rows().all({ after, limit }),
    copies: () =>
      database.read(async () =>
        neededCopies({
          snapshots: await ask.snapshots().all(),
          blueprints: await ask.blueprints().all(),
          waiting: await ask.waiting().all(),
        }),
      ),
    async originOf({ created, lineageSnapshot, lineageBlueprint }) {
      // One that came from a snapshot names its blueprint too.
      if (lineageSnapshot !== null) {
        const found = await ask.snapshot().get({ id: lineageSnapshot });
        return found === undefined ? null : { kind: 'snapshot', ...found, name: lineageSnapshot };
      }
      if (lineageBlueprint === null) return null;
      const found = await ask.blueprint().get({ name: lineageBlueprint });
      // A later one may have taken the name of one that was deleted.
      if (found === undefined || found.created > created) return null;
      return { kind: 'blueprint', hash: found.hash, bytes: found.bytes, name: lineageBlueprint };
    },
    storeNames: async (after, limit) => (await ask.storeNames().all({ after, limit })).map(({ name }) => name),
    storedCopy: async (kind, hash) => (await ask.storedCopy().get({ kind, hash }))?.name ?? null,
    count: async () => (await ask.count().get())?.n ?? 0,
    chainHead: () => ledger.head(),
    // Of the file that a copy of it is.
    migrations: async () => knownMigrations(),
    close: () => database.close(),
  };
}
