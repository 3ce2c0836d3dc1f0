/** An event stream that goes on after its last event when a connection breaks. Safe for the browser. */
import type { CallLine } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import type { FollowOptions } from './follow.ts';
import { type ServerSent, serverSent } from './server-sent.ts';
import { backoffMs, pause, type Transport } from './transport.ts';
import type { Problem } from './types.ts';

/** The server sends a beat every 15 s: a connection silent for longer than this is dead. */
const SILENCE_MS = 45_000;

/**
 * Yields the events of one connection after the other, until the loop is left or the signal is aborted (it then throws
 * the signal's reason). `from`, asked before each connection: the query, and the `Last-Event-ID`, null for none.
 * Rejects when the first connection cannot be made, and when the server refuses for good.
 */
export async function* reconnectingStream(
  transport: Transport,
  { line, parameters }: { line: CallLine; parameters: readonly string[] },
  from: () => { query?: object; lastEventId: number | null },
  { signal, headers, retries, onConnected, onLost }: FollowOptions,
): AsyncGenerator<ServerSent, void, void> {
  let isConnected = false;
  for (let failures = 0; ; ) {
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    const sign = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
    };
    let lost: ApiError | null = null;
    try {
      const { query, lastEventId } = from();
      const response = await transport.send({
        line,
        parameters,
        ...(query === undefined ? {} : { query }),
        accept: 'text/event-stream',
        options: {
          signal: AbortSignal.any(signal === undefined ? [silence.signal] : [silence.signal, signal]),
          headers: { ...headers, ...(lastEventId === null ? {} : { 'last-event-id': String(lastEventId) }) },
          retries: isConnected ? 0 : retries,
        },
      });
      isConnected = true;
      failures = 0;
      onConnected?.();
      for await (const sent of serverSent(response.body ?? new Blob([]).stream(), { onSign: sign })) {
        if (sent.event === 'error') throw problemError(JSON.parse(sent.data) as Problem);
        yield sent;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      lost = error instanceof ApiError ? error : networkError(transport.url, error);
      const passes = lost.code === 'network' || lost.status === 429 || lost.status >= 500;
      if (!isConnected || !passes) throw lost;
    } finally {
      clearTimeout(timer);
    }
    onLost?.(lost);
    failures += 1;
    await pause(Math.max(backoffMs(failures + 1), (lost?.retryAfterSeconds ?? 0) * 1000), signal);
  }
}
