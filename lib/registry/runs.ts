import type { InstanceId } from '../base/ids.ts';
import type { Thermal } from '../lifecycle/words.ts';
import type { LedgerEntry, RowPage } from './types.ts';

export type RunLanguage = 'shell' | 'js' | 'python';

/**
 * How a run ended. `done`: by itself, or for its time limit. `stopped`: by somebody, by the filing of its sandbox, or
 * with the server. `failed`: it could not begin, or its process was lost. `lost`: an earlier server ended under it.
 */
export type RunEnding = 'done' | 'stopped' | 'failed' | 'lost';

/** Characters of a command that are kept; what runs is the whole. */
export const RUN_COMMAND_LENGTH = 2000;

export interface NewRunRow {
  id: string;
  instance: InstanceId;
  tenant: string;
  language: RunLanguage;
  /** The beginning of what runs: at most `RUN_COMMAND_LENGTH` characters. */
  command: string;
  cwd: string;
  /** The terminal that it was typed into; null: none. */
  terminal: string | null;
  createdMs: number;
  actor: string;
}

export interface RunConclusion {
  ending: RunEnding;
  startedMs: number | null;
  endedMs: number;
  exitCode: number | null;
  tookMs: number | null;
  timedOut: boolean;
  /** Why it was stopped or failed: a sentence. */
  reason: string | null;
  woke: Thermal | null;
  /** Bytes of both outputs, kept or not. */
  outputBytes: number;
}

export interface RunRow extends NewRunRow, Omit<RunConclusion, 'ending' | 'endedMs'> {
  /** Null while it is under way; so is `endedMs`. */
  ending: RunEnding | null;
  endedMs: number | null;
}

/** How many runs there may be. */
interface RunLimits {
  /** Under way at the same time. */
  perSandbox: number;
  perTenant: number;
  /** Ended ones that a sandbox keeps. */
  keptPerSandbox: number;
}

export interface RunStore {
  /**
   * Stores a run before anything of it is done, and drops the oldest ended ones of the sandbox. `host`: whose it is.
   * Throws `quota_exceeded`, `gone`, and `conflict` while its tenant is being forgotten.
   */
  add(run: NewRunRow, limits: RunLimits, host?: string): Promise<RunRow>;
  /** Writes down that a run has begun. Nothing when it has ended. */
  begun(id: string, startedMs: number): Promise<void>;
  /** Ends a run, with its ledger lines. Nothing when it is gone or has ended. */
  end(id: string, ended: RunConclusion, ledger: LedgerEntry[]): Promise<void>;
  /** The run of an instance; null also for that of another one. */
  get(instance: InstanceId, id: string): Promise<RunRow | null>;
  /** Newest first. A malformed cursor throws `validation`. */
  list(instance: InstanceId, limit: number, cursor?: string): Promise<RowPage<RunRow>>;
  /**
   * Those that have not ended, oldest first: before a start, an earlier server's. `host`: those of that host and
   * nobody's; without it, of every host.
   */
  underWay(limit: number, host?: string): Promise<RunRow[]>;
}
