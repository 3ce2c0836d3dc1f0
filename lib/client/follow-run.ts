/** Follows the output of a run, and goes on at the next byte when a connection breaks. Safe for the browser. */
import { fromBase64 } from './base64.ts';
import type { CallLine } from './call.ts';
import { ApiError, networkError, problemError } from './error.ts';
import type { FollowOptions } from './follow.ts';
import { serverSent } from './server-sent.ts';
import { backoffMs, pause, type Transport } from './transport.ts';
import type { Problem, RunPiece, SandboxRun } from './types.ts';

/** What happens to a run; the last event is `exit`. `next`: the offset after it. */
export type RunEvent =
  | { event: 'run'; run: SandboxRun; next: number }
  | { event: 'stdout' | 'stderr'; bytes: Uint8Array; next: number }
  /** Output that is no longer there. */
  | { event: 'gap'; dropped: number; next: number }
  | { event: 'exit'; run: SandboxRun; next: number };

export interface FollowRunOptions extends FollowOptions {
  /** The byte to begin with, of both outputs together. Default: 0. */
  offset?: number;
}

/** The server sends a beat every 15 s: a connection silent for longer than this is dead. */
const SILENCE_MS = 45_000;

/**
 * Yields what a run wrote and writes, from `offset` on, without a gap or a repeat that it does not tell, to its end.
 * Leaving the loop does not stop the run. A connection that breaks is made again. Rejects when the first one cannot be
 * made, and when the server refuses for good.
 */
export async function* followRun(
  transport: Transport,
  line: CallLine,
  [id, run]: [string, string],
  options: FollowRunOptions,
): AsyncGenerator<RunEvent, void, void> {
  const { signal, headers, retries } = options;
  let next = options.offset ?? 0;
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
      const response = await transport.send({
        line,
        parameters: [id, run],
        accept: 'text/event-stream',
        options: {
          signal: AbortSignal.any(signal === undefined ? [silence.signal] : [silence.signal, signal]),
          headers: { ...headers, 'last-event-id': String(next) },
          retries: isConnected ? 0 : retries,
        },
      });
      isConnected = true;
      failures = 0;
      options.onConnected?.();
      for await (const sent of serverSent(response.body ?? new Blob([]).stream(), { onSign: sign })) {
        const { event, value } = { event: sent.event, value: JSON.parse(sent.data) as unknown };
        if (event === 'error') throw problemError(value as Problem);
        next = Number(sent.id);
        const found = eventOf(event, value, next);
        if (found !== null) yield found;
        if (event === 'exit') return;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      lost = error instanceof ApiError ? error : networkError(transport.url, error);
      const passes = lost.code === 'network' || lost.status === 429 || lost.status >= 500;
      if (!isConnected || !passes) throw lost;
    } finally {
      clearTimeout(timer);
    }
    options.onLost?.(lost);
    failures += 1;
    await pause(Math.max(backoffMs(failures + 1), (lost?.retryAfterSeconds ?? 0) * 1000), signal);
  }
}

function eventOf(event: string, value: unknown, next: number): RunEvent | null {
  if (event === 'run' || event === 'exit') return { event, run: value as SandboxRun, next };
  if (event === 'gap') return { event, dropped: (value as { dropped: number }).dropped, next };
  if (event !== 'stdout' && event !== 'stderr') return null;
  const { text, encoding } = value as Pick<RunPiece, 'text' | 'encoding'>;
  return { event, bytes: encoding === undefined ? new TextEncoder().encode(text) : fromBase64(text), next };
}
