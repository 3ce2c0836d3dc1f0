/**
 * Snapshots and blueprints as rows, the instances made from them, and the marks on files that no row claims, so that
 * none is left behind. Knows nothing of files but their names.
 */
import type { FileRecord, InstanceRow, LedgerEntry, NewInstance, RowPage } from './types.ts';

export const COPY_KINDS = ['snapshot', 'blueprint'] as const;
export type CopyKind = (typeof COPY_KINDS)[number];

const DRAWERS: Readonly<Record<CopyKind, string>> = { snapshot: 'snapshots', blueprint: 'blueprints' };
const COPY_PATH = /^(snapshots|blueprints)\/([0-9a-f]{64})\.sqlite$/;

/** The drawer of a kind of copy. */
export function copyDrawer(kind: CopyKind): string {
  return DRAWERS[kind];
}

/** The path of a copy's file, relative to the data folder. `hash` is the lower-case hex SHA-256 of its bytes. */
export function copyPath(kind: CopyKind, hash: string): string {
  return `${DRAWERS[kind]}/${hash}.sqlite`;
}

/** Which copy's file a path is, or null when it is none. */
export function parseCopyPath(path: string): { kind: CopyKind; hash: string } | null {
  const [, drawer, hash] = COPY_PATH.exec(path) ?? [];
  if (hash === undefined) return null;
  return { kind: drawer === DRAWERS.snapshot ? 'snapshot' : 'blueprint', hash };
}

/** What a copy holds. */
export interface CopyContent {
  /** Lower-case hex SHA-256 of the file. */
  hash: string;
  bytes: number;
  volumes: { volume: string; files: number; bytes: number }[];
  /** The file as it was put into its drawer. */
  file: FileRecord;
}

export interface SnapshotRow extends CopyContent {
  id: string;
  tenant: string;
  /** The instance that it was made from; it may be deleted by now. */
  source: string;
  tag: string | null;
  /** Epoch seconds. */
  created: number;
  actor: string;
  /** Epoch seconds, or null. A deleted snapshot stays as the ancestor of what came from it. */
  deleted: number | null;
}

/** Instances of one call that are to be resumed after they were made. */
export interface PendingStart {
  ids: string[];
  from: Ancestor;
  tenant: string;
  /** Who asked for it: JSON. */
  cause: unknown;
}

export interface BlueprintRow extends CopyContent {
  name: string;
  /** Tenant and instance that it was made from; null when it was uploaded. */
  tenant: string | null;
  source: string | null;
  created: number;
  actor: string;
}

export interface SnapshotFilter {
  tenant?: string;
  /** Of these tenants only; none when empty. */
  tenants?: readonly string[];
  tag?: string;
  source?: string;
}

/** What instances were made from. */
export type Ancestor = { snapshot: string } | { blueprint: string };

/** Each method is one durable transaction, ledger lines included. */
export interface CopyStore {
  /** Inserts a snapshot and takes the mark off its file. Throws `quota_exceeded`. */
  addSnapshot(snapshot: SnapshotRow, ledger: LedgerEntry): Promise<void>;
  /** The tenant of a snapshot, deleted ones included, or null. */
  snapshotTenant(id: string): Promise<string | null>;
  /** The row, deleted ones included, or null. */
  snapshot(id: string): Promise<SnapshotRow | null>;
  /** Newest first, without deleted ones. */
  snapshots(filter: SnapshotFilter, limit: number, cursor?: string): Promise<RowPage<SnapshotRow>>;
  /** Marks the row as deleted, and its file when no other snapshot has it. False when there is no such snapshot. */
  deleteSnapshot(id: string, now: number, ledger: LedgerEntry): Promise<boolean>;

  /** Inserts a blueprint and takes the mark off its file. Throws `conflict` for a name that is taken. */
  addBlueprint(blueprint: BlueprintRow, ledger: LedgerEntry): Promise<void>;
  blueprint(name: string): Promise<BlueprintRow | null>;
  /** By name. */
  blueprints(limit: number, cursor?: string): Promise<RowPage<BlueprintRow>>;
  /** Removes the row and marks its file when no other blueprint has it. False when there is no such blueprint. */
  deleteBlueprint(name: string, ledger: LedgerEntry): Promise<boolean>;

  /**
   * Inserts instances in state `created` whose file is that of a copy, all or none, in the order given, which is the
   * order of the result. Throws `not_found` when the snapshot or blueprint is gone, `conflict` for an id or name that
   * is taken. With `start` it is kept, with the rows and as durably, that they are to be resumed.
   */
  seed(
    from: Ancestor,
    instances: NewInstance[],
    now: number,
    ledger: LedgerEntry[],
    start?: Pick<PendingStart, 'tenant' | 'cause'>,
  ): Promise<InstanceRow[]>;
  /** What is to be resumed and was not yet, oldest first. */
  pendingStarts(): Promise<PendingStart[]>;
  /** Forgets one, named by the first of its instances, with the line that says how it ended. */
  removePendingStart(first: string, ledger: LedgerEntry): Promise<void>;
  /** Instances made from an ancestor, oldest first, tombstones included. */
  descendants(ancestor: Ancestor, limit: number, cursor?: string): Promise<RowPage<InstanceRow>>;
  /** How many there are, tombstones included. */
  countDescendants(ancestor: Ancestor): Promise<number>;

  /**
   * Marks a file, of a copy or of what is landing in the live drawer, that is about to be put there: until a row claims
   * it, it is to go.
   */
  markUnclaimed(path: string): Promise<void>;
  /** Every marked file. */
  unclaimedFiles(): Promise<string[]>;
  /** Whether a snapshot, a blueprint or an instance that was never resumed needs a file. */
  isNeeded(path: string): Promise<boolean>;
  /**
   * Records anew the file of a copy that was laid into its drawer again, for every row that has it: of copies, and of
   * instances that were never resumed.
   */
  updateFileRecord(kind: CopyKind, hash: string, file: FileRecord): Promise<void>;
  /** Takes the mark off a file that is gone. */
  clearUnclaimed(path: string): Promise<void>;
}
