/** Reads logs from their files, the newest lines first. Knows nothing of who may read them. */
import { setImmediate } from 'node:timers/promises';
import type { InstanceId } from '../base/ids.ts';
import type { LogFiles } from './log-files.ts';
import { type LogFilter, type LogLine, matcherOf, parsedLine } from './log-line.ts';

export interface LogRequest extends LogFilter {
  /** Lines with a number below this, or above. */
  before?: number | undefined;
  after?: number | undefined;
  limit: number;
}

/** Lines are numbered a while after they were printed. */
const NUMBERED_LATE_MS = 60_000;

/**
 * The newest lines of some logs that fit, the newest first, at most `limit`. `next`: go on before this one; null at the
 * end. Gives way to others between two files, and ends early, with an error, when `signal` is aborted.
 */
export async function readLogs(
  files: LogFiles,
  ids: readonly InstanceId[],
  request: LogRequest,
  signal?: AbortSignal,
): Promise<{ lines: LogLine[]; next: number | null }> {
  const { before = Infinity, after = -1, limit, sinceMs = 0, untilMs = Infinity } = request;
  const fits = matcherOf(request);
  const parts = ids
    .flatMap((id) => files.partsOf(id).map((part) => ({ id, part: { ...part } })))
    .filter(({ part }) => part.first < before && part.last > after && part.last >= sinceMs * 1000)
    .filter(({ part }) => part.first <= (untilMs + NUMBERED_LATE_MS) * 1000)
    .sort((one, other) => other.part.last - one.part.last);
  // One more than is asked for: whether there are others.
  const most = limit + 1;
  let found: LogLine[] = [];
  for (const { id, part } of parts) {
    const least = found.length < most ? -1 : (found.at(-1)?.seq ?? -1);
    if (part.last <= least) break;
    signal?.throwIfAborted();
    const text = (await files.read(part)).toString('utf8');
    const own = linesOf(text, id, most, (line) => line.seq < before && line.seq > after && fits(line));
    if (own.length > 0) found = [...found, ...own].sort((one, other) => other.seq - one.seq).slice(0, most);
    await setImmediate();
  }
  const lines = found.slice(0, limit);
  return { lines, next: found.length > limit ? (lines.at(-1)?.seq ?? null) : null };
}

/** The last lines of a file that fit, from its end on; broken ones are left out. */
function linesOf(text: string, id: InstanceId, most: number, fits: (line: LogLine) => boolean): LogLine[] {
  const found: LogLine[] = [];
  for (let end = text.length; end > 0 && found.length < most; ) {
    const from = text.lastIndexOf('\n', end - 1) + 1;
    const line = parsedLine(text.slice(from, end), id);
    if (line !== null && fits(line)) found.push(line);
    end = from - 1;
  }
  return found;
}
