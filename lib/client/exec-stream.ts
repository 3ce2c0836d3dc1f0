/** A script's output while it runs. Safe for the browser. */
import { fromBase64 } from './base64.ts';
import type { CallLine, CallOptions } from './call.ts';
import { callEvents } from './call-events.ts';
import { bodyOf, type ExecBytesInput } from './exec.ts';
import type { Transport } from './transport.ts';
import type { ExecAnswer, ExecInput, Instance } from './types.ts';

type Exit = Omit<ExecAnswer, 'stdout' | 'stderr' | 'stdout_encoding' | 'stderr_encoding'>;

/**
 * A piece of output: its bytes, and the text that they are; null when they are no UTF-8. No piece ends within a
 * character.
 */
interface OutputPiece {
  text: string | null;
  bytes: Uint8Array;
}

/** The events of a script: first how the sandbox woke, then its output, last how it ended. */
export type ExecEvent =
  | { event: 'woke'; woke: Exit['woke']; from: Instance['state'] | null; took_ms: number }
  | ({ event: 'stdout' } & OutputPiece)
  | ({ event: 'stderr' } & OutputPiece)
  | ({ event: 'exit' } & Exit);

/** What to run. `stdin` may be text or any bytes. */
export type ExecStreamInput = ExecBytesInput & Pick<ExecInput, 'stdin_base64' | 'encoding'>;

interface Piece {
  text: string;
  encoding?: 'base64';
}

function outputPiece({ text, encoding }: Piece): OutputPiece {
  if (encoding === undefined) return { text, bytes: new TextEncoder().encode(text) };
  const bytes = fromBase64(text);
  return { text: textOf(bytes), bytes };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Bytes that are no UTF-8 have no text.
    return null;
  }
}

/**
 * Runs a script and yields its events as they come; the last event is `exit`. Leaving the loop, or aborting the
 * signal, closes the connection, which stops the script. A lost connection is `network`, never an early end; it is
 * never retried.
 */
export async function* execStream(
  transport: Transport,
  line: CallLine,
  id: string,
  input: ExecStreamInput,
  options: CallOptions,
): AsyncGenerator<ExecEvent, void, void> {
  const request = { line, parameters: [id], body: bodyOf(input), options };
  for await (const { event, value } of callEvents(transport, request, 'exit')) {
    if (event === 'stdout' || event === 'stderr') yield { event, ...outputPiece(value as Piece) };
    else yield { event, ...(value as object) } as ExecEvent;
  }
}
