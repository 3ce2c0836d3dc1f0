/**
 * Rows of snapshots and blueprints, the instances made from them, and marks on files that no row uses yet or any more,
 * so that unused files get removed. Knows nothing of files but their names (lib/base/copy-paths.ts).
 */
import { type CopyKind, copyPath } from '../base/copy-paths.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { FileRecord, InstanceRow, LedgerEntry, NewInstance, RowPage } from './types.ts';

/** The contents of a copy. */
export interface CopyContent {
  /** Lower-case hex SHA-256 of the file. */
  hash: string;
  bytes: number;
  volumes: { volume: string; files: number; bytes: number }[];
  /** The file as it was stored in its drawer. */
  file: FileRecord;
}

export interface SnapshotRow extends CopyContent {
  id: string;
  tenant: string;
  /** The instance that it was made from; may be deleted by now. */
  source: InstanceId;
  tag: string | null;
  /** Epoch seconds. */
  created: number;
  actor: string;
  /** Epoch seconds, or null. The row of a deleted snapshot stays as the ancestor of its clones. */
  deleted: number | null;
  /** Of a named moment of `source`, whose tag is its name: when it was committed, in epoch ms. Null: a snapshot. */
  momentMs: number | null;
}

/** A named moment of a sandbox, kept as a copy of its own. */
export interface NamedMomentRow extends SnapshotRow {
  tag: string;
  momentMs: number;
}

/** Instances of one call that are to be resumed after they were made. */
export interface PendingStart {
  ids: InstanceId[];
  from: Ancestor;
  tenant: string;
  /** The audit context of the caller: JSON. */
  cause: unknown;
}

export interface BlueprintRow extends CopyContent {
  name: string;
  /** Tenant and instance that it was made from; null when it was uploaded. */
  tenant: string | null;
  source: InstanceId | null;
  created: number;
  actor: string;
  /** What is set for the replicas of its clones; null: nothing. */
  replicate: string | null;
}

export interface SnapshotFilter {
  tenant?: string;
  /** Only these tenants; empty: all. */
  tenants?: readonly string[];
  tag?: string;
  source?: InstanceId;
  /** Without named moments. Default: with them. */
  isTaken?: true;
}

/** The origin of instances. */
export type Ancestor = { snapshot: string } | { blueprint: string };

/** Each method is one durable transaction, ledger lines included. */
export interface CopyStore {
  /**
   * Inserts a snapshot and unmarks its file. Throws `quota_exceeded`, and `conflict` for a named moment where its
   * sandbox has one of that name.
   */
  addSnapshot(snapshot: SnapshotRow, ledger: LedgerEntry): Promise<void>;
  /** The tenant of a snapshot, deleted ones included, or null; takes as long for either. */
  snapshotTenant(id: string): Promise<string | null>;
  /** The row, deleted ones included, or null. */
  snapshot(id: string): Promise<SnapshotRow | null>;
  /** Newest first, without deleted ones. */
  snapshots(filter: SnapshotFilter, limit: number, cursor?: string): Promise<RowPage<SnapshotRow>>;
  /** Those of a file, without deleted ones: at most `limit`, in no order. */
  snapshotsOf(hash: string, limit: number): Promise<SnapshotRow[]>;
  /** The named moments of a sandbox, the newest first. Deleting it deletes them, in the same transaction. */
  namedMoments(source: InstanceId): Promise<NamedMomentRow[]>;
  /** Marks the row as deleted, and its file when no other snapshot uses it. False when there is no such snapshot. */
  deleteSnapshot(id: string, now: number, ledger: LedgerEntry): Promise<boolean>;

  /** Inserts a blueprint and unmarks its file. Throws `conflict` for a name that is taken. */
  addBlueprint(blueprint: BlueprintRow, ledger: LedgerEntry): Promise<void>;
  blueprint(name: string): Promise<BlueprintRow | null>;
  /** Those of a file: at most `limit`, in no order. */
  blueprintsOf(hash: string, limit: number): Promise<BlueprintRow[]>;
  /** By name. */
  blueprints(limit: number, cursor?: string): Promise<RowPage<BlueprintRow>>;
  /** Removes the row, and marks its file when no other blueprint uses it. False when there is no such blueprint. */
  deleteBlueprint(name: string, ledger: LedgerEntry): Promise<boolean>;

  /**
   * Inserts instances of one tenant in state `created` that will get a copy's file: all or none, and the result keeps
   * their order. `ledger` has a line for each, in their order, then those of the call. With `start`, their pending
   * resume is stored with the last of them. With more instances than `atOnce`, all are admitted in this transaction but
   * only so many inserted; the others are stored with their lines, count towards quotas and hold their names until
   * `continueSeeding` inserts them. Throws `not_found` when the snapshot or blueprint is gone, `conflict` for an id or
   * name that is taken, `quota_exceeded`.
   */
  seed(
    from: Ancestor,
    instances: NewInstance[],
    now: number,
    ledger: LedgerEntry[],
    options?: { start?: Pick<PendingStart, 'tenant' | 'cause'>; atOnce?: number },
  ): Promise<InstanceRow[]>;
  /** The first instance of each call that is not wholly inserted, oldest first. */
  unfinishedSeedings(): Promise<InstanceId[]>;
  /** The instances of a call, identified by its first, that `continueSeeding` would insert; null when all are. */
  nextOfSeeding(first: InstanceId): Promise<InstanceRow[] | null>;
  /** Inserts the next instances of a call, identified by its first. Null when all are inserted. */
  continueSeeding(first: InstanceId): Promise<InstanceRow[] | null>;
  /** Pending resumes, oldest first. */
  pendingStarts(): Promise<PendingStart[]>;
  /** Removes a pending resume, identified by its first instance, and appends the line with its outcome. */
  removePendingStart(first: string, ledger: LedgerEntry): Promise<void>;
  /** Instances made from an ancestor, oldest first, tombstones included. */
  descendants(ancestor: Ancestor, limit: number, cursor?: string): Promise<RowPage<InstanceRow>>;
  /** The number of them, tombstones included. */
  countDescendants(ancestor: Ancestor): Promise<number>;

  /**
   * Marks a file before it is written: a copy, or a file on its way into the live drawer. A marked file is deleted
   * unless a row claims it.
   */
  markUnclaimed(path: string): Promise<void>;
  /** Every marked file. */
  unclaimedFiles(): Promise<string[]>;
  /** True while a snapshot, a blueprint or an instance that was never resumed needs the file. */
  isNeeded(path: string): Promise<boolean>;
  /**
   * Updates what is recorded of a copy's file after it was restored to its drawer, in every row that uses it: copies,
   * and instances that were never resumed.
   */
  updateFileRecord(kind: CopyKind, hash: string, file: FileRecord): Promise<void>;
  /** Unmarks a file that is gone. */
  clearUnclaimed(path: string): Promise<void>;
}

/** The kind of copy of an ancestor, and its id or name. */
export function ancestryOf(ancestor: Ancestor): { kind: CopyKind; key: string } {
  return 'snapshot' in ancestor
    ? { kind: 'snapshot', key: ancestor.snapshot }
    : { kind: 'blueprint', key: ancestor.blueprint };
}

/** The error of a second named moment of the same name. */
export function momentNameTaken(
  { tag, source }: Pick<SnapshotRow, 'tag' | 'source'>,
  cause?: unknown,
): WinterdockError {
  return new WinterdockError('conflict', `The sandbox "${source}" has a moment named "${tag}" already.`, {
    hint: 'Choose another name, or remove the one that has it.',
    extra: { taken: tag },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What is asked to insert instances of a copy, beside those that are inserted at once. */
interface Seeding {
  /** At once, and of each chunk. */
  atOnce: number;
  /** Of all of them, in their order, and then those of the call. */
  entries: readonly LedgerEntry[];
  pending: PendingStart | null;
}

/** Chunks of instances that wait to be inserted, the call's first instance being `first`. */
export function chunksOf(first: InstanceId, rows: readonly InstanceRow[], { atOnce, entries, pending }: Seeding) {
  const begins = Array.from({ length: Math.ceil(rows.length / atOnce) }, (_, n) => n * atOnce);
  return begins.map((at) => {
    const chunk = rows.slice(at, at + atOnce);
    const isLast = at + atOnce >= rows.length;
    return {
      first,
      tenant: chunk[0]?.tenant ?? '',
      path: chunk[0]?.vfsPath ?? '',
      sandboxes: chunk.length,
      bytes: chunk.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
      rows: chunk,
      // The lines behind those of the instances are the call's own, and come last.
      ledger: entries.slice(atOnce + at, isLast ? undefined : 2 * atOnce + at),
      start: isLast ? pending : null,
    };
  });
}

/** The copy's facts for an instance that is made of it. Throws `not_found` when it is gone. */
export function contentOfCopy(
  { kind, key }: ReturnType<typeof ancestryOf>,
  row: SnapshotRow | BlueprintRow | null,
): Pick<InstanceRow, 'vfsPath' | 'bytes' | 'file'> {
  if (row === null || ('deleted' in row && row.deleted !== null))
    throw new WinterdockError('not_found', `There is no ${kind} "${key}".`);
  return { vfsPath: copyPath(kind, row.hash), bytes: row.bytes, file: row.file };
}
