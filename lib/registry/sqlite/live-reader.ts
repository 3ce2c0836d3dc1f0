/**
 * Reads and copies a registry file that a server may be using: every read sees the newest commit. Knows nothing of what
 * its rows' files hold.
 */
import { and, count, eq, gt, integer, isNotNull, isNull, placeholder, sqliteTable } from '../../../db/drizzle.ts';
import { blueprints, instances, snapshots, storeNames } from '../../../db/schema.ts';
import { parseCopyPath } from '../../base/copy-paths.ts';
import type { LiveRegistryReader, NeededCopy } from '../driver.ts';
import { rowsAfter } from '../statements/instance-rows.ts';
import { selectBy } from '../statements/raw.ts';
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
    const row = file.statement((queries) =>
      queries
        .select(columns)
        .from(instances)
        .where(eq(instances.id, placeholder('id')))
        .prepare(),
    );
    const rows = file.statement((queries) => rowsAfter(queries, columns).prepare());
    const counted = (table: typeof instances | typeof migrations) =>
      file
        .statement((queries) => queries.select({ n: count() }).from(table).prepare())()
        .get()?.n ?? 0;
    const storedCopy = file.statement((queries) =>
      selectBy(queries, { name: storeNames.name }, storeNames, 'store_names_by_hash')
        .where(
          and(
            eq(storeNames.hash, placeholder('hash')),
            eq(storeNames.kind, placeholder('kind')),
            isNotNull(storeNames.hash),
            eq(storeNames.state, 'current').inlineParams(),
          ),
        )
        .limit(1)
        .prepare(),
    );
    const copyColumns = ({ hash, bytes }: typeof snapshots | typeof blueprints) => ({ hash, bytes });
    const snapshot = file.statement((queries) =>
      queries
        .select(copyColumns(snapshots))
        .from(snapshots)
        .where(eq(snapshots.id, placeholder('id')))
        .prepare(),
    );
    const blueprint = file.statement((queries) =>
      queries
        .select({ ...copyColumns(blueprints), created: blueprints.created })
        .from(blueprints)
        .where(eq(blueprints.name, placeholder('name')))
        .prepare(),
    );
    return toAsync<LiveRegistryReader>({
      copyTo: (to) => file.copyTo(to),
      row: (id) => row().get({ id }) ?? null,
      rows: (after, limit) => rows().all({ after, limit }),
      copies() {
        const ofSnapshots = file.statement((queries) =>
          queries.select(copyColumns(snapshots)).from(snapshots).where(isNull(snapshots.deleted)).prepare(),
        );
        const ofBlueprints = file.statement((queries) =>
          queries.select(copyColumns(blueprints)).from(blueprints).prepare(),
        );
        const waiting = file.statement((queries) =>
          selectBy(queries, { path: instances.vfsPath, bytes: instances.bytes }, instances, 'instances_by_source')
            .where(and(eq(instances.state, 'created').inlineParams(), isNotNull(instances.vfsPath)))
            .prepare(),
        );
        const needed = new Map<string, NeededCopy>();
        const need = (copy: NeededCopy) => needed.set(`${copy.kind} ${copy.hash}`, copy);
        for (const copy of ofSnapshots().all()) need({ kind: 'snapshot', ...copy });
        for (const copy of ofBlueprints().all()) need({ kind: 'blueprint', ...copy });
        for (const { path, bytes } of waiting().all()) {
          const copy = path === null ? null : parseCopyPath(path);
          if (copy !== null) need({ ...copy, bytes: bytes ?? 0 });
        }
        return [...needed.values()];
      },
      originOf({ created, lineageSnapshot, lineageBlueprint }) {
        // One that came from a snapshot names its blueprint too.
        if (lineageSnapshot !== null) {
          const found = snapshot().get({ id: lineageSnapshot });
          return found === undefined ? null : { kind: 'snapshot', ...found, name: lineageSnapshot };
        }
        if (lineageBlueprint === null) return null;
        const found = blueprint().get({ name: lineageBlueprint });
        // A later one may have taken the name of one that was deleted.
        if (found === undefined || found.created > created) return null;
        return { kind: 'blueprint', hash: found.hash, bytes: found.bytes, name: lineageBlueprint };
      },
      storeNames(after, limit) {
        // An older registry knows no store.
        if (!file.has(storeNames)) return [];
        const names = file.statement((queries) =>
          queries
            .select({ name: storeNames.name })
            .from(storeNames)
            .where(and(gt(storeNames.name, placeholder('after')), eq(storeNames.state, 'current').inlineParams()))
            .orderBy(storeNames.name)
            .limit(placeholder('limit'))
            .prepare(),
        );
        return names()
          .all({ after, limit })
          .map(({ name }) => name);
      },
      storedCopy: (kind, hash) => (file.has(storeNames) ? (storedCopy().get({ kind, hash })?.name ?? null) : null),
      count: () => counted(instances),
      chainHead: () => ledgerReader(file).head(),
      migrations: () => counted(migrations),
      close: () => file.close(),
    });
  } catch (error) {
    file.close();
    throw error;
  }
}
