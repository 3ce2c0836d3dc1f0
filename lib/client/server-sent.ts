/** Server-sent events out of bytes, as the HTML standard reads them. Safe for the browser. */

export interface ServerSent {
  /** `message` when the event has no name of its own. */
  event: string;
  data: string;
  /** The last id that was sent, this event's or an earlier one's; empty before the first. */
  id: string;
}

export interface ServerSentOptions {
  /** Milliseconds to wait before coming back, as the server wants it. */
  onRetry?: (milliseconds: number) => void;
  /** Anything arrived, comments included. */
  onSign?: () => void;
}

/** Yields the events of a stream as they come. Leaving it early cancels the stream. Rejects when the stream breaks. */
export async function* serverSent(
  stream: ReadableStream<Uint8Array>,
  options: ServerSentOptions = {},
): AsyncGenerator<ServerSent, void, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let id = '';
  let event = '';
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      options.onSign?.();
      rest += decoder.decode(value, { stream: true });
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event === '' ? 'message' : event, data: data.join('\n'), id };
          event = '';
          data = [];
          continue;
        }
        const colon = line.indexOf(':');
        const field = colon < 0 ? line : line.slice(0, colon);
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
        if (field === 'event') event = text;
        else if (field === 'data') data.push(text);
        else if (field === 'id' && !text.includes('\0')) id = text;
        else if (field === 'retry' && /^\d+$/.test(text)) options.onRetry?.(Number(text));
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
