/** Follows the ledger, without a gap when a connection breaks. Safe for the browser. */
import type { CallLine } from './call.ts';
import { type FollowOptions, reconnectingStream } from './reconnecting-stream.ts';
import type { Transport } from './transport.ts';
import type { Event, StreamQuery } from './types.ts';

const RETRY_MS = 2000;

/**
 * Yields every line of the ledger that fits `wanted`, from `last_event_id` on or else from now, in order, without a gap
 * or a repeat, until the signal is aborted (it then throws the signal's reason) or the loop is left. A connection that
 * breaks is made again, with `Last-Event-ID`. Rejects when the first one cannot be made, and when the server refuses
 * for good.
 */
export async function* followEvents(
  transport: Transport,
  lines: { stream: CallLine; list: CallLine },
  wanted: StreamQuery,
  options: FollowOptions,
): AsyncGenerator<Event, void, void> {
  const { last_event_id: given, ...query } = wanted;
  let last = given === undefined ? await newestSeq(transport, lines.list, options) : Number(given);
  const followed = { line: lines.stream, parameters: [], retryMs: RETRY_MS };
  const from = () => ({ query, lastEventId: last });
  for await (const { event, data } of reconnectingStream(transport, followed, from, options)) {
    if (event !== 'message') continue;
    const line = JSON.parse(data) as Event;
    if (line.seq <= last) continue;
    last = line.seq;
    yield line;
  }
}

/** The last number of the ledger, so that a connection which breaks before its first line misses none. */
async function newestSeq(transport: Transport, line: CallLine, { signal, headers, retries }: FollowOptions) {
  const page = await transport.answer({
    line,
    parameters: [],
    query: { limit: 1 },
    options: { signal, headers, retries },
  });
  return (page as { items: Event[] }).items[0]?.seq ?? 0;
}
