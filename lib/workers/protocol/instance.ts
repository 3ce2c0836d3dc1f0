/**
 * The interface of the isolation backend: a supervised process on one VFS file, and the pool that hands processes out.
 * Implemented by supervisor.ts and pool.ts. Every backend passes testing/contract-suite.ts. Knows nothing of rows,
 * drawers or HTTP.
 */

import type { VfsPath } from '../../vfs/paths.ts';
import type { VfsPiece, VfsStat, WriteCondition } from '../../vfs/types.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { ComponentProgress, ComponentsRequest, ComponentsResult } from './component-call.ts';
import type { FetchHost } from './fetch-messages.ts';
import type { ShellJobHost } from './shell-jobs.ts';

export type { WriteCondition } from '../../vfs/types.ts';
/** Memory use of the processes, in bytes. */
export interface MemoryUse {
  /** The budget of all processes together; null: no limit. */
  limitBytes: number | null;
  /** Processes that serve sandboxes, or are about to. */
  servingBytes: number;
  /** Processes started ahead of need; they give way to the others. */
  spareBytes: number;
}

export interface OpenSpec {
  id: string;
  /** While its file rests, who reads it may read this tenant's files. Left out: it may read no other. */
  tenant?: string;
  /** Absolute path of the live file (created when missing), or `:memory:`. */
  file: string;
  /** Name of a capability profile; an unknown name runs as `compute`. */
  policy: string;
  /** Maximum size of the VFS file in bytes (`max_page_count`). */
  maxBytes: number;
  /** Maximum size of one file in the VFS, in bytes. */
  maxFileBytes: number;
  /** False only for a sandbox that never had a process: its file may be created. True: a missing file is an error. */
  mustExist: boolean;
  /** Whether the server ships what is committed: the log is left to it then. Default: no. */
  shipsLog?: boolean;
  /** Answers what its calls ask of the network. The pool sets it. */
  onFetch?: FetchHost | undefined;
}

interface CloseOptions {
  /** Milliseconds that running calls get. */
  drainMs: number;
  force: boolean;
  /**
   * Of a sandbox whose log is shipped: called right before its last process is told to put the file to rest. Returns
   * whether the log has another name, which keeps its frames; without one a log with frames stays beside the file, as
   * after a kill. Must not throw. Default: it has none.
   */
  keepLog?: () => boolean;
}

export interface ExecRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Milliseconds from the start of the call; capped by the profile and `mostMs`. */
  timeoutMs?: number;
  /** What the server allows at most. */
  mostMs?: number;
  /** Caps `timeoutMs` instead of these two; the default stays that of the profile. */
  longestMs?: number;
  /** Takes the turn of a run or of a run's job instead of a call's, and has a lower priority. */
  background?: BackgroundKind;
  /** What it writes is committed each second, and not only when one of its commands ends. */
  commitsMeanwhile?: boolean;
  /**
   * Its output goes to `onOutput` alone and never ends: of what comes faster than it is sent, the oldest is left out,
   * which `skipped` tells.
   */
  endless?: boolean;
  /**
   * The script is a line of a terminal, and its shell begins as that of the line before it ended: `kept` of that one's
   * outcome, empty for the first line. Absent: its shell is new, and nothing of it is kept.
   */
  kept?: string | undefined;
}

/** Who cut a call off that did not end by itself. */
export type CallCut = 'timeout' | 'closing' | 'caller';

export interface ExecOutcome {
  exitCode: number;
  /**
   * Text in which bytes that are not UTF-8 are escaped; `bytesOfText` of byte-text.ts restores the bytes. stderr
   * likewise.
   */
  stdout: string;
  stderr: string;
  cwd: string;
  timedOut: boolean;
  truncated: boolean;
  tookMs: number;
  /** Of a line of a terminal, for the next one. Absent when its process had to be ended. */
  kept?: string;
  /** Set when it was cut off; `closing`: its sandbox was filed by force. */
  cutOff?: CallCut;
}

/** What a call of components comes to. A process that had to be ended is the error of each step that was not done. */
export type ComponentsOutcome = ComponentsResult;

export interface EvalRequest {
  language: 'js' | 'python';
  code: string;
  /** `env` in JavaScript, `os.environ` in Python. */
  env?: Record<string, string>;
  timeoutMs?: number;
  /** As in an ExecRequest. */
  mostMs?: number;
  /** As in an ExecRequest. */
  longestMs?: number;
  /** As in an ExecRequest. */
  background?: BackgroundKind;
  /** As in an ExecRequest. */
  commitsMeanwhile?: boolean;
}

export interface EvalOutcome {
  ok: boolean;
  value?: unknown;
  /** Encoded as in an ExecOutcome; stderr likewise. */
  stdout: string;
  stderr: string;
  error?: string;
  timedOut: boolean;
  tookMs: number;
  cutOff?: CallCut;
}

export type WriteOperation =
  | { op: 'put'; volume: Volume; path: VfsPath; content: Uint8Array; condition?: WriteCondition }
  | { op: 'delete'; volume: Volume; path: VfsPath; condition?: WriteCondition }
  | { op: 'move'; volume: Volume; from: VfsPath; to: VfsPath }
  /** Creates a folder and its missing parents; `conflict` when the path exists. */
  | { op: 'mkdir'; volume: Volume; path: VfsPath }
  /** Removes an empty folder, or with `recursive` a folder and its content. */
  | { op: 'rmdir'; volume: Volume; path: VfsPath; recursive: boolean }
  /** Puts pieces in the place of what is at a path and below it, all or nothing. */
  | { op: 'replace'; volume: Volume; path: VfsPath; pieces: VfsPiece[]; content: Uint8Array };

export interface WriteOutcome {
  created: boolean;
  stat: VfsStat | null;
}

/** Why a process ended; the first cause wins. `disk`: it failed below a file that the process had mapped. */
export type DeathCause = 'closed' | 'timeout' | 'memory' | 'crash' | 'silent' | 'killed' | 'disk';

export interface Death {
  cause: DeathCause;
  /** One sentence with the exit code or signal. */
  detail: string;
  /** The end of the process's stderr. For the log only: it may contain paths of the machine. */
  stderrTail?: string;
}

export interface OutputChunk {
  stream: 'stdout' | 'stderr';
  /** Whole characters; bytes that are not UTF-8 are escaped as in an ExecOutcome. */
  text: string;
  /** Bytes of both streams that were left out just before it. Absent: none. */
  skipped?: number;
}

/** What nobody waits for at the other end of a connection: a run, or a job of one, for which that run may wait. */
type BackgroundKind = 'run' | 'job';
/** `components`: of a workbook, in any language. */
export type TurnKind = 'shell' | 'python' | 'js' | 'components' | BackgroundKind;

/** The call that another one waits for. */
export interface CallAhead {
  kind: TurnKind;
  /** The beginning of its script or code; of components, their paths. */
  code: string;
  /** How long it has been under way, in milliseconds. */
  forMs: number;
  /** Calls that wait between the two. */
  others: number;
}

/** What a caller who follows a call is told meanwhile, and what ends the call. */
interface ProcessCallOptions {
  /** It waits for another call, which the function names; null once it waits no more. */
  onWaiting?: (ahead: () => CallAhead | null) => void;
  /** The call begins: those before it have ended. */
  onStarted?: () => void;
  onOutput?: (chunk: OutputChunk) => void;
  /** Answers what its script asks about its jobs. */
  onJob?: ShellJobHost;
  signal?: AbortSignal;
}

/** Private memory of a process before and after it gave memory back, in bytes. */
export interface PauseReport {
  beforeBytes: number;
  afterBytes: number;
}

/** One process of a sandbox. */
export interface ProcessMember {
  readonly pid: number;
  /** True while a call, write or read runs or waits in it. */
  readonly busy: boolean;
  /** It serves runs alone, and has a lower priority from its start. */
  readonly isBackground: boolean;
  readonly ended: Promise<Death>;
  /** Stops it or lets it go on; one that still starts, as soon as it has begun. Nothing when it has ended. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

export interface ProcessWatcher extends SilenceWatcher {
  /** One of its processes ended in a call, and the others go on. */
  onMemberEnded?(death: Death): void;
}

export interface SilenceWatcher {
  /**
   * The process left so many `checks` in a row unanswered while no call ran. `paused`: it was paused, because it had
   * nothing to do; else a write or read is pending. It gets no request until it answers again.
   */
  onSilent(silence: { paused: boolean; checks: number }): void;
  /** A request has continued the paused process, which answered after `tookMs` milliseconds. */
  onThawed(tookMs: number): void;
}

/** The process of a sandbox, and those that stand beside it while calls overlap. */
export interface InstanceProcess {
  readonly id: string;
  /** Of the first of its processes. */
  readonly pid: number;
  /** All that there are now, the first one first. */
  readonly members: readonly ProcessMember[];
  /** Resolves once the file is open and tmp is cleared; rejects with the cause of death. */
  readonly opened: Promise<void>;
  /** Resolves when the process has exited; never rejects. */
  readonly ended: Promise<Death>;
  /** True while a call, write or read runs or waits. */
  readonly busy: boolean;
  /** `warm`: paused in memory. Whatever is sent to it continues it first. */
  readonly thermal: 'hot' | 'warm';
  /**
   * The identity of the file, which tells it from every other. Null until the process is closed, and for a file that
   * was never written.
   */
  readonly identity: string | null;

  /**
   * Runs a script. One of the shell, one of Python and one of JavaScript run at a time, each in order of arrival; up to
   * 64 of each wait, then `rate_limited`. May be called before `opened` resolves. `signal` stops the script. Throws
   * `capability` when the profile has no shell. When the process must be killed for a timeout, the call resolves with
   * `timedOut` and the process is gone.
   */
  exec(request: ExecRequest, options?: ProcessCallOptions): Promise<ExecOutcome>;
  eval(request: EvalRequest, options?: Omit<ProcessCallOptions, 'onOutput' | 'onJob'>): Promise<EvalOutcome>;
  /**
   * Runs components, one call at a time, all in the same process, beside calls of the other kinds. What is wrong with
   * one is in its result. A component without a source was sent before.
   */
  callComponents(
    request: ComponentsRequest,
    options?: { onProgress?: (progress: ComponentProgress) => void; signal?: AbortSignal },
  ): Promise<ComponentsOutcome>;
  /** Writes do not wait for a running call, unless its interpreter blocks the thread. Durable when resolved. */
  write(operation: WriteOperation): Promise<WriteOutcome>;
  /**
   * Reads one small file as last committed, without waiting for anything. Null when it cannot do that now, and when the
   * content is large: read the file in a reader process then. Never throws.
   */
  peek(request: import('../../vfs/types.ts').ReadRequest): Promise<import('../../vfs/types.ts').ReadAnswer | null>;
  /**
   * Reads from a `:memory:` sandbox, which no other process can open. Same operations and answers as a reader process.
   */
  read(request: import('../../vfs/types.ts').ReadRequest): Promise<import('../../vfs/types.ts').ReadAnswer>;

  /**
   * Refuses new calls, waits up to `drainMs` for running ones, checkpoints, leaves WAL mode and ends the process.
   * Returns false when calls still run after `drainMs`; the process then accepts calls again. With `force` it aborts
   * running calls instead. Once true, the file is a single clean file, but for a log that is shipped (see `keepLog`).
   * Throws when the checkpoint fails, and when the process does not answer, which is then killed (cause `silent`).
   */
  close(options: CloseOptions): Promise<boolean>;
  /**
   * Lets an idle process give memory back, then pauses it. Null when it was not paused: it is busy, or holds a
   * transaction, or was needed meanwhile, or did not answer.
   */
  pause(): Promise<PauseReport | null>;
  /**
   * Continues a paused process. Resolves with the milliseconds until it answered, 0 when it was not paused, null when
   * it did not answer in time: then it is killed (cause `silent`). Every request does this by itself.
   */
  thaw(): Promise<number | null>;
  /**
   * Processor seconds of all its threads since its start; once it has ended, as of when it was told to or was last
   * asked. 0 where the system does not tell.
   */
  cpuSeconds(): number;
  /** Tells `watcher` what happens to the process from now on. */
  watch(watcher: ProcessWatcher): void;
  /**
   * Ends a process whose work nobody needs any more: asks it to put its file to rest and exit (SIGTERM), and kills it
   * when it has not after `termMs` (`WB_TERM_MS`). Its calls are cut off. Idempotent.
   */
  end(): Promise<Death>;
  /**
   * Sends SIGKILL at once: to a process that holds nothing, that did not answer, or that takes time or memory that it
   * may not have. Idempotent. Committed data stays, and whoever opens the file recovers its log.
   */
  kill(cause: DeathCause): Promise<Death>;
}

/** A reserved place, with its memory, for one process that is about to be opened. */
export interface Claim {
  /**
   * Resolves when a started worker is kept for this claim; claims get theirs in the order in which they were made.
   * Throws `capacity` when the worker does not start, and when the pool stops. Resolves for a claim that was released.
   */
  readonly started: Promise<void>;
  /** Hands the claim's worker to a file, started or not, and releases the claim. Call it once. */
  open(spec: OpenSpec): InstanceProcess;
  /** Releases the reservation and the worker. Idempotent, and nothing after `open`. */
  release(): void;
}

export interface InstancePool {
  /**
   * Hands a started worker to a file. Throws `capacity` when `maxActive` processes run, or when the memory budget has
   * no room for one more.
   */
  open(spec: OpenSpec): InstanceProcess;
  /** Throws `unsupported`, with what is missing, when no sandbox of this policy can run here. */
  requirePolicy(policy: string): void;
  /** What prevents one more process; null when nothing does. */
  readonly shortage: 'places' | 'memory' | null;
  /**
   * Reserves room for one process until it is opened or released, for a sandbox of this policy. Default: one that
   * interprets. Throws `capacity` as `open` does.
   */
  claim(policy?: string): Claim;
  /** Keeps this many workers started ahead of need, from now on; at least those of its options. */
  keepReady(count: number): void;
  readonly memory: MemoryUse;
  /** Private memory of a process when it was last measured, some seconds ago at most; 0 before that. */
  bytesOf(process: InstanceProcess): number;
  /** Started workers that wait for a file. */
  readonly ready: number;
  /** Processes that found their worker started already, since the pool began. */
  readonly startedAhead: number;
  /** Sandboxes that have a process. */
  readonly active: number;
  /** Claims that are neither opened nor released. */
  readonly claimed: number;
  /** Resolves when the pool is full for the first time. */
  start(): Promise<void>;
  /** Ends every process of the pool and waits for them. Idempotent. */
  stop(): Promise<void>;
}
