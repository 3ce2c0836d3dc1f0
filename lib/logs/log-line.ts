/**
 * One line that a sandbox printed: what a log keeps of it, and its form in a file of a log. A file is lines of JSON, so
 * that whatever a guest prints is one line of it, and a half written one is known. Pure.
 */
import { type InstanceId, instanceIdOfFile } from '../base/ids.ts';

/** What printed it: a call, a run, a terminal, a schedule, a component; or the log itself, of what it lacks. */
export const LOG_SOURCES = ['exec', 'eval', 'run', 'terminal', 'schedule', 'component', 'log'] as const;
export type LogSource = (typeof LOG_SOURCES)[number];
export const LOG_STREAMS = ['stdout', 'stderr', 'log'] as const;
export type LogStream = (typeof LOG_STREAMS)[number];
/** The least first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  instance: InstanceId;
  /** Grows from line to line, over all sandboxes of a server, about a thousand each millisecond that passes. */
  seq: number;
  timeMs: number;
  source: LogSource;
  stream: LogStream;
  level: LogLevel;
  /** Without control characters; values of secrets are asterisks. */
  text: string;
  /** The request that caused it: the ledger and the answer of the call have the same. Null: none did. */
  requestId: string | null;
}

/** Room for a million years of `seq`: numbers in files may be anything. */
const MOST_SEQ = 2 ** 52;

/** A line as a file has it, with its newline. */
export function encodedLine({ seq, timeMs, source, stream, level, text, requestId }: LogLine): string {
  return `${JSON.stringify([seq, timeMs, source, stream, level, text, requestId])}\n`;
}

/** Reads a line of a file; null for what is none. */
export function parsedLine(encoded: string, instance: InstanceId): LogLine | null {
  if (!encoded.startsWith('[') || !encoded.endsWith(']')) return null;
  let members: unknown;
  try {
    members = JSON.parse(encoded);
  } catch {
    return null;
  }
  if (!Array.isArray(members)) return null;
  const [seq, timeMs, source, stream, level, text, requestId] = members as unknown[];
  if (!isCount(seq) || !isCount(timeMs) || typeof text !== 'string') return null;
  if (!isOneOf(LOG_SOURCES, source) || !isOneOf(LOG_STREAMS, stream) || !isOneOf(LOG_LEVELS, level)) return null;
  if (requestId !== null && typeof requestId !== 'string') return null;
  return { instance, seq, timeMs, source, stream, level, text, requestId };
}

/** The number of a line of a file; null for what is none. */
export function seqOfLine(encoded: string): number | null {
  return parsedLine(encoded, instanceIdOfFile(''))?.seq ?? null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_SEQ;
}

function isOneOf<T extends string>(words: readonly T[], value: unknown): value is T {
  return (words as readonly unknown[]).includes(value);
}

/** What a reader wants of a log. Times in epoch milliseconds. */
export interface LogFilter {
  sinceMs?: number | undefined;
  untilMs?: number | undefined;
  /** This level and those above. */
  level?: LogLevel | undefined;
  /** A part of the text, in any case. */
  text?: string | undefined;
  source?: LogSource | undefined;
  requestId?: string | undefined;
}

/** The filter as a function. */
export function matcherOf({
  sinceMs = 0,
  untilMs = Infinity,
  level,
  text,
  source,
  requestId,
}: LogFilter): (line: LogLine) => boolean {
  const least = level === undefined ? 0 : LOG_LEVELS.indexOf(level);
  const wanted = text?.toLowerCase();
  return (line) =>
    line.timeMs >= sinceMs &&
    line.timeMs <= untilMs &&
    LOG_LEVELS.indexOf(line.level) >= least &&
    (source === undefined || line.source === source) &&
    (requestId === undefined || line.requestId === requestId) &&
    (wanted === undefined || line.text.toLowerCase().includes(wanted));
}
