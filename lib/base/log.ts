/**
 * The server's log: JSON lines on stderr. Takes no secrets: callers pass ids, codes and durations, never headers or
 * bodies. A log that cannot be written stops nothing: lines wait for room, and those for which there was none are
 * counted and told.
 */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Bytes of lines that wait while stderr takes none; what comes on top of that is lost. */
const MOST_WAITING_BYTES = 1024 * 1024;
/** Milliseconds after which what waits is offered again, when no new line comes before. */
const RETRY_MS = 1000;
/** Lines a minute of the same words; what is beyond that is counted, and told with the next one after it. */
export const LINES_A_MINUTE = 100;
const MINUTE_MS = 60_000;
/** pino's number of `info`, the level of lines for each request. */
const INFO = 30;

/** Makes the root logger. `level` is pino's (`silent` turns it off). */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: MOST_WAITING_BYTES });
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { logMethod: createBound(performance) } },
    destination,
  );
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

/**
 * What pino asks for each line. Requests are as many as they are, where their lines were asked for; of all else the
 * same words are written so often a minute, whatever makes the server say them.
 */
export function createBound(clock: { now(): number }): NonNullable<pino.LoggerOptions['hooks']>['logMethod'] {
  const said = new Map<string, { sinceMs: number; lines: number; more: number }>();
  return function bounded(args, method, level) {
    const [fields, words] = args as [unknown, unknown];
    const what = typeof words === 'string' ? words : fields;
    if (level <= INFO || typeof what !== 'string') return method.apply(this, args);
    const known = said.get(what);
    const now = clock.now();
    const isOpen = known !== undefined && now - known.sinceMs < MINUTE_MS;
    if (isOpen && known.lines >= LINES_A_MINUTE) {
      known.more += 1;
      return;
    }
    if (isOpen) known.lines += 1;
    else {
      if (said.size >= LINES_A_MINUTE) said.delete(said.keys().next().value ?? '');
      said.set(what, { sinceMs: now, lines: 1, more: 0 });
    }
    if (!isOpen && known !== undefined && known.more > 0)
      method.apply(this, [{ lines: known.more, of: what }, 'so many lines of the same words were left out']);
    method.apply(this, args);
  };
}

/**
 * Keeps a process alive whose standard output cannot be written: its disk is full, or whoever read it is gone. What is
 * said is lost.
 */
export function outliveOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
