/** What a call has said so far: kept up to a limit per stream, handed on as it comes, cut on whole characters. */
import { StringDecoder } from 'node:string_decoder';
import type { OutputChunk } from './instance.ts';

/** Bytes of each stream that an answer holds. */
export const MAX_STREAM_BYTES = 4 * 1024 * 1024;

type StreamName = OutputChunk['stream'];

export class Output {
  truncated = false;
  readonly #onChunk: (chunk: OutputChunk) => void;
  readonly #kept: Record<StreamName, string[]> = { stdout: [], stderr: [] };
  readonly #bytes: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };

  constructor(onChunk: (chunk: OutputChunk) => void = () => {}) {
    this.#onChunk = onChunk;
  }

  /** Adds bytes to a stream; what is over the limit is dropped. Returns false once nothing more is kept. */
  add(stream: StreamName, content: Uint8Array): boolean {
    const room = MAX_STREAM_BYTES - this.#bytes[stream];
    if (content.length > room) this.truncated = true;
    if (room <= 0 || content.length === 0) return room > 0;
    const kept = content.subarray(0, room);
    this.#bytes[stream] += kept.length;
    const text = this.#decoders[stream].write(Buffer.from(kept.buffer, kept.byteOffset, kept.byteLength));
    if (text !== '') {
      this.#kept[stream].push(text);
      this.#onChunk({ stream, text });
    }
    return kept.length === content.length;
  }

  /** The whole of a stream so far. */
  text(stream: StreamName): string {
    return this.#kept[stream].join('');
  }
}
