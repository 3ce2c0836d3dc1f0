/** The server's log: JSON lines on stderr. Takes no secrets: callers pass ids, codes and durations, never headers or bodies. */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Makes the root logger. `level` is pino's (`silent` turns it off). */
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: false }),
  );
}
