/** Follows the output of a run, and goes on at the next byte when a connection breaks. Safe for the browser. */
import { fromBase64 } from './base64.ts';
import type { CallLine } from './call.ts';
import { type FollowOptions, reconnectingStream } from './reconnecting-stream.ts';
import type { Transport } from './transport.ts';
import type { RunPiece, SandboxRun } from './types.ts';

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
  let next = options.offset ?? 0;
  const call = { line, parameters: [id, run] };
  for await (const { event, data, id: sent } of reconnectingStream(
    transport,
    call,
    () => ({ lastEventId: next }),
    options,
  )) {
    next = Number(sent);
    const found = eventOf(event, JSON.parse(data), next);
    if (found !== null) yield found;
    if (event === 'exit') return;
  }
}

function eventOf(event: string, value: unknown, next: number): RunEvent | null {
  if (event === 'run' || event === 'exit') return { event, run: value as SandboxRun, next };
  if (event === 'gap') return { event, dropped: (value as { dropped: number }).dropped, next };
  if (event !== 'stdout' && event !== 'stderr') return null;
  const { text, encoding } = value as Pick<RunPiece, 'text' | 'encoding'>;
  return { event, bytes: encoding === undefined ? new TextEncoder().encode(text) : fromBase64(text), next };
}
