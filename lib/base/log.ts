/**
 * The server's log: JSON lines on stderr. Callers pass ids, codes and durations, never secrets, headers or bodies. A
 * blocked stderr stops nothing: lines wait in a bounded buffer, and dropped ones are counted and reported.
 */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Bytes of lines that wait while stderr is blocked; further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Milliseconds until waiting lines are written again, when no new line comes before. */
const RETRY_MS = 1000;
/**
 * Lines a minute with the same message; further ones are only counted, and the count is reported with the next line.
 */
export const LINES_A_MINUTE = 100;
const MINUTE_MS = 60_000;
/** pino's number of `info`, the level of lines for each request. */
const INFO = 30;

/** Makes the root logger. `level` is pino's (`silent` turns it off). */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: MAX_WAITING_BYTES });
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { logMethod: createLineLimit(performance) } },
    destination,
  );
  let lost = 0;
  let retries = false;
  destination.on('error', () => {
    if (retries) return;
    retries = true;
    setTimeout(() => {
      retries = false;
      // An empty write: it writes what waits.
      destination.write('');
    }, RETRY_MS).unref();
  });
  destination.on('drop', () => {
    lost += 1;
  });
  destination.on('drain', () => {
    if (lost === 0) return;
    const lines = lost;
    lost = 0;
    log.error({ lines }, 'the log could not be written: so many lines are lost');
  });
  const flush = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    try {
      flush();
    } catch {
      // The process ends, and there is nowhere left to report it.
    }
  };
  return log;
}

/**
 * A pino hook that limits lines with the same message to `LINES_A_MINUTE`. Lines at level info and below, such as those
 * of requests, are not limited.
 */
export function createLineLimit(clock: { now(): number }): NonNullable<pino.LoggerOptions['hooks']>['logMethod'] {
  const counts = new Map<string, { sinceMs: number; lines: number; more: number }>();
  return function bounded(args, method, level) {
    const [fields, text] = args as [unknown, unknown];
    const message = typeof text === 'string' ? text : fields;
    if (level <= INFO || typeof message !== 'string') return method.apply(this, args);
    const count = counts.get(message);
    const now = clock.now();
    const isOpen = count !== undefined && now - count.sinceMs < MINUTE_MS;
    if (isOpen && count.lines >= LINES_A_MINUTE) {
      count.more += 1;
      return;
    }
    if (isOpen) count.lines += 1;
    else {
      if (counts.size >= LINES_A_MINUTE) counts.delete(counts.keys().next().value ?? '');
      counts.set(message, { sinceMs: now, lines: 1, more: 0 });
    }
    if (!isOpen && count !== undefined && count.more > 0)
      method.apply(this, [{ lines: count.more, of: message }, 'so many lines of the same words were left out']);
    method.apply(this, args);
  };
}

/**
 * Keeps the process alive when stdout or stderr cannot be written, because the disk is full or the reader is gone. The
 * output is lost.
 */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
