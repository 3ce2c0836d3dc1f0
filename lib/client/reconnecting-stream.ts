/** An event stream that goes on after its last event when a connection breaks. Safe for the browser. */
import type { CallLine, CallOptions } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import { type ServerSent, serverSent } from './server-sent.ts';
import { backoffMs, pause, type Transport } from './transport.ts';
import type { Problem } from './types.ts';

export interface FollowOptions extends Pick<CallOptions, 'signal' | 'headers' | 'retries'> {
  /** Called when connected: the first time, and after each reconnection. */
  onConnected?: () => void;
  /** Called when a connection broke, before the next attempt. */
  onLost?: (error: ApiError | null) => void;
}

/** The server sends a beat every 15 s: a connection silent for longer than this is dead. */
const SILENCE_MS = 45_000;

/** What is followed. */
interface Followed {
  line: CallLine;
  parameters: readonly string[];
  /**
   * The first pause of a stream that many follow is a part of this, drawn by chance, or of what the server says; the
   * later ones are longer. Default: a short one.
   */
  retryMs?: number;
}

/** Temporary refusals. */
const passes = ({ code, status }: ApiError) => code === 'network' || status === 429 || status >= 500;

/**
 * Yields the events of one connection after the other, until the loop is left or the signal is aborted (it then throws
 * the signal's reason). `from`, asked before each connection: the query, and the `Last-Event-ID`, null for none.
 * Rejects when the first connection cannot be made, and when the server refuses for good.
 */
export async function* reconnectingStream(
  transport: Transport,
  { line, parameters, retryMs: first }: Followed,
  from: () => { query?: object; lastEventId: number | null },
  { signal, headers, retries, onConnected, onLost }: FollowOptions,
): AsyncGenerator<ServerSent, void, void> {
  let isConnected = false;
  let retryMs = first;
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
      const onRetry = (ms: number) => {
        if (first !== undefined) retryMs = ms;
      };
      for await (const sent of serverSent(response.body ?? new Blob([]).stream(), { onSign: sign, onRetry })) {
        if (sent.event === 'error') throw problemError(JSON.parse(sent.data) as Problem);
        yield sent;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      lost = error instanceof ApiError ? error : networkError(transport.url, error);
      if (!isConnected || !passes(lost)) throw lost;
    } finally {
      clearTimeout(timer);
    }
    onLost?.(lost);
    failures += 1;
    const backoff = backoffMs(failures + (retryMs === undefined ? 1 : 2));
    const waitMs = failures === 1 && retryMs !== undefined ? retryMs * Math.random() : backoff;
    await pause(Math.max(waitMs, (lost?.retryAfterSeconds ?? 0) * 1000), signal);
  }
}
