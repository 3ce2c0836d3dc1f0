/** Where the bytes of a segment come from, in order: a file, or a stream of a store. Knows nothing of their form. */
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { openRegular } from '../../base/strangers-file.ts';

export interface SegmentBytes {
  /** For messages. */
  name: string;
  /** In all. */
  bytes: number;
  /** Reads the next bytes into `piece` from index `at` on. Resolves with how many; 0 at the end. */
  read(piece: Buffer, at: number): Promise<number>;
  close(): Promise<void>;
}

/** Of a file (absolute). Throws `corrupt` for what is no regular file, and the system's errors. */
export async function openSegmentFile(path: string): Promise<SegmentBytes> {
  const file = await openRegular(path);
  let position = 0;
  try {
    return {
      name: basename(path),
      bytes: (await file.stat()).size,
      async read(piece, at) {
        const { bytesRead } = await file.read(piece, at, piece.length - at, position);
        position += bytesRead;
        return bytesRead;
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Of a stream that has `bytes` bytes in all; it is destroyed when this is closed. What breaks it is thrown. */
export function streamedSegment(name: string, bytes: number, stream: Readable): SegmentBytes {
  const pieces = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return {
    name,
    bytes,
    async read(piece, at) {
      while (rest.length === 0) {
        const { value, done } = await pieces.next();
        if (done) return 0;
        rest = value as Buffer;
      }
      const length = rest.copy(piece, at);
      rest = rest.subarray(length);
      return length;
    },
    async close() {
      stream.destroy();
    },
  };
}
