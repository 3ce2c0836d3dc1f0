/**
 * The interface of the lifecycle: verbs, calls, reads and writes on sandboxes, and the types of their answers. People,
 * the ladder and reconcile use the same verbs; only the audit context differs. Knows nothing of HTTP or roles.
 */
import type { InstanceId } from '../base/ids.ts';
import type { State } from '../lifecycle/state-map.ts';
import type { Source, Thermal, Trigger, Via } from '../lifecycle/words.ts';
import type { CopyContent } from '../registry/copies.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { PromisedRow } from '../replication/promise/answer-barrier.ts';
import type { ReplicaStatus } from '../replication/replica-of-files.ts';
import type { ReadAnswer, ReadRequest, VfsCopy } from '../vfs/types.ts';
import type { Volume } from '../vfs/volumes.ts';
import type {
  CallAhead,
  EvalOutcome,
  EvalRequest,
  ExecOutcome,
  ExecRequest,
  OutputChunk,
  WriteOperation,
  WriteOutcome,
} from '../workers/protocol/instance.ts';
import type { Capability } from '../workers/protocol/policies.ts';
import type { ShellJobHost } from '../workers/protocol/shell-jobs.ts';
import type { LoadFeed } from './load-feed.ts';
import type { WorkbookCall, WorkbookCallOptions, WorkbookCallOutcome } from './workbook-call.ts';

/** Who or what asked for something: the ledger records it. */
export interface AuditContext {
  trigger: Trigger;
  actor: string;
  via: Via;
  requestId: string | null;
  /** The peer's address, where a request had one. */
  address: string | null;
  reason: string | null;
}

export interface ResumeResult {
  path: 'warm' | 'cold';
  /** Set on a cold resume. */
  source: Source | null;
  vfsPath: string;
  tookMs: number;
  row: InstanceRow;
}

export interface WakeReport {
  woke: Thermal;
  /** Milliseconds that the wake took, or continuing a paused process; 0 when it was hot. */
  wokeMs: number;
  /** The state that it was woken from; null when its process was there. */
  from: State | null;
}

/** What became of a hand-over. */
export interface HandOver {
  /** Why it stays on this host, in one sentence; null: it is nobody's, or another's. */
  readonly stays: string | null;
}

/** A sandbox that is on a host which does not answer. */
export interface UnreachableFacts {
  /** Epoch milliseconds of that host's last renewal by its own clock; null: it never renewed. */
  readonly lastSeenMs: number | null;
  /** Epoch milliseconds up to which the store has it; null: the store has nothing of it. */
  readonly recoveryPointMs: number | null;
}

/** Facts about one sandbox that are in memory alone. */
export interface LiveStatus {
  thermal: Thermal;
  /** Epoch seconds since when its process is paused in memory; null when it is not. */
  warmSince: number | null;
  /** Epoch seconds of the last activity, flushed or not: the idle clock. */
  updated: number;
  /** The policy that its process was started with; null without one. */
  runningPolicy: string | null;
  attached: number;
  /** Calls that run or wait. */
  calls: number;
  /** Verb under way, or null. */
  pending: string | null;
  /** Whether a verb holds the lock of the sandbox in this process. An intent without that lock was interrupted. */
  isLocked: boolean;
  /** Whether it is this host's, or nobody's. Of another host's nothing is in the memory of this one. */
  isHere: boolean;
  /** Null unless its host does not answer. `goesOn`: what a wake or a call goes on with here; null: it is refused. */
  unreachable: (UnreachableFacts & { goesOn: 'whole' | 'seconds' | null }) | null;
  /** Whether its file is to go to the store. */
  upload: 'none' | 'queued' | 'running';
  /** What is promised of its replica, and how far that is. */
  replica: ReplicaStatus;
}

/** What a server does with the object store below its drawers. */
export interface StoreWork {
  /** Whether the upload of a row waits or runs. */
  uploadOf(row: Pick<InstanceRow, 'id' | 'state' | 'vfsPath'>): 'none' | 'queued' | 'running';
  /** Uploads that run. How many wait in all, and since when, is the registry's `uploadBacklog`. */
  readonly uploading: number;
  /** The cached copies. */
  readonly cached: { files: number; bytes: number };
  /**
   * Brings every file home to this machine, verified; its row names it there then. Nothing may be uploaded meanwhile:
   * for an engine that was not started. `left`: what could not be brought, with the reason.
   */
  bringHome(
    progress?: (done: number, bytes: number) => void,
  ): Promise<{ brought: number; left: { id: InstanceId; why: string }[] }>;
  /** Removes what was superseded a day ago, as happens each hour; returns how many objects. */
  collect(): Promise<number>;
  /** Has the store read once more for each sandbox with a fault of its file, as happens now and then. */
  lookAtFaults(): Promise<void>;
}

/** The byte-for-byte copies that `copyRaw` made. */
export interface RawCopy {
  row: InstanceRow;
  /** Absolute. */
  file: string;
  bytes: number;
  /** Whether the file is zstd-compressed, as the archive keeps it. */
  packed: boolean;
  /** The log that lay beside the file; null when there was none, or an empty one. */
  log: { suffix: '-wal' | '-journal'; file: string; bytes: number } | null;
}

export interface CopyOutOptions {
  volumes: readonly Volume[];
  /** Default: yes. False for a file that no restart needs, which then waits for no disk. */
  durable?: boolean;
}

/** The snapshot to restore. The ledger calls it `name`. */
export interface SnapshotToRestore extends Pick<CopyContent, 'hash' | 'bytes'> {
  /** As people are told: the id of a snapshot, or `backup …`. */
  name: string;
  /** Absolute path of its bytes, which is taken, where it is no snapshot of a drawer. */
  file?: string;
  /** The generation of the row that it replaces. Default: any. */
  generation?: number;
}

/** A sandbox as it was. Its file stays as long as it is used. */
export interface PastSandbox {
  /** When it was committed, in epoch milliseconds. */
  readonly timeMs: number;
  read<R extends ReadRequest>(request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  /** Writes volumes of it into a new file at `path` (absolute), as `Sandboxes.copyOut` does of the present. */
  copy(path: string, options: CopyOutOptions): Promise<VfsCopy>;
}

/** A moment as it is listed. */
export interface KnownMoment {
  timeMs: number;
  kind: 'commit' | 'filing' | 'named';
  /** Of one that is named. */
  name: string | null;
  grainS: number;
}

/** What can be had of the moments of a replica, and of those that are named. */
export interface Past {
  /**
   * Runs `look` on a sandbox as of its newest moment up to `atMs` (epoch milliseconds). Throws `moment_gone` with the
   * `oldest`, `conflict` without a replica, `not_found`, `gone`, `too_large`, `rate_limited`, `corrupt`, what reads
   * throw, and within seconds `storage_unavailable`, with what is `known` without the store where that is away.
   */
  open<T>(id: InstanceId, atMs: number, look: (past: PastSandbox) => Promise<T>): Promise<T>;
  /**
   * At most `limit` moments next to a time (null: now), the newest first, of a deleted sandbox too. `isNamed`: only
   * those with a name. Throws `moment_gone` when there is none up to then, `not_found`, and as `open` does
   * `storage_unavailable`, with those that are `known` here.
   */
  list(id: InstanceId, around: { aroundMs: number | null; limit: number; isNamed?: boolean }): Promise<KnownMoment[]>;
  /**
   * Has what a sandbox has committed by now shipped, and resolves with the time of the newest moment then. Throws
   * `not_replicated` when that takes too long, or is not done while it is awake.
   */
  shipped(id: InstanceId): Promise<number>;
}

export interface Sandboxes {
  /**
   * Wakes from any state but `deleted`. Throws `gone`, `capacity`, `corrupt`, `missing_file`, `unknown_state`,
   * `not_found`. `makesRoom`: false for what nobody waits for; no other sandbox is then suspended for it.
   * `fromStored`: first the last whole object in the store becomes its file, which is lost or damaged; what was written
   * since is lost. Throws `conflict` when nothing is.
   */
  resume(
    id: InstanceId,
    audit: AuditContext,
    options?: { policy?: string; force?: boolean; makesRoom?: boolean; fromStored?: boolean },
  ): Promise<ResumeResult>;
  /**
   * Pauses the process of an active sandbox in memory: at once, or in the round after its last call has ended. It stays
   * active, the ladder goes on, and what uses it continues it; after that it is paused again until `resume`. Throws
   * `conflict` for one that is not active, `gone`, `not_found`.
   */
  pause(id: InstanceId, audit: AuditContext): Promise<InstanceRow>;
  /**
   * Brings the file to the live drawer without a process; the state stays. When nothing uses the file, it goes back by
   * itself.
   */
  prefetch(id: InstanceId, audit: AuditContext): Promise<{ source: Source; vfsPath: string | null }>;
  /** The verbs of filing. In the target state already, they change nothing. Without a hop, `invalid_transition`. */
  suspend(id: InstanceId, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  freeze(id: InstanceId, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  archive(id: InstanceId, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  revive(id: InstanceId, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  delete(id: InstanceId, audit: AuditContext): Promise<void>;
  /**
   * Brings a sandbox to a state by as many hops as the map needs, one by one under one lock. Several hops have the
   * trigger `plan`. It passes through `active` without a process. Returns the row at the end. A plan that fails stops
   * in the state that it came to. Throws what its hops throw, and `conflict` with the `state` when the sandbox is not
   * in `from`.
   */
  runPlan(
    id: InstanceId,
    to: State,
    audit: AuditContext,
    options?: { force?: boolean; from?: State },
  ): Promise<InstanceRow>;

  /**
   * Settles an operation that nobody carries out any more: rolls it forward or back by what happened to the file, as a
   * start does. Without such an operation nothing changes. Ends the process of the sandbox. Throws `conflict` while a
   * verb is under way, `gone`, `not_found`.
   */
  settle(id: InstanceId, audit: AuditContext): Promise<InstanceRow>;

  /**
   * Calls and writes count as activity and wake the sandbox. Throws `archived` for an archived one. `makesRoom`: false
   * for what nobody waits for; its wake comes behind those of people, and no other sandbox is suspended for it.
   */
  exec(
    id: InstanceId,
    request: ExecRequest,
    audit: AuditContext,
    options?: {
      onWoke?: (woken: WakeReport) => void;
      onWaiting?: (ahead: () => CallAhead | null) => void;
      onStarted?: () => void;
      onOutput?: (chunk: OutputChunk) => void;
      onJob?: ShellJobHost;
      signal?: AbortSignal;
      makesRoom?: boolean;
      isPatient?: boolean;
      hasWholeEnv?: boolean;
    },
  ): Promise<ExecOutcome & WakeReport>;
  eval(
    id: InstanceId,
    request: EvalRequest,
    audit: AuditContext,
    options?: {
      onWoke?: (woken: WakeReport) => void;
      onWaiting?: (ahead: () => CallAhead | null) => void;
      onStarted?: () => void;
      signal?: AbortSignal;
      isPatient?: boolean;
    },
  ): Promise<EvalOutcome & WakeReport>;
  /**
   * Throws what a call that needs `capability` would be refused for as the sandbox is now: `gone`, `archived`, a fault,
   * `capability`, `quota_exceeded`. Wakes nothing, and is no activity.
   */
  requireCallable(id: InstanceId, capability: Capability, audit: AuditContext): Promise<InstanceRow>;
  /**
   * Calls a component of the workbook that the sandbox is docked to, or runs a workflow of it; activity as the others.
   * What a component did wrong is in its result. Throws `conflict` without a known workbook, `not_found` and
   * `validation` for what the workbook has not.
   */
  callWorkbook(
    id: InstanceId,
    call: WorkbookCall,
    audit: AuditContext,
    options?: WorkbookCallOptions,
  ): Promise<WorkbookCallOutcome & WakeReport>;
  write(id: InstanceId, operation: WriteOperation, audit: AuditContext): Promise<WriteOutcome>;
  /** Reads wake nothing and are no activity. Allowed in any state but `deleted`; a `created` sandbox reads as empty. */
  read<R extends ReadRequest>(id: InstanceId, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;

  /**
   * Writes `volumes` of a sandbox into a new file at `path` (absolute), as one consistent copy, in any state but
   * `deleted`. Nothing is stopped or woken: calls and writes go on, filing and waking wait. The same content gives the
   * same bytes. When this resolves the bytes are durable (if asked for), the name is not. Throws `not_found`, `gone`,
   * `missing_file`, `corrupt`, `unverified` while a file at rest has no hash yet, `storage_unavailable`; `conflict` for
   * a `:memory:` sandbox. After a failure there is no file at `path`.
   */
  copyOut(id: InstanceId, path: string, options: CopyOutOptions): Promise<VfsCopy>;

  /**
   * Copies the file of a sandbox without a process, and the log beside it, byte for byte into `folder` (absolute), even
   * when they are damaged. Throws `not_found`, `gone`, `missing_file`; `unverified` without a fault and a hash;
   * `conflict` for a sandbox that is awake, has no file yet or lives only in its process.
   */
  copyRaw(id: InstanceId, folder: string): Promise<RawCopy>;

  /** Says that what is promised of a sandbox's replica was changed, in its row. */
  reclassified(row: InstanceRow): void;
  /**
   * Resolves once the replica has the row, and the file, of a sandbox that was made or changed and whose answers wait
   * for it (`sync`). Throws `not_replicated` with `committed: "local"`.
   */
  recorded(row: PromisedRow): Promise<void>;
  /** Throws `not_replicated` while a sandbox whose answers would wait for the replica cannot be made. */
  requireRecordable(row: PromisedRow): void;

  /** Says that a file was made for a new row by other means, as by an import: the replica ships it whole. */
  fileMade(id: InstanceId): void;

  /**
   * Replaces the file of a sandbox by a copy of a snapshot and keeps the old file in `orphans/`. The state stays; a
   * fault is cleared. Throws `conflict` for a sandbox that is awake or lives only in its process, `quota_exceeded`, and
   * `missing_file` or `corrupt` of the snapshot; then nothing has changed.
   */
  restore(id: InstanceId, snapshot: SnapshotToRestore, audit: AuditContext): Promise<InstanceRow>;

  /**
   * Attaches a terminal: no automatic move until `detach`, or until nobody renewed the attachment (by this same call)
   * for `LEASE_SECONDS`. Wakes nothing; counts as activity. Throws `not_found`, `gone`, `archived`, `rate_limited`.
   */
  attach(id: InstanceId, attachment: string): Promise<void>;
  /** Detaches a terminal; the idle clock starts then. An attachment that has ended already changes nothing. */
  detach(id: InstanceId, attachment: string): void;
  /**
   * Suspends, files and stores a sandbox of this host, so that any other one may wake it; nothing wakes it here
   * meanwhile. `includeHeld`: also what is kept hot, held or shown in a terminal. Throws what a filing throws, and
   * `storage_unavailable` when the store does not take it.
   */
  handOver(id: InstanceId, audit: AuditContext, options: { includeHeld: boolean }): Promise<HandOver>;
  live(row: InstanceRow): LiveStatus;
  /**
   * Ends the processes of sandboxes that other hosts have taken over, those of `ids` or of all that are awake here.
   * Rejects when the registry does not answer.
   */
  endTaken(ids?: readonly InstanceId[]): Promise<void>;
  /** Whether a process of this host has it open. */
  isAwakeHere(id: InstanceId): boolean;
  /** The sandboxes that a terminal shows. */
  readonly attachedIds: readonly InstanceId[];
  /** The sandboxes whose process is paused in memory. */
  readonly warmIds: readonly InstanceId[];
  readonly callsRunning: number;
  /** Wakes that wait for a place or a worker. */
  readonly wakesWaiting: number;
  /**
   * Calls back with a sandbox when a verb begins or ends in it, whatever became of it: `LiveStatus.pending` is another
   * one then. Returns the unsubscriber.
   */
  onOperationChange(listener: (id: InstanceId) => void): () => void;
  /** What is done with the object store below the drawers; null without one. */
  readonly store: StoreWork | null;
  /** Sandboxes as they were: without a replica at their named moments alone. */
  readonly past: Past;
  /** Tells how long each wake waited for its place and its worker, in milliseconds, and whether it got them. */
  onWakeWaited(listener: (waitMs: number, isAdmitted: boolean) => void): void;
  /** What the sandboxes of each tenant took since the start of the server. */
  readonly totalsByTenant: ReadonlyMap<string, { cpuSeconds: number; calls: number }>;
  /** Memory of the processes of each tenant that has some, in bytes. */
  readonly memoryByTenant: ReadonlyMap<string, number>;
  /** What they take, as it is measured. */
  readonly load: LoadFeed;

  /**
   * Settles every interrupted operation by looking at the files, and moves orphans to `orphans/`. Runs once, before
   * anything else.
   */
  reconcile(): Promise<{ settled: number; orphans: number }>;
  /** One round of the ladder. Rounds never overlap. Returns how many sandboxes moved and how many failed. */
  tick(): Promise<{ moved: number; failed: number }>;
  start(): void;
  /** Suspends every active sandbox (trigger `stop`), flushes activity. Idempotent. */
  stop(): Promise<void>;
}
