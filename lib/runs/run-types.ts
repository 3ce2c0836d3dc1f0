/** What a run is to those who begin, list and read it. Types alone. */

import type { RunEnding, RunLanguage, RunRow } from '../registry/runs.ts';
import type { WakeReport } from '../sandboxes/sandboxes.ts';
import type { CallAhead, EvalOutcome, ExecOutcome, OutputChunk } from '../workers/protocol/instance.ts';
import type { RingPiece } from './output-ring.ts';

type RunState = 'queued' | 'running' | RunEnding;

export interface RunRequest {
  language: RunLanguage;
  /** A script, or code of a language. */
  code: string;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** At most the tenant's `max_run_s`, or `WB_MAX_RUN`. Default: the time of the sandbox's policy. */
  timeoutMs?: number | 'longest';
  /** The terminal that it was typed into. */
  terminal?: string;
  /** What the line before it left of the terminal's shell; empty for the first one. */
  kept?: string;
  /** Begun by the script of a run, which may wait for it. */
  isOfRun?: boolean;
  /** `env` is all of its variables: those of the script that began it. */
  hasWholeEnv?: boolean;
}

/** A run as it is now. */
export interface RunStatus extends RunRow {
  state: RunState;
  /** The offset of the first byte of output that is still there. */
  outputStart: number;
}

/** How the code of a run came out, for who shows it at once. */
export type RunCallOutcome = ExecOutcome | EvalOutcome;

/** Is told what happens to a run as it happens. */
export interface RunObserver {
  onWoke?(woken: WakeReport): void;
  /** It waits for another call, which the function names; null once it waits no more. */
  onWaiting?(ahead: () => CallAhead | null): void;
  onOutput?(chunk: OutputChunk): void;
  /** `outcome`: null when there is none, because it could not begin or its process was lost. */
  onEnded?(run: RunStatus, outcome: RunCallOutcome | null): void;
}

/** Reads the output of one run as it grows. */
export interface RunReader {
  status(): RunStatus;
  read(offset: number, mostBytes: number): { pieces: RingPiece[]; next: number };
  /** Throws `rate_limited` when too many follow it, its tenant's or any. */
  requirePlace(): void;
  /** Takes a place until the returned function is called. Throws as `requirePlace`. */
  follow(): () => void;
  /** Resolves at the next change of the run or of its output, or when `signal` aborts. */
  changed(signal: AbortSignal): Promise<void>;
}
