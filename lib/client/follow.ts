/** Follows the ledger and reconnects when a connection breaks. Safe for the browser. */
import type { CallLine, CallOptions } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import { serverSent } from './server-sent.ts';
import { backoffMs, pause, type Transport } from './transport.ts';
import type { Event, Problem, StreamQuery } from './types.ts';

export interface FollowOptions extends Pick<CallOptions, 'signal' | 'headers' | 'retries'> {
  /** Called when connected: the first time, and after each reconnection. */
  onConnected?: () => void;
  /** Called when a connection broke, before the next attempt. */
  onLost?: (error: ApiError | null) => void;
}

/** The server sends a beat every 15 s: a connection silent for longer than this is dead. */
const SILENCE_MS = 45_000;
const RETRY_MS = 2000;

/** Temporary refusals. */
function passes(error: ApiError): boolean {
  return error.code === 'network' || error.status === 429 || error.status >= 500;
}

/**
 * Yields every line of the ledger that fits `query`, from `last_event_id` on or else from now, in order, without a gap
 * or a repeat, until the signal is aborted (it then throws the signal's reason) or the loop is left. A connection that
 * breaks is made again, with `Last-Event-ID`. Rejects when the first one cannot be made, and when the server refuses
 * for good.
 */
export async function* followEvents(
  transport: Transport,
  lines: { stream: CallLine; list: CallLine },
  query: StreamQuery,
  options: FollowOptions,
): AsyncGenerator<Event, void, void> {
  const { signal, headers, retries } = options;
  const { last_event_id: given, ...filter } = query;
  let last = given === undefined ? await newestSeq(transport, lines.list, options) : Number(given);
  let retryMs = RETRY_MS;
  let connectedBefore = false;
  for (let failures = 0; ; ) {
    let lost: ApiError | null = null;
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const sign = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    };
    const either = AbortSignal.any(signal === undefined ? [silence.signal] : [silence.signal, signal]);
    try {
      const response = await transport.send({
        line: lines.stream,
        parameters: [],
        query: filter,
        options: {
          signal: either,
          headers: { ...headers, 'last-event-id': String(last) },
          retries: connectedBefore ? 0 : retries,
        },
      });
      connectedBefore = true;
      failures = 0;
      options.onConnected?.();
      const stream = response.body ?? new Blob([]).stream();
      for await (const { event, data } of serverSent(stream, { onSign: sign, onRetry: (ms) => (retryMs = ms) })) {
        const value: unknown = JSON.parse(data);
        if (event === 'error') throw problemError(value as Problem);
        if (event !== 'message') continue;
        const line = value as Event;
        if (line.seq <= last) continue;
        last = line.seq;
        yield line;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      // No answer means that the connection broke or was silent for too long.
      lost = error instanceof ApiError ? error : networkError(transport.url, error);
      if (!connectedBefore || !passes(lost)) throw lost;
    } finally {
      clearTimeout(timer);
    }
    options.onLost?.(lost);
    failures += 1;
    await pause(
      Math.max(
        failures === 1 ? retryMs * Math.random() : backoffMs(failures + 2),
        (lost?.retryAfterSeconds ?? 0) * 1000,
      ),
      signal,
    );
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
