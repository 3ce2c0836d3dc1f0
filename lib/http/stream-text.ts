/** Streams generated text with back-pressure: memory does not grow with its length. */
import { setTimeout } from 'node:timers/promises';
import type { StreamSink } from './answer.ts';

/** With more bytes than this queued for the client, generation pauses. */
const QUEUE_BYTES = 256 * 1024;
const POLL_MS = 5;

/** Waits until no more than `bytes` are queued. False when the client has disconnected. */
async function drained(sink: StreamSink, bytes: number): Promise<boolean> {
  while (sink.queuedBytes > bytes && !sink.gone.aborted) await setTimeout(POLL_MS);
  return !sink.gone.aborted;
}

/**
 * Writes the texts to the sink and ends it. `taken` is called before the end, once the client's connection has taken
 * everything; never when the client has disconnected. An error in the middle drops the connection, so that the client
 * cannot mistake a part for the whole, and is passed to `failed`.
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
