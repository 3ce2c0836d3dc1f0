/** Counts and hashes the bytes of a stream or a file, up to a limit. Knows nothing of the contents. */
import { createHash } from 'node:crypto';
import { WinterdockError } from '../base/errors.ts';

/** Hash and size of one member, or of a whole bundle. */
export interface Hashed {
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
}

/** Chunk size for reading and hashing files. */
export const CHUNK_BYTES = 1024 * 1024;

/** Counts and hashes bytes as they pass. */
export class HashingCounter {
  readonly #hash = createHash('sha256');
  readonly #limit: number;
  readonly #subject: string;
  bytes = 0;

  /** `subject` is that of the message when there are more than `limit` bytes. */
  constructor(limit: number, subject: string) {
    this.#limit = limit;
    this.#subject = subject;
  }

  /** Throws `too_large`. */
  update(piece: Uint8Array): void {
    this.bytes += piece.byteLength;
    if (this.bytes > this.#limit) throw tooLarge(this.#limit, this.#subject);
    this.#hash.update(piece);
  }

  result(): Hashed {
    return { sha256: this.#hash.digest('hex'), bytes: this.bytes };
  }
}

function tooLarge(limit: number, named: string): WinterdockError {
  return new WinterdockError('too_large', `${named} is over the limit of ${limit} bytes.`, { extra: { limit } });
}
