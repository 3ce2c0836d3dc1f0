/** One terminal that is open, as `Terminals` keeps it in memory, and what is told of it. */
import type { InstanceId } from '../base/ids.ts';
import type { TerminalActor, TerminalStatus, TypedLine } from './terminal-types.ts';
import type { Transcript } from './transcript.ts';

export interface OpenTerminal {
  id: string;
  instance: InstanceId;
  tenant: string;
  number: number;
  created: number;
  cwd: string;
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
