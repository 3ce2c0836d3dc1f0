/**
 * Inspects a registry file that a server may be using: one consistent snapshot, nothing changed, also of an earlier
 * version that would be brought forward. Does not judge its rows.
 */
import { statSync } from 'node:fs';
import {
  blueprints,
  countsByLabel,
  events,
  instances,
  secrets,
  settings,
  snapshots,
  storeNames,
  unclaimedFiles,
  webhooks,
} from '../../../db/schema.ts';
import type { CopyKind } from '../../base/copy-paths.ts';
import type { RegistryMoment } from '../driver.ts';
import { FACT_PREFIX } from '../statements/facts.ts';
import { momentStatements, STATES_WITH_FILE } from '../statements/moment.ts';
import type { FileRecord, InstanceRow } from '../types.ts';
import { RegistryFileReader } from './file-reader.ts';
import { columnsIn } from './instance-rows.ts';
import { ledgerReader } from './ledger-reader.ts';
import { wrongCounts } from './recount.ts';
import { type SyncMethods, toAsync } from './to-async.ts';

type Table = typeof instances | typeof snapshots | typeof blueprints;
type Asked = { get(bound: Record<string, unknown>): unknown };

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
    const ask = momentStatements(file, {
      columns: () => columnsIn(file),
      hasOwner: () => 'ownerHost' in file.present(instances),
    });
    /** True when a table exists and has a row that a statement over it finds. */
    const asking = (table: Table, one: () => Asked) => {
      const isThere = file.has(table);
      return (bound: { id?: string; path?: string; hash?: string } = {}) => isThere && one().get(bound) !== undefined;
    };
    const hasRows = [
      asking(instances, ask.anyInstance),
      asking(snapshots, ask.anySnapshot),
      asking(blueprints, ask.anyBlueprint),
    ];
    const hasInstance = asking(instances, ask.instance);
    const isBlueprint = asking(blueprints, ask.blueprintOfHash);
    const hadCopy = [asking(snapshots, ask.snapshotOfHash), isBlueprint, asking(instances, ask.instanceOfPath)];
    const needsCopy = [asking(snapshots, ask.keptSnapshotOfHash), isBlueprint, asking(instances, ask.waitingOfPath)];
    const methods: SyncMethods<Omit<RegistryMoment, 'chained' | 'segments'>> = {
      chainHead: () => ledger.head(),
      chain: (seq, limit) => ledger.lines(seq, limit),
      isEmpty: () => !hasRows.some((has) => has()),
      hasInstance: (id) => hasInstance({ id }),
      hasCopy: (at, hash) => hadCopy.some((has) => has({ path: at, hash })),
      hasStoreName: (name) => file.has(storeNames) && ask.storeName().get({ name }) !== undefined,
      needsCopy: (at, hash) => needsCopy.some((needs) => needs({ path: at, hash })),
      rows: (after, limit) => (file.has(instances) ? ask.rows().all({ after, limit }) : []),
      withFiles: (limit, host) =>
        file.has(instances)
          ? STATES_WITH_FILE.flatMap(
              (state) => ask.withFiles().all({ state, limit, host: host ?? '' }) as InstanceRow[],
            )
          : [],
      copies() {
        if (!file.has(snapshots)) return [];
        // An older registry knows no store.
        const stored = new Set(
          file.has(storeNames)
            ? ask
                .storedCopies()
                .all()
                .map(({ kind, hash }) => `${kind} ${hash}`)
            : [],
        );
        const withPlace = (kind: CopyKind) => (copy: { name: string; hash: string; file: FileRecord }) => ({
          kind,
          ...copy,
          isStored: stored.has(`${kind} ${copy.hash}`),
        });
        return [
          ...ask.snapshots().all().map(withPlace('snapshot')),
          ...ask.blueprints().all().map(withPlace('blueprint')),
        ];
      },
      tenantInLedger: (id) => (file.has(events) ? (ask.tenantInLedger().get({ id })?.tenant ?? null) : null),
      integrity: () => file.integrity(),
      miscounted: () => (file.has(countsByLabel) ? wrongCounts(file) : []),
      marks: () =>
        new Set(
          file.has(unclaimedFiles)
            ? ask
                .marks()
                .all()
                .map(({ path: at }) => at)
            : [],
        ),
      fact: (of) => (file.has(settings) ? (ask.fact().get({ key: FACT_PREFIX + of })?.value ?? null) : null),
      sealed: () => ({
        secrets: file.has(secrets) ? ask.sealedOfGuests().all() : [],
        webhooks: file.has(webhooks) ? ask.sealedOfWebhooks().all() : [],
      }),
      close: () => file.close(),
    };
    return { chained: ledger.chained, segments: { list: async () => ledger.segments() }, ...toAsync(methods) };
  } catch (error) {
    file.close();
    throw error;
  }
}
