/** The events of a stream, as they arrive. Safe for the browser; knows nothing of what they mean. */

const END = '\n\n';

/** Yields each event that has data, parsed. */
export async function* blocksOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<{ event: string; id: string; data: unknown }, void, void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let waiting = '';
  let looked = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      waiting += value;
      for (;;) {
        const end = waiting.indexOf(END, looked);
        if (end < 0) break;
        const parsed = eventIn(waiting.slice(0, end));
        waiting = waiting.slice(end + END.length);
        looked = 0;
        if (parsed !== null) yield parsed;
      }
      // A large event arrives in many pieces; each piece is searched once.
      looked = Math.max(0, waiting.length - 1);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventIn(block: string): { event: string; id: string; data: unknown } | null {
  let [event, id, data] = ['', '', ''];
  for (const line of block.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7);
    else if (line.startsWith('id: ')) id = line.slice(4);
    else if (line.startsWith('data: ')) data += line.slice(6);
  }
  return data === '' ? null : { event, id, data: JSON.parse(data) };
}
