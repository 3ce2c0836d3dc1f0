/** Reading a request's body within a limit: nothing over it is ever kept, however it arrives. */
import { isUtf8 } from 'node:buffer';
import { WinterdockError } from '../errors.ts';

/** A body before it is read. */
export interface BodySource {
  /** `Content-Length`, or null when the body comes in chunks or there is none. */
  length: number | null;
  /** Calls `onChunk` with each piece; resolves at the end. Stops for good when `onChunk` throws, rejecting with that. */
  read(onChunk: (chunk: Uint8Array) => void): Promise<void>;
}

function tooLarge(limit: number): WinterdockError {
  return new WinterdockError('too_large', `The body is over the limit of ${limit} bytes.`, {
    hint: 'Nothing of it was kept.',
    extra: { limit },
  });
}

/** The whole body, at most `limit` bytes. Throws `too_large` by `Content-Length` at once, else as soon as it is over. */
export async function readBody(source: BodySource, limit: number): Promise<Buffer> {
  if (source.length !== null && source.length > limit) throw tooLarge(limit);
  if (source.length === 0) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  await source.read((chunk) => {
    size += chunk.byteLength;
    if (size > limit) {
      chunks.length = 0;
      throw tooLarge(limit);
    }
    chunks.push(chunk);
  });
  const [only] = chunks;
  return chunks.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(chunks, size);
}

/** Parses a JSON body; none at all is `{}`. Throws `bad_json`. */
export function parseJson(body: Buffer): unknown {
  if (body.length === 0) return {};
  if (!isUtf8(body)) throw badJson('it is not UTF-8');
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw badJson('it does not parse');
  }
}

function badJson(why: string): WinterdockError {
  return new WinterdockError('bad_json', `The body is not JSON: ${why}.`);
}
