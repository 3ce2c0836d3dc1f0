/**
 * What a call says: cut at a limit per stream, kept in order until it is taken. Kept as text in which bytes that are no
 * UTF-8 are escaped (see byte-text.ts), so that no byte is lost. Knows nothing of where it goes.
 */
import { textOfBytes, unfinishedEnd } from './byte-text.ts';
import type { OutputChunk } from './instance.ts';

/** Bytes of each stream that a call may say; what comes after is dropped. */
export const MAX_STREAM_BYTES = 4 * 1024 * 1024;

const LAST_CHARACTERS = 2000;

type StreamName = OutputChunk['stream'];

export class Output {
  /** True once something was dropped. */
  truncated = false;
  /** The end of what was said on stderr, taken or not. */
  stderrTail = '';
  readonly #bytes: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  /** The beginning of a character whose end has not come yet. */
  readonly #begun: Record<StreamName, Uint8Array> = { stdout: new Uint8Array(0), stderr: new Uint8Array(0) };
  #waiting: { stream: StreamName; parts: string[] }[] = [];

  /** Adds bytes; a character that ends in a later call of it is held back until then. */
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

  /** What was said since the last time, in order; pieces of one stream in a row are one chunk. */
  take(): OutputChunk[] {
    const taken = this.#waiting.map(({ stream, parts }) => ({ stream, text: parts.join('') }));
    this.#waiting = [];
    return taken;
  }

  /** The last of it: also what is left of a character that never ended. */
  end(): OutputChunk[] {
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#keep(stream, textOfBytes(this.#begun[stream]));
      this.#begun[stream] = new Uint8Array(0);
    }
    return this.take();
  }

  #keep(stream: StreamName, text: string): void {
    if (text === '') return;
    if (stream === 'stderr') this.stderrTail = (this.stderrTail + text).slice(-LAST_CHARACTERS);
    const last = this.#waiting.at(-1);
    if (last?.stream === stream) last.parts.push(text);
    else this.#waiting.push({ stream, parts: [text] });
  }
}

/** The text of one stream of chunks. */
export function joinStream(chunks: readonly OutputChunk[], stream: StreamName): string {
  return chunks
    .filter((chunk) => chunk.stream === stream)
    .map(({ text }) => text)
    .join('');
}
