/**
 * Inspects a registry file that a server may be using: one consistent snapshot, nothing changed, also of an earlier
 * version that would be brought forward. Does not judge its rows.
 */
import { statSync } from 'node:fs';
import type { SQL } from 'drizzle-orm';
import { and, desc, eq, isNotNull, isNull, ne, not, notInArray, or, placeholder } from '../../../db/drizzle.ts';
import {
  blueprints,
  countsByLabel,
  events,
  instances,
  snapshots,
  storeNames,
  unclaimedFiles,
} from '../../../db/schema.ts';
import type { CopyKind } from '../../base/copy-paths.ts';
import type { State } from '../../lifecycle/states.ts';
import type { Fault } from '../../lifecycle/words.ts';
import type { RegistryMoment } from '../driver.ts';
import { rowsAfter } from '../statements/instance-rows.ts';
import { IS_IN_STORE, selectBy } from '../statements/raw.ts';
import type { FileRecord, InstanceRow } from '../types.ts';
import { RegistryFileReader } from './file-reader.ts';
import { columnsIn } from './instance-rows.ts';
import { ledgerReader } from './ledger-reader.ts';
import { wrongCounts } from './recount.ts';
import { sealedRows } from './sealed-rows.ts';
import { type SyncMethods, toAsync } from './to-async.ts';

/** States in which a sandbox may have a file of its own. */
const WITH_FILE: readonly State[] = ['suspended', 'frozen', 'archived', 'active'];
const WITHOUT_IT: Fault[] = ['missing', 'corrupt'];

type Table = typeof instances | typeof snapshots | typeof blueprints;

/** Sizes of a registry's files, before it is opened. */
interface RegistryFileState {
  /** Bytes of the file; null when there is none. */
  bytes: number | null;
  /** Bytes of the log beside it; 0 when there is none. */
  walBytes: number;
}

/** Looks at the file at `path` and its log without opening either. */
export function registryFileState(path: string): RegistryFileState {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? null;
  return { bytes: sizeOf(path), walBytes: sizeOf(`${path}-wal`) ?? 0 };
}

/** Opens the existing, non-empty registry file at `path`. Throws SQLite's errors. */
export function openRegistryFile(path: string): RegistryMoment {
  const file = new RegistryFileReader(path, { oneMoment: true });
  try {
    const ledger = ledgerReader(file);
    const rows = file.statement((queries) => rowsAfter(queries, columnsIn(file)).prepare());
    const withFiles = file.statement((queries) => {
      const { state, vfsPath, fault, updated, ownerHost } = instances;
      const present = file.present(instances);
      const isOf = or(eq(placeholder('host'), ''), isNull(ownerHost), eq(ownerHost, placeholder('host')));
      return selectBy(queries, columnsIn(file), instances, 'instances_by_state_updated')
        .where(
          and(
            eq(state, placeholder('state')),
            isNotNull(vfsPath),
            ne(vfsPath, ':memory:').inlineParams(),
            or(isNull(fault), notInArray(fault, WITHOUT_IT)),
            'ownerHost' in present ? isOf : undefined,
            not(IS_IN_STORE),
          ),
        )
        .orderBy(desc(updated))
        .limit(placeholder('limit'))
        .prepare();
    });
    const tenantInLedger = file.statement((queries) =>
      selectBy(queries, { tenant: events.tenant }, events, 'events_by_instance')
        .where(and(eq(events.instance, placeholder('id')), isNotNull(events.tenant), ne(events.tenant, '')))
        .orderBy(desc(events.timeMs))
        .limit(1)
        .prepare(),
    );
    /** True when a table exists and has a row that matches the condition, or any row without one. */
    const asking = <T extends Table>(table: T, where?: (table: T) => SQL | undefined) => {
      const isThere = file.has(table);
      const one = file.statement((queries) =>
        queries
          .select({ created: table.created })
          .from(table as Table)
          .where(where?.(table))
          .limit(1)
          .prepare(),
      );
      return (bound: { id?: string; path?: string; hash?: string } = {}) => isThere && one().get(bound) !== undefined;
    };
    const ofHash = ({ hash }: typeof snapshots | typeof blueprints) => eq(hash, placeholder('hash'));
    const ofPath = ({ vfsPath }: typeof instances) => eq(vfsPath, placeholder('path'));
    const hasRows = [asking(instances), asking(snapshots), asking(blueprints)];
    const hasInstance = asking(instances, ({ id }) => eq(id, placeholder('id')));
    const isBlueprint = asking(blueprints, ofHash);
    const hadCopy = [asking(snapshots, ofHash), isBlueprint, asking(instances, ofPath)];
    const needsCopy = [
      asking(snapshots, (table) => and(ofHash(table), isNull(table.deleted))),
      isBlueprint,
      asking(instances, (table) => and(ofPath(table), eq(table.state, 'created').inlineParams())),
    ];
    const methods: SyncMethods<Omit<RegistryMoment, 'chained' | 'segments'>> = {
      chainHead: () => ledger.head(),
      chain: (seq, limit) => ledger.lines(seq, limit),
      isEmpty: () => !hasRows.some((has) => has()),
      hasInstance: (id) => hasInstance({ id }),
      hasCopy: (at, hash) => hadCopy.some((has) => has({ path: at, hash })),
      hasStoreName(name) {
        if (!file.has(storeNames)) return false;
        const named = file.statement((queries) =>
          queries
            .select({ name: storeNames.name })
            .from(storeNames)
            .where(eq(storeNames.name, placeholder('name')))
            .prepare(),
        );
        return named().get({ name }) !== undefined;
      },
      needsCopy: (at, hash) => needsCopy.some((needs) => needs({ path: at, hash })),
      rows: (after, limit) => (file.has(instances) ? rows().all({ after, limit }) : []),
      withFiles: (limit, host) =>
        file.has(instances)
          ? WITH_FILE.flatMap((state) => withFiles().all({ state, limit, host: host ?? '' }) as InstanceRow[])
          : [],
      copies() {
        if (!file.has(snapshots)) return [];
        const ofSnapshots = file.statement((queries) =>
          queries
            .select({ name: snapshots.id, hash: snapshots.hash, file: snapshots.file })
            .from(snapshots)
            .where(isNull(snapshots.deleted))
            .prepare(),
        );
        const ofBlueprints = file.statement((queries) =>
          queries
            .select({ name: blueprints.name, hash: blueprints.hash, file: blueprints.file })
            .from(blueprints)
            .prepare(),
        );
        const stored = storedCopies(file);
        const withPlace = (kind: CopyKind) => (copy: { name: string; hash: string; file: FileRecord }) => ({
          kind,
          ...copy,
          isStored: stored.has(`${kind} ${copy.hash}`),
        });
        return [...ofSnapshots().all().map(withPlace('snapshot')), ...ofBlueprints().all().map(withPlace('blueprint'))];
      },
      tenantInLedger: (id) => (file.has(events) ? (tenantInLedger().get({ id })?.tenant ?? null) : null),
      integrity: () => file.integrity(),
      miscounted: () => (file.has(countsByLabel) ? wrongCounts(file) : []),
      marks() {
        const marked = file.statement((queries) => queries.select().from(unclaimedFiles).prepare());
        return new Set(
          file.has(unclaimedFiles)
            ? marked()
                .all()
                .map(({ path: at }) => at)
            : [],
        );
      },
      ...sealedRows(file),
      close: () => file.close(),
    };
    return { chained: ledger.chained, segments: { list: async () => ledger.segments() }, ...toAsync(methods) };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Kind and hash of every copy that has a whole object in the store. An older registry knows no store. */
function storedCopies(file: RegistryFileReader): Set<string> {
  if (!file.has(storeNames)) return new Set();
  const names = file.statement((queries) =>
    queries
      .select({ kind: storeNames.kind, hash: storeNames.hash })
      .from(storeNames)
      .where(and(isNotNull(storeNames.hash), eq(storeNames.state, 'current').inlineParams()))
      .prepare(),
  );
  return new Set(
    names()
      .all()
      .map(({ kind, hash }) => `${kind} ${hash}`),
  );
}
