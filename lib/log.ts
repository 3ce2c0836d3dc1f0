/**
 * The server's log: JSON lines on stderr. Takes no secrets: callers pass ids, codes and durations, never headers or bodies. A log that cannot
 * be written stops nothing: lines wait for room, and those for which there was none are counted and told.
 */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Bytes of lines that wait while stderr takes none; what comes on top of that is lost. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** Milliseconds after which what waits is offered again, when no new line comes before. */
const RETRY_MS = 1000;

/** Makes the root logger. `level` is pino's (`silent` turns it off). */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: MOST_WAITING_BYTES });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  let lost = 0;
  let retries = false;
  destination.on('error', () => {
    if (retries) return;
    retries = true;
    setTimeout(() => {
      retries = false;
      // Nothing more than what waits: every write begins with that.
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
      // The process ends, and there is nowhere left to say so.
    }
  };
  return log;
}

/** Keeps a process alive whose standard output cannot be written: its disk is full, or whoever read it is gone. What is said is lost. */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
