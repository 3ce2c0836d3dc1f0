/**
 * The output of one call: limited per stream, and buffered in order until it is taken. It is text in which bytes that
 * are not UTF-8 are escaped (byte-text.ts), so no byte is lost. Knows nothing of where it is sent.
 */
import { textOfBytes, unfinishedEnd } from './byte-text.ts';
import type { OutputChunk } from './instance.ts';

/** Maximum bytes per stream and call; the rest is dropped. */
export const MAX_STREAM_BYTES = 4 * 1024 * 1024;

/** Bytes of endless output that wait to be sent. What comes on top leaves the oldest out. */
const MAX_UNSENT_BYTES = 1024 * 1024;

/** Characters of output in one message: at most 6 MiB there, as JSON writes control characters as six each. */
const MESSAGE_CHARACTERS = 1024 * 1024;

const STDERR_TAIL_CHARACTERS = 2000;
/** Bytes of a piece of endless output, unless it was written as one. */
const PIECE_BYTES = 16 * 1024;
/** Pieces of endless output that wait; a message takes a thousand. */
const MAX_PIECES = 500;

type StreamName = OutputChunk['stream'];

export class Output {
  /** True once output was dropped. */
  truncated = false;
  /** The end of stderr, taken or not. */
  stderrTail = '';
  readonly #bytes: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  /** The first bytes of a character that is not complete yet. */
  readonly #begun: Record<StreamName, Uint8Array> = { stdout: new Uint8Array(0), stderr: new Uint8Array(0) };
  #waiting: { stream: StreamName; parts: string[]; bytes: number }[] = [];
  readonly #endless: boolean;
  #unsent = 0;
  #skipped = 0;

  /** `endless`: without a limit of the whole; of what waits to be taken, the oldest is left out. */
  constructor(endless = false) {
    this.#endless = endless;
  }

  /** Adds bytes. Holds an incomplete character back until the rest of it comes. */
  add(stream: StreamName, content: Uint8Array): void {
    const room = this.#endless ? Number.POSITIVE_INFINITY : MAX_STREAM_BYTES - this.#bytes[stream];
    if (content.byteLength > room) this.truncated = true;
    if (room <= 0 || content.byteLength === 0) return;
    const kept = content.subarray(0, room);
    this.#bytes[stream] += kept.byteLength;
    const begun = this.#begun[stream];
    const whole = begun.byteLength === 0 ? kept : Buffer.concat([begun, kept]);
    const end = whole.byteLength - unfinishedEnd(whole);
    this.#begun[stream] = whole.slice(end);
    this.#keep(stream, whole.subarray(0, end));
  }

  /** Removes and returns the buffered output, in order. Adjacent pieces of one stream become one chunk. */
  take(): OutputChunk[] {
    const taken = this.#waiting.map(({ stream, parts }): OutputChunk => ({ stream, text: parts.join('') }));
    const [first] = taken;
    if (this.#skipped > 0 && first !== undefined) {
      first.skipped = this.#skipped;
      this.#skipped = 0;
    }
    this.#waiting = [];
    this.#unsent = 0;
    return taken;
  }

  /** The final output, with any incomplete character. */
  end(): OutputChunk[] {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#keep(stream, this.#begun[stream]);
      this.#begun[stream] = new Uint8Array(0);
    }
    return this.take();
  }

  #keep(stream: StreamName, content: Uint8Array): void {
    if (content.byteLength === 0) return;
    const kept = this.#endless ? this.#tailOf(content) : content;
    const text = textOfBytes(kept);
    if (stream === 'stderr') this.stderrTail = (this.stderrTail + text).slice(-STDERR_TAIL_CHARACTERS);
    const last = this.#waiting.at(-1);
    // Endless output is left out piece by piece, so that a piece must not grow.
    const grows = last?.stream === stream && (!this.#endless || last.bytes + kept.byteLength <= PIECE_BYTES);
    if (last !== undefined && grows) {
      last.parts.push(text);
      last.bytes += kept.byteLength;
    } else this.#waiting.push({ stream, parts: [text], bytes: kept.byteLength });
    this.#unsent += kept.byteLength;
    while (this.#endless && (this.#unsent > MAX_UNSENT_BYTES || this.#waiting.length > MAX_PIECES)) this.#skip();
  }

  /** The end of a piece that alone is over the limit, from a whole character on. */
  #tailOf(content: Uint8Array): Uint8Array {
    let from = Math.max(0, content.byteLength - MAX_UNSENT_BYTES);
    if (from === 0) return content;
    while (from < content.byteLength && ((content[from] ?? 0) & 0xc0) === 0x80) from += 1;
    while (this.#waiting.length > 0) this.#skip();
    this.#skipped += from;
    return content.subarray(from);
  }

  #skip(): void {
    const oldest = this.#waiting.shift();
    if (oldest === undefined) return;
    this.#unsent -= oldest.bytes;
    this.#skipped += oldest.bytes;
  }
}

/**
 * The same output as messages carry it, in order: each has MESSAGE_CHARACTERS at most, so that the server never parses
 * much at once.
 */
export function inMessages(chunks: readonly OutputChunk[]): OutputChunk[][] {
  const messages: OutputChunk[][] = [];
  let room = 0;
  for (const { text, ...chunk } of chunks.flatMap(inParts)) {
    if (text.length > room || messages.length === 0) {
      messages.push([]);
      room = MESSAGE_CHARACTERS;
    }
    messages.at(-1)?.push({ ...chunk, text });
    room -= text.length;
  }
  return messages;
}

function inParts(chunk: OutputChunk): OutputChunk[] {
  const { stream, text } = chunk;
  if (text.length <= MESSAGE_CHARACTERS) return [chunk];
  const parts: OutputChunk[] = [];
  for (let at = 0; at < text.length; ) {
    // No character of two is cut in half.
    const isPair = (text.charCodeAt(at + MESSAGE_CHARACTERS - 1) & 0xfc00) === 0xd800;
    const end = at + MESSAGE_CHARACTERS - (isPair ? 1 : 0);
    parts.push({ ...(at === 0 ? chunk : { stream }), text: text.slice(at, end) });
    at = end;
  }
  return parts;
}

/** Joins the text of one stream. */
export function joinStream(chunks: readonly OutputChunk[], stream: StreamName): string {
  return chunks
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join('');
}
