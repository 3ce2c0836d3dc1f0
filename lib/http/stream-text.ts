/** Sends a text that is made as it goes, no faster than the client takes it: memory does not grow with what is sent. */
import { setTimeout } from 'node:timers/promises';
import type { StreamSink } from './answer.ts';

/** Bytes on their way to a client that stop the making of more. */
const QUEUE_BYTES = 256 * 1024;
const POLL_MS = 5;

/** Waits until no more than `bytes` are on their way. False when the client has gone. */
async function drained(sink: StreamSink, bytes: number): Promise<boolean> {
  while (sink.queuedBytes > bytes && !sink.gone.aborted) await setTimeout(POLL_MS);
  return !sink.gone.aborted;
}

/**
 * Writes the texts to the sink and ends it. `taken` is called before the end, once the client's connection has taken
 * everything; not when it has gone. What fails in the middle cuts the connection, so that nobody takes a part for the
 * whole, and is told to `failed`.
 */
export async function streamText(
  sink: StreamSink,
  texts: AsyncIterable<string>,
  options: { taken?: () => Promise<void>; failed: (error: unknown) => void },
): Promise<void> {
  try {
    for await (const text of texts) {
      sink.write(text);
      if (!(await drained(sink, QUEUE_BYTES))) return;
    }
    if (!(await drained(sink, 0))) return;
    await options.taken?.();
    sink.end();
  } catch (error) {
    options.failed(error);
    sink.drop();
  }
}
