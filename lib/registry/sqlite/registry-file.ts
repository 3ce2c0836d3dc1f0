/**
 * Inspects a registry file that a server may be using: one consistent snapshot, nothing changed, also of an earlier
 * version that would be brought forward. Does not judge its rows.
 */
import { statSync } from 'node:fs';
import type { SQL } from 'drizzle-orm';
import { and, desc, eq, isNotNull, isNull, ne, placeholder } from '../../../db/drizzle.ts';
import { blueprints, countsByLabel, events, instances, snapshots, unclaimedFiles } from '../../../db/schema.ts';
import type { ChainedLine, ChainHead } from '../chain.ts';
import type { CopyKind } from '../copies.ts';
import type { Segment } from '../segments.ts';
import type { FileRecord, InstanceRow } from '../types.ts';
import { RegistryFileReader } from './file-reader.ts';
import { columnsIn, rowsAfter } from './instance-rows.ts';
import { ledgerReader } from './ledger-reader.ts';
import { selectBy } from './raw.ts';
import { wrongCounts } from './recount.ts';

type Table = typeof instances | typeof snapshots | typeof blueprints;

/** Sizes of a registry's files, before it is opened. */
export interface RegistryFileState {
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

export interface RegistryFile {
  /** False for a file without tables. */
  readonly chained: boolean;
  chainHead(): ChainHead;
  /** Lines after `seq`, oldest first. */
  chain(seq: number, limit: number): ChainedLine[];
  readonly segments: { list(): Segment[] };
  /** True when it has no row of an instance (tombstones included), a snapshot or a blueprint. */
  isEmpty(): boolean;
  /** True when an instance, tombstones included, has this id. */
  hasInstance(id: string): boolean;
  /**
   * True when a snapshot, a blueprint or an instance has, or had, this file: a path relative to the data folder, and
   * its hash.
   */
  hasCopy(path: string, hash: string): boolean;
  /** True when a living row needs a copy's file: a snapshot, a blueprint, or an instance that was never resumed. */
  needsCopy(path: string, hash: string): boolean;
  /** Rows of instances in the order of their ids, after `after`. */
  rows(after: string, limit: number): InstanceRow[];
  /** Snapshots and blueprints that were not deleted, with their files. */
  copies(): { kind: CopyKind; name: string; hash: string; file: FileRecord }[];
  /** The tenant of an instance according to the ledger; null when the ledger does not say. */
  tenantInLedger(id: string): string | null;
  /** `ok`, or what SQLite finds wrong with the file. Reads all of it. */
  integrity(): string;
  /** The tables whose counts differ from the rows. */
  miscounted(): string[];
  /** Marked paths: a file there is removed, unless a row claims it. */
  marks(): Set<string>;
  close(): void;
}

/** Opens the existing, non-empty registry file at `path`. Throws SQLite's errors. */
export function openRegistryFile(path: string): RegistryFile {
  const file = new RegistryFileReader(path, { oneMoment: true });
  try {
    const ledger = ledgerReader(file);
    const rows = file.statement((queries) => rowsAfter(queries, columnsIn(file)).prepare());
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
    return {
      chained: ledger.chained,
      chainHead: () => ledger.head(),
      chain: (seq, limit) => ledger.lines(seq, limit),
      segments: { list: () => ledger.segments() },
      isEmpty: () => !hasRows.some((has) => has()),
      hasInstance: (id) => hasInstance({ id }),
      hasCopy: (at, hash) => hadCopy.some((has) => has({ path: at, hash })),
      needsCopy: (at, hash) => needsCopy.some((needs) => needs({ path: at, hash })),
      rows: (after, limit) => (file.has(instances) ? rows().all({ after, limit }) : []),
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
        return [
          ...ofSnapshots()
            .all()
            .map((copy) => ({ kind: 'snapshot' as const, ...copy })),
          ...ofBlueprints()
            .all()
            .map((copy) => ({ kind: 'blueprint' as const, ...copy })),
        ];
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
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}
