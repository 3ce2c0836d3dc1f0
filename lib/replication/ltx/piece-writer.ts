/**
 * Writes a file from its beginning to its end in large pieces: one is written while the next is filled. Knows nothing
 * of what is in it.
 */
import type { FileHandle } from 'node:fs/promises';

const PIECE_BYTES = 512 * 1024;
/** Room for the largest page with what is around it, also where less is expected. */
const LEAST_BYTES = 80 * 1024;

export class PieceWriter {
  readonly #file: FileHandle;
  readonly #onPiece: (piece: Buffer) => void;
  #piece: Buffer;
  #spare: Buffer | null = null;
  #at = 0;
  #position = 0;
  #writing: Promise<void> = Promise.resolve();

  /**
   * `expectedBytes`: what will be written in all, where that is known: a small file needs no large piece. `onPiece`
   * sees everything once, in order.
   */
  constructor(file: FileHandle, expectedBytes = PIECE_BYTES, onPiece: (piece: Buffer) => void = () => undefined) {
    this.#file = file;
    this.#onPiece = onPiece;
    this.#piece = Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, Math.min(PIECE_BYTES, expectedBytes)));
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#position + this.#at;
  }

  /** Whether `length` bytes need a `flush` before them. */
  lacks(length: number): boolean {
    return this.#piece.length - this.#at < length;
  }

  /** Adds bytes; there must be room for them. */
  put(bytes: Uint8Array): void {
    this.#piece.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** Begins to write what there is. Throws what the system said of the piece before. */
  async flush(): Promise<void> {
    await this.#writing;
    const piece = this.#piece;
    const filled = piece.subarray(0, this.#at);
    this.#writing = writeWhole(this.#file, filled, this.#position);
    // It is written meanwhile.
    this.#onPiece(filled);
    // Whoever waits next is told.
    this.#writing.catch(() => undefined);
    this.#position += this.#at;
    this.#at = 0;
    this.#piece = this.#spare ?? Buffer.allocUnsafeSlow(piece.length);
    this.#spare = piece;
  }

  /** Writes all of it. Throws the system's errors. */
  async end(): Promise<void> {
    await this.#writing;
    const filled = this.#piece.subarray(0, this.#at);
    this.#onPiece(filled);
    await writeWhole(this.#file, filled, this.#position);
    this.#position += this.#at;
    this.#at = 0;
  }
}

/** Writes all of `bytes` at a position of an open file. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
