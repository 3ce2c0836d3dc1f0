/** Follows what sandboxes print, and goes on after the last line when a connection breaks. Safe for the browser. */
import type { CallLine } from './call.ts';
import { type FollowOptions, reconnectingStream } from './reconnecting-stream.ts';
import type { Transport } from './transport.ts';
import type { LogsQuery, PrintedLine } from './types.ts';

/** A line that was printed, or lines that are missing here; `dropped` is null when nobody knows how many. */
export type LogEvent = { event: 'line'; line: PrintedLine } | { event: 'gap'; dropped: number | null };

/** What is followed. `limit`: so many of the newest lines first; `cursor`: only those after this one, by its `seq`. */
export type FollowLogsQuery = Omit<LogsQuery, 'follow' | 'until'>;

/** Lines that are asked for after a connection broke: the most that the server gives. */
const MISSED = 1000;

/**
 * Yields the newest lines that fit, the oldest of them first, then those that are printed, without a repeat, and a
 * `gap` where some are missing. Ends only by leaving the loop, by the signal (throws its reason), or by a refusal.
 */
export async function* followLogs(
  transport: Transport,
  line: CallLine,
  of: string,
  { cursor, ...query }: FollowLogsQuery,
  options: FollowOptions,
): AsyncGenerator<LogEvent, void, void> {
  let last = cursor === undefined ? null : Number(cursor);
  let isConnected = false;
  // After the first connection a log that was empty goes on from its beginning.
  const from = () => ({
    query: isConnected ? { ...query, limit: MISSED } : query,
    lastEventId: isConnected ? (last ?? 0) : last,
  });
  const onConnected = () => {
    isConnected = true;
    options.onConnected?.();
  };
  for await (const { event, data } of reconnectingStream(transport, { line, parameters: [of] }, from, {
    ...options,
    onConnected,
  })) {
    const value: unknown = JSON.parse(data);
    if (event === 'gap') yield { event, dropped: (value as { dropped: number | null }).dropped };
    if (event !== 'line') continue;
    const printed = value as PrintedLine;
    if (last !== null && printed.seq <= last) continue;
    last = printed.seq;
    yield { event, line: printed };
  }
}
