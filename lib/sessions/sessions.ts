/**
 * What the API and the console see of the lifecycle: verbs, calls, reads and writes on sandboxes. Every verb is the
 * same code for people, the ladder and reconcile; only the cause differs.
 */
import type {
  EvalOutcome,
  EvalRequest,
  ExecOutcome,
  ExecRequest,
  OutputChunk,
  WriteOperation,
  WriteOutcome,
} from '../instance/instance.ts';
import type { State } from '../lifecycle/states.ts';
import type { Source, Thermal, Trigger, Via } from '../lifecycle/words.ts';
import type { CopyContent } from '../registry/copies.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { ReadAnswer, ReadRequest, VfsCopy } from '../vfs/types.ts';
import type { Volume } from '../vfs/volumes.ts';

/** Who or what asked, for the ledger. */
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
  /** Milliseconds that the wake took; 0 when it was hot. */
  wokeMs: number;
  /** The state that it was woken from; null when it was hot. */
  from: State | null;
}

/** Live facts of one sandbox that no column holds. */
export interface LiveStatus {
  thermal: Thermal;
  /** Epoch seconds of the last activity, flushed or not: the idle clock. */
  updated: number;
  attached: number;
  /** Calls that run or wait. */
  calls: number;
  /** Verb under way, or null. */
  pending: string | null;
  /** Whether a verb holds the sandbox in this process: an intent that none carries out was interrupted. */
  isLocked: boolean;
}

/** The byte-for-byte copies that `copyRaw` made. */
export interface RawCopy {
  row: InstanceRow;
  /** Absolute. */
  file: string;
  bytes: number;
  /** The file is zstd-compressed, as the archive keeps it. */
  packed: boolean;
  /** The log that lay beside it: `-wal` or `-journal`; null when there was none, or nothing in it. */
  log: { suffix: '-wal' | '-journal'; file: string; bytes: number } | null;
}

/** The snapshot to restore; `name` is what the ledger calls it. */
export interface SnapshotToRestore extends Pick<CopyContent, 'hash' | 'bytes'> {
  name: string;
}

export interface Sessions {
  /**
   * Wakes from any state but `deleted`. Throws `gone`, `capacity`, `corrupt`, `missing_file`, `unknown_state`,
   * `not_found`.
   */
  resume(id: string, audit: AuditContext, options?: { policy?: string; force?: boolean }): Promise<ResumeResult>;
  /** Brings the file home without a process; the state stays. Filed back by itself when nothing comes. */
  prefetch(id: string, audit: AuditContext): Promise<{ source: Source; vfsPath: string | null }>;
  /** The verbs of filing. A state it is in already changes nothing; a hop off the map throws `invalid_transition`. */
  suspend(id: string, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  freeze(id: string, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  archive(id: string, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  revive(id: string, audit: AuditContext, options?: { force?: boolean }): Promise<InstanceRow>;
  delete(id: string, audit: AuditContext): Promise<void>;
  /**
   * Walks to a state by as many hops as the map needs (trigger `plan` when they are several), one by one under one
   * lock. `active` is passed through without a process. Returns the row as it is at the end. A walk that fails stays
   * where it came to; throws as its hops do, and `conflict` with its `state` when it is not in `from`.
   */
  runPlan(
    id: string,
    to: State,
    audit: AuditContext,
    options?: { force?: boolean; from?: State },
  ): Promise<InstanceRow>;

  /**
   * Rolls an operation that nobody carries out any more forward or back by looking at the file, as a boot would;
   * without one nothing changes. Ends a process that the sandbox has. Throws `conflict` while a verb is really under
   * way, `gone`, `not_found`.
   */
  settle(id: string, audit: AuditContext): Promise<InstanceRow>;

  /** Calls and writes are touches: they wake what sleeps, and throw `archived` for what was archived. */
  exec(
    id: string,
    request: ExecRequest,
    audit: AuditContext,
    options?: { onWoke?: (woken: WakeReport) => void; onOutput?: (chunk: OutputChunk) => void; signal?: AbortSignal },
  ): Promise<ExecOutcome & WakeReport>;
  eval(
    id: string,
    request: EvalRequest,
    audit: AuditContext,
    options?: { signal?: AbortSignal },
  ): Promise<EvalOutcome & WakeReport>;
  write(id: string, operation: WriteOperation, audit: AuditContext): Promise<WriteOutcome>;
  /** Looking: wakes nothing and stamps nothing, in any state but `deleted`. A `created` sandbox reads as empty. */
  read<R extends ReadRequest>(id: string, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;

  /**
   * Writes `volumes` of a sandbox into a new file at `path` (absolute), as one consistent copy, in any state but
   * `deleted`: nothing is stopped or woken, calls and writes go on, filing and waking wait. The same content gives the
   * same bytes. The bytes are on disk when this resolves, the name is not. Throws `not_found`, `gone`, `missing_file`,
   * `corrupt`, `storage_unavailable`; `conflict` for a `:memory:` sandbox. Nothing is then left at `path`.
   */
  copyOut(id: string, path: string, options: { volumes: readonly Volume[] }): Promise<VfsCopy>;

  /**
   * Copies the file of a sandbox that has no process, and the log beside it, byte for byte into `folder` (absolute),
   * whatever is wrong with them. Throws `not_found`, `gone`, `missing_file`; `conflict` for one that is awake, lives
   * only in its process or has no file yet.
   */
  copyRaw(id: string, folder: string): Promise<RawCopy>;

  /**
   * Puts a copy of a snapshot in the place of a sandbox's file and keeps what was there in `orphans/`; the state stays,
   * a fault is cleared. Throws `conflict` for one that is awake or lives only in its process, `quota_exceeded`,
   * `missing_file` and `corrupt` of the snapshot; nothing has changed then.
   */
  restore(id: string, snapshot: SnapshotToRestore, audit: AuditContext): Promise<InstanceRow>;

  /**
   * Holds a sandbox as it is while a terminal is open: no automatic move until `detach`, or until it was not renewed,
   * by the same call, for `LEASE_SECONDS`. Wakes nothing; is use. Throws `not_found`, `gone`, `archived`,
   * `rate_limited`.
   */
  attach(id: string, attachment: string): Promise<void>;
  /** Ends it; the idle clock starts then. One that has ended already changes nothing. */
  detach(id: string, attachment: string): void;
  live(row: InstanceRow): LiveStatus;
  readonly callsRunning: number;

  /**
   * Rolls every unsettled row forward or back by looking at the files, sets orphans aside. Run once before anything
   * else.
   */
  reconcile(): Promise<{ settled: number; orphans: number }>;
  /** One round of the ladder; never overlaps itself. Returns how many sandboxes moved and how many failed. */
  tick(): Promise<{ moved: number; failed: number }>;
  start(): void;
  /** Suspends every active sandbox (trigger `stop`), flushes activity. Idempotent. */
  stop(): Promise<void>;
}
