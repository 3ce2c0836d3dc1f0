/**
 * What a registry is while it is closed: whether there is one, how it is locked, read beside its server, set aside,
 * replaced and opened. One driver for each kind (lib/registry/drivers.ts chooses); nobody else knows whether there is a
 * file. Knows nothing of what the rows mean.
 */
import type { Clock } from '../base/clock.ts';
import type { CopyKind } from '../base/copy-paths.ts';
import type { InstanceId } from '../base/ids.ts';
import type { ChainedLine, ChainHead } from './chain.ts';
import type { LedgerView } from './ledger.ts';
import type { RegistryLogKeeper } from './log-keeper.ts';
import type { Registry } from './registry.ts';
import type { ScheduleLimits } from './schedules.ts';
import type { SecretTerms } from './secrets.ts';
import type { Segment } from './segments.ts';
import type { FileRecord, InstanceRow, Thresholds } from './types.ts';

export interface RegistryOptions {
  /** The global ones until others are set. */
  thresholds: Thresholds;
  /** Default: the system's. */
  clock?: Clock;
  /** How many schedules a docking may bring. Default: any number. */
  scheduleLimits?: ScheduleLimits;
  /** Runs kept of each schedule. Default: 100. */
  runsPerSchedule?: number;
  /** False: nothing is synced, for one that nobody uses before it is complete. Default: true. */
  durable?: boolean;
  /**
   * Follows what other processes commit: lines are heard as they come, and what was read of access and settings may be
   * kept (`CommitEvents.mayCache`). A driver that only one process can have open does nothing for it. Default: false.
   */
  follow?: boolean;
  /** Without its leave the log of the registry stays. Default: nobody. */
  keeper?: RegistryLogKeeper | null;
}

/** What is found before a registry is opened. */
export type RegistryPresence =
  | { kind: 'missing' }
  /** It was made, and nothing was ever written. */
  | { kind: 'empty' }
  /** Its file is empty, and a log of so many bytes lies beside it, which opening would delete. */
  | { kind: 'log_only'; logBytes: number }
  /** `logBytes`: of a log that the next one that opens it reads; 0 when there is none. */
  | { kind: 'there'; logBytes: number };

/** What is sealed, and for whom. */
export interface SealedRows {
  secrets: (SecretTerms & { sealed: string })[];
  webhooks: { id: string; name: string; secret: string }[];
}

/** One moment of a registry that a server may be using, of this version or an older one. Nothing is changed. */
export interface RegistryMoment {
  /** True when its ledger has hashes; false for one of an older version, and for one without tables. */
  readonly chained: boolean;
  chainHead(): Promise<ChainHead>;
  /** Lines after `seq`, oldest first. */
  chain(seq: number, limit: number): Promise<ChainedLine[]>;
  readonly segments: { list(): Promise<Segment[]> };
  /** True when it has no row of an instance (tombstones included), a snapshot or a blueprint. */
  isEmpty(): Promise<boolean>;
  /** True when an instance, tombstones included, has this id. */
  hasInstance(id: string): Promise<boolean>;
  /**
   * True when a snapshot, a blueprint or an instance has, or had, this file: a path relative to the data folder, and
   * its hash.
   */
  hasCopy(path: string, hash: string): Promise<boolean>;
  /** True when this name was given to an object in the store, whatever became of it. */
  hasStoreName(name: string): Promise<boolean>;
  /** True when a living row needs a copy's file: a snapshot, a blueprint, or an instance that was never resumed. */
  needsCopy(path: string, hash: string): Promise<boolean>;
  /** Rows of instances in the order of their ids, after `after`. Throws for one of an older version. */
  rows(after: string, limit: number): Promise<InstanceRow[]>;
  /**
   * Of each state at rest or awake, the `limit` rows last used that name a file which the store has not, and are not
   * known to have lost or damaged it. `host`: only rows of that one or of nobody; null: all.
   */
  withFiles(limit: number, host: string | null): Promise<InstanceRow[]>;
  /** Snapshots and blueprints that were not deleted, with their files. `isStored`: the store has a whole object. */
  copies(): Promise<{ kind: CopyKind; name: string; hash: string; file: FileRecord; isStored: boolean }[]>;
  /** The tenant of an instance according to the ledger; null when the ledger does not say. */
  tenantInLedger(id: string): Promise<string | null>;
  /** `ok`, or what is wrong with the stored pages. Reads all of them. */
  integrity(): Promise<string>;
  /** The tables whose counts differ from the rows. */
  miscounted(): Promise<string[]>;
  /** Marked paths: a file there is removed, unless a row claims it. */
  marks(): Promise<Set<string>>;
  /** The stored value of a fact, or null. The reader parses it. */
  fact(name: string): Promise<unknown>;
  /** Everything that is encrypted. */
  sealed(): Promise<SealedRows>;
  close(): Promise<void>;
}

/** The file of a copy that a row needs. */
export interface NeededCopy {
  kind: CopyKind;
  /** Lower-case hex SHA-256 of its bytes; also its name. */
  hash: string;
  bytes: number;
}

/** Reads and copies a registry that a server may be using: every read sees the newest commit. */
export interface LiveRegistryReader {
  /**
   * Writes the committed state of one moment to a new SQLite file at `path` (absolute), without waiting for a writer.
   */
  copyTo(path: string): Promise<void>;
  /** The current row, tombstones included, or null. */
  row(id: InstanceId): Promise<InstanceRow | null>;
  /** Rows in the order of their ids after `after`. */
  rows(after: string, limit: number): Promise<InstanceRow[]>;
  /** The files of copies that a snapshot, a blueprint or an instance that was never resumed needs. */
  copies(): Promise<NeededCopy[]>;
  /**
   * The snapshot or blueprint whose file a sandbox began with; null: it began with another, or with one that cannot be
   * told from what has its name now.
   */
  originOf(
    row: Pick<InstanceRow, 'created' | 'lineageSnapshot' | 'lineageBlueprint'>,
  ): Promise<(NeededCopy & { name: string }) | null>;
  /** Names of whole objects in the store, of sandboxes and of copies, in their order after `after`. */
  storeNames(after: string, limit: number): Promise<string[]>;
  /** The name in the store of the whole object of a copy, of any tenant; null when none is known. */
  storedCopy(kind: CopyKind, hash: string): Promise<string | null>;
  /** Number of rows, tombstones included. */
  count(): Promise<number>;
  /** The end of its ledger's chain. */
  chainHead(): Promise<ChainHead>;
  /** Number of its migrations. */
  migrations(): Promise<number>;
  close(): Promise<void>;
}

/** A registry that is made from a backup and is not in its place yet. Nobody else sees it. */
export interface RegistryDraft {
  readonly registry: Registry;
  /** Closes it and puts it in the registry's place, as a whole and durably. Throws `storage_unavailable`. */
  place(): Promise<void>;
  /** Removes it, unless it was placed. Idempotent. */
  discard(): Promise<void>;
}

/** How a registry is locked. */
export interface RegistryUse {
  /**
   * Others that say so too may use it at the same time, and whoever does not keeps all of them out. Where only one
   * server can have the registry it means nothing. Default: false.
   */
  isShared?: boolean;
}

/** Of everything here only `open`, `lock`, `draft`, `setAside` and `remove` change something. */
export interface RegistryDriver {
  /** Names it for people: the path of its file, its address without a password, or `:memory:`. */
  readonly name: string;
  /** Whether a registry is there after its server ended. */
  readonly isKept: boolean;
  /** Absolute path of the signed head of its ledger, which lies outside of it; null for one that is not kept. */
  readonly headPath: string | null;
  /** Number of migrations in this version, of the SQLite file that a copy is. */
  knownMigrations(): number;
  presence(): Promise<RegistryPresence>;
  /**
   * Throws `conflict` with `start_refused` when it cannot be opened, or made, where its address leads, and names what
   * is there. Changes nothing; what it says of a registry may be past when that is opened.
   */
  requireUsable(): Promise<void>;
  /** Throws as `lock` does when another has it locked, as far as that can be told without making anything. */
  requireUnlocked(use?: RegistryUse): Promise<void>;
  /**
   * Keeps a second server out, also one that comes to the same registry by another name. What `open` makes afterwards
   * is locked too. `dataFolder` is locked already: in it nobody makes a registry of the same name. Resolves with the
   * release, which is idempotent and comes after the registry was closed. Rejects with "Another Winterdock uses the
   * registry" when another holds it. `onLost` is called once when another has taken it over in spite of the lock:
   * nothing that this process writes is kept from then on.
   */
  lock(dataFolder: string, onLost?: (why: Error) => void, use?: RegistryUse): Promise<() => Promise<void>>;
  /** Opens it; makes and migrates it. Throws the errors of its database. */
  open(options: RegistryOptions): Promise<Registry>;
  /** Opens one moment of an existing one that is not empty. Throws the errors of its database. */
  inspect(): Promise<RegistryMoment>;
  /** Throws the errors of its database, and an error for something else than a registry. */
  readLive(): Promise<LiveRegistryReader>;
  /** Opens one moment of its ledger. Throws an error for one from before the ledger was chained. */
  readLedger(): Promise<LedgerView>;
  /**
   * Makes a registry from the SQLite file that a backup holds (absolute path; it stays). A draft that was left there is
   * overwritten.
   */
  draft(from: string, options: RegistryOptions): Promise<RegistryDraft>;
  /**
   * Hands each of its files, in the order in which they may go, to `move` with the name that it has where it is kept.
   * One that has no files keeps itself, and resolves with a sentence that says where. The signed head stays. May be
   * repeated.
   */
  setAside(move: (path: string, name: string) => Promise<void>): Promise<string | null>;
  /** Removes it without its head: for what an interrupted restore left. May be repeated. */
  remove(): Promise<void>;
}
