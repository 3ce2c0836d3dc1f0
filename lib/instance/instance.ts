/**
 * What the rest of the engine sees of an Instance: a supervised process on one VFS file, and the pool that hands them
 * out. Implemented by supervisor.ts and pool.ts; every backend passes the suite in testing/contract-suite.ts. Knows
 * nothing of rows, drawers or HTTP.
 */

import type { VfsPath } from '../vfs/paths.ts';
import type { VfsStat, WriteCondition } from '../vfs/types.ts';
import type { Volume } from '../vfs/volumes.ts';
import type { MemoryUse } from './memory-budget.ts';

export type { WriteCondition } from '../vfs/types.ts';
export type { MemoryUse } from './memory-budget.ts';

export interface OpenSpec {
  id: string;
  /** Absolute path of the live file (made when missing), or `:memory:`. */
  file: string;
  /** Capability profile by name; unknown names run as `compute`. */
  policy: string;
  /** Largest size of the file in bytes (`max_page_count`). */
  maxBytes: number;
  /** Largest size of one file in bytes. */
  maxFileBytes: number;
  /** False only for a file that never had a process: it may be made empty. True: a missing file is an error. */
  mustExist: boolean;
}

export interface ExecRequest {
  command: string;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Milliseconds from when the call runs; capped by the profile. */
  timeoutMs?: number;
}

export interface ExecOutcome {
  exitCode: number;
  /**
   * Text in which bytes that are no UTF-8 are escaped: `bytesOfText` of byte-text.ts gives back what was said. stderr
   * likewise.
   */
  stdout: string;
  stderr: string;
  cwd: string;
  timedOut: boolean;
  truncated: boolean;
  tookMs: number;
}

export interface EvalRequest {
  language: 'js' | 'python';
  code: string;
  timeoutMs?: number;
}

export interface EvalOutcome {
  ok: boolean;
  value?: unknown;
  /** As an ExecOutcome has it; stderr likewise. */
  stdout: string;
  stderr: string;
  error?: string;
  timedOut: boolean;
  tookMs: number;
}

export type WriteOperation =
  | { op: 'put'; volume: Volume; path: VfsPath; content: Uint8Array; condition?: WriteCondition }
  | { op: 'delete'; volume: Volume; path: VfsPath; condition?: WriteCondition }
  | { op: 'move'; volume: Volume; from: VfsPath; to: VfsPath }
  /** Makes a folder with what is missing above it; `conflict` when something is there. */
  | { op: 'mkdir'; volume: Volume; path: VfsPath }
  /** Removes a folder: an empty one, or with `recursive` one with all that is in it. */
  | { op: 'rmdir'; volume: Volume; path: VfsPath; recursive: boolean };

export interface WriteOutcome {
  created: boolean;
  stat: VfsStat | null;
}

/** Why a process ended; the first cause wins. */
export type DeathCause = 'closed' | 'timeout' | 'memory' | 'crash' | 'silent' | 'killed';

export interface Death {
  cause: DeathCause;
  /** One sentence, with the exit code or signal and the tail of stderr. */
  detail: string;
  /** The end of what the process wrote to stderr, for the log only: it may name paths of the machine. */
  stderrTail?: string;
}

export interface OutputChunk {
  stream: 'stdout' | 'stderr';
  /** Whole characters, and bytes that are no UTF-8 escaped as in an ExecOutcome. */
  text: string;
}

export interface InstanceProcess {
  readonly id: string;
  readonly pid: number;
  /** Resolves once the file is open and tmp is cleared; rejects with the cause of death. */
  readonly opened: Promise<void>;
  /** Resolves when the process is gone, never rejects. */
  readonly ended: Promise<Death>;
  /** True while a call or write runs or waits. */
  readonly busy: boolean;
  /** What tells its file from every other, once it is closed; null before, and for a file that has nothing. */
  readonly identity: string | null;

  /**
   * Runs a script. Calls run one at a time in the order they came, up to 64 wait, then `rate_limited`. Messages may be
   * sent before `opened` resolves. `signal` stops the script. Throws `capability` when the profile lacks the shell.
   * A call whose process had to be ended for time resolves with `timedOut` and the process is gone.
   */
  exec(
    request: ExecRequest,
    options?: { onOutput?: (chunk: OutputChunk) => void; signal?: AbortSignal },
  ): Promise<ExecOutcome>;
  eval(request: EvalRequest, options?: { signal?: AbortSignal }): Promise<EvalOutcome>;
  /** Writes do not wait for a running call's end, unless its interpreter blocks the thread. Durable when resolved. */
  write(operation: WriteOperation): Promise<WriteOutcome>;
  /** Reads of a `:memory:` sandbox, which no other process can open. Same operations and answers as a reader's. */
  read(request: import('../vfs/types.ts').ReadRequest): Promise<import('../vfs/types.ts').ReadAnswer>;

  /**
   * Refuses new calls, waits up to `drainMs` for running ones, then checkpoints, leaves WAL mode and ends the process.
   * False when calls still run after `drainMs` (the process then goes on as before, accepting calls again). With
   * `force` running calls are aborted. After true the file is a single clean file. Throws when the checkpoint fails,
   * and when the process does not answer, which is then ended (cause `silent`).
   */
  close(options: { drainMs: number; force: boolean }): Promise<boolean>;
  /**
   * Calls `listener` when the process has left ten checks in a row unanswered while no call ran. It is given no call
   * before it has answered.
   */
  whenSilent(listener: () => void): void;
  /** SIGKILL. Idempotent. Committed data stays. */
  kill(cause: DeathCause): Promise<Death>;
}

/** A place and memory for one process that is about to be opened. */
export interface Claim {
  /** Gives it up, also right before the `open` that it is for. Idempotent. */
  release(): void;
}

export interface InstancePool {
  /**
   * Hands a started worker to a file. Throws `capacity` when `maxActive` processes run, and when the memory of all has
   * no room for one more.
   */
  open(spec: OpenSpec): InstanceProcess;
  /** What there is not enough of for one more process, or null. */
  readonly shortage: 'places' | 'memory' | null;
  /** Keeps room for one process until it is released. Throws `capacity` as `open` does. */
  claim(): Claim;
  readonly memory: MemoryUse;
  /** Started workers waiting for a file. */
  readonly ready: number;
  readonly active: number;
  /** Resolves when the pool is full for the first time. */
  start(): Promise<void>;
  /** Ends every process it made and waits for them. Idempotent. */
  stop(): Promise<void>;
}
