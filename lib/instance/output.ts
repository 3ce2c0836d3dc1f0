/**
 * The output of one call: limited per stream, and buffered in order until it is taken. It is text in which bytes that
 * are not UTF-8 are escaped (byte-text.ts), so no byte is lost. Knows nothing of where it is sent.
 */
import { textOfBytes, unfinishedEnd } from './byte-text.ts';
import type { OutputChunk } from './instance.ts';

/** Maximum bytes per stream and call; the rest is dropped. */
export const MAX_STREAM_BYTES = 4 * 1024 * 1024;

const STDERR_TAIL_CHARACTERS = 2000;

type StreamName = OutputChunk['stream'];

export class Output {
  /** True once output was dropped. */
  truncated = false;
  /** The end of stderr, taken or not. */
  stderrTail = '';
  readonly #bytes: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  /** The first bytes of a character that is not complete yet. */
  readonly #begun: Record<StreamName, Uint8Array> = { stdout: new Uint8Array(0), stderr: new Uint8Array(0) };
  #waiting: { stream: StreamName; parts: string[] }[] = [];

  /** Adds bytes. Holds an incomplete character back until the rest of it comes. */
  add(stream: StreamName, content: Uint8Array): void {
    const room = MAX_STREAM_BYTES - this.#bytes[stream];
    if (content.byteLength > room) this.truncated = true;
    if (room <= 0 || content.byteLength === 0) return;
    const kept = content.subarray(0, room);
    this.#bytes[stream] += kept.byteLength;
    const begun = this.#begun[stream];
    const whole = begun.byteLength === 0 ? kept : Buffer.concat([begun, kept]);
    const end = whole.byteLength - unfinishedEnd(whole);
    this.#begun[stream] = whole.slice(end);
    this.#keep(stream, textOfBytes(whole.subarray(0, end)));
  }

  /** Removes and returns the buffered output, in order. Adjacent pieces of one stream become one chunk. */
  take(): OutputChunk[] {
    const taken = this.#waiting.map(({ stream, parts }) => ({ stream, text: parts.join('') }));
    this.#waiting = [];
    return taken;
  }

  /** The final output, with any incomplete character. */
  end(): OutputChunk[] {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#keep(stream, textOfBytes(this.#begun[stream]));
      this.#begun[stream] = new Uint8Array(0);
    }
    return this.take();
  }

  #keep(stream: StreamName, text: string): void {
    if (text === '') return;
    if (stream === 'stderr') this.stderrTail = (this.stderrTail + text).slice(-STDERR_TAIL_CHARACTERS);
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.parts.push(text);
    else this.#waiting.push({ stream, parts: [text] });
  }
}

/** Joins the text of one stream. */
export function joinStream(chunks: readonly OutputChunk[], stream: StreamName): string {
  return chunks
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join('');
}
