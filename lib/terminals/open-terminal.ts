/** One terminal that is open, as `Terminals` keeps it in memory, and what is told of it. */
import type { InstanceId } from '../base/ids.ts';
import type { RunCallOutcome, RunStatus } from '../runs/run-types.ts';
import type { TerminalActor, TerminalStatus, TypedLine } from './terminal-types.ts';
import type { Transcript } from './transcript.ts';

/** Characters of a value or an error that an end shows. */
const MAX_RESULT = 64 * 1024;

export interface OpenTerminal {
  id: string;
  instance: InstanceId;
  tenant: string;
  number: number;
  created: number;
  cwd: string;
  /** What its last line left of its shell; empty before the first one. */
  kept: string;
  run: string | null;
  /** The line that was taken, until its end. Its run may not have begun. */
  line: (TypedLine & TerminalActor & { cwd: string }) | null;
  transcript: Transcript;
  readers: number;
  shownAt: number;
  usedAt: number;
  isAttached: boolean;
  waiters: Set<() => void>;
  gone: string | null;
}

export function statusOf(terminal: OpenTerminal): TerminalStatus {
  const { id, instance, number, created, cwd, run, readers, gone } = terminal;
  return { id, instance, number, createdMs: created, endedMs: null, cwd, run, shown: readers, gone };
}

/** What is shown where a line ends, and how many characters of the sandbox's own that has. */
export function shownEnd({ cwd }: OpenTerminal, run: RunStatus, outcome: RunCallOutcome | null) {
  const { id, state, exitCode, tookMs, timedOut, reason, language } = run;
  const value = outcome !== null && 'value' in outcome ? JSON.stringify(outcome.value)?.slice(0, MAX_RESULT) : null;
  const error = outcome !== null && 'error' in outcome ? outcome.error?.slice(0, MAX_RESULT) : null;
  const data = {
    run: id,
    language,
    state,
    exit_code: exitCode,
    took_ms: tookMs ?? Math.max(0, (run.endedMs ?? 0) - run.createdMs),
    timed_out: timedOut,
    reason,
    cwd,
    value: value ?? null,
    error: error ?? null,
  };
  return { data, length: (value?.length ?? 0) + (error?.length ?? 0) };
}
