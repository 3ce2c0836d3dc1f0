/** Byte streams that operations take or return without holding them in memory. Knows nothing of HTTP. */
import type { Readable } from 'node:stream';

/** Bytes that are produced as fast as the client takes them. */
export interface SizedStream {
  /** Its pieces are the receiver's, who may give their memory back. */
  stream: Readable;
  /** Length in bytes; null: unknown until its end. */
  bytes: number | null;
}

/** A body too large for memory: it is streamed to a file when the operation asks for it. */
export interface UploadStream {
  /** `Content-Length`, or null. */
  readonly length: number | null;
  /** `Content-Type` as sent, or null. */
  readonly type: string | null;
  /**
   * Writes the body to a new file at `path` (absolute), readable by its owner only, and returns its size in bytes.
   * Holds a piece at a time. Throws `too_large` over the limit of uploads and `bad_json` when the body ends in its
   * middle; no file is then left.
   */
  saveTo(path: string): Promise<number>;
  /** The body itself, for what is small enough to be held. Throws `too_large` over `limit` bytes. */
  bytes(limit: number): Promise<Uint8Array>;
}
