/** What a terminal is to those who open, show and type into it. Types alone. */
import type { InstanceId } from '../base/ids.ts';
import type { RunLanguage } from '../registry/runs.ts';
import type { TranscriptEntry } from './transcript.ts';

export interface TypedLine {
  language: RunLanguage;
  text: string;
}

/** Who does something in a terminal, as the others are told. */
export interface TerminalActor {
  actor: string;
  /** Null when there is none. */
  actor_name: string | null;
}

export interface TerminalStatus {
  id: string;
  instance: InstanceId;
  /** Counts the terminals of a sandbox, for people. */
  number: number;
  createdMs: number;
  /** Null while it is open. */
  endedMs: number | null;
  cwd: string;
  /** The run of the line that runs. */
  run: string | null;
  /** How many browsers show it. */
  shown: number;
  /** Why it went, a sentence; null while it is open. */
  gone: string | null;
}

/** Reads one terminal as it grows. */
export interface TerminalReader {
  status(): TerminalStatus;
  goneBecause(): string | null;
  after(seq: number, most: number): TranscriptEntry[];
  /** The number of the newest entry. */
  last(): number;
  /** Resolves at the next change, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  /** From now on it is shown, until the returned function is called. */
  show(): () => void;
}
