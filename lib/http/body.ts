/** Reads request bodies within a limit: never more than the limit is kept, with or without `Content-Length`. */

import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { createFile, unlinkFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { JsonWeight } from '../base/json-weight.ts';
import { releaseBytes } from '../base/spent-bytes.ts';
import type { UploadStream } from '../operations/streams.ts';

/** Uploads are written in pieces of at most this size. */
const PIECE_BYTES = 1024 * 1024;

/** Most bytes of a JSON body: parsing holds the server. 16 MiB of stdin in base64, its largest member, take 22. */
export const MOST_JSON_BYTES = 24 * 1024 * 1024;

/** A body before it is read. */
export interface BodySource {
  /** `Content-Length`, or null when the body comes in chunks or there is none. */
  length: number | null;
  /** Whether nobody else has the pieces, so that who read one may give its memory back. */
  ownsPieces?: boolean;
  /**
   * Calls `onChunk` with each piece, the next one when the promise that it may return has resolved; resolves at the
   * end. Stops for good when `onChunk` throws or rejects, rejecting with that.
   */
  read(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
}

function tooLarge(limit: number): WinterdockError {
  return new WinterdockError('too_large', `The body is over the limit of ${limit} bytes.`, {
    hint: 'Nothing of it was kept.',
    extra: { limit },
  });
}

/**
 * The whole body, at most `limit` bytes. Throws `too_large` by `Content-Length` at once, else as soon as it is over.
 * `look` sees each piece when it comes, and may throw.
 */
export async function readBody(
  source: BodySource,
  limit: number,
  look: (chunk: Uint8Array) => void = () => undefined,
): Promise<Buffer> {
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
    look(chunk);
    chunks.push(chunk);
  });
  const [only] = chunks;
  return chunks.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(chunks, size);
}

/** A body as an upload of at most `limit` bytes. */
export function uploadOf(source: BodySource, type: string | null, limit: number): UploadStream {
  return {
    length: source.length,
    type,
    bytes: (most) => readBody(source, Math.min(most, limit)),
    async saveTo(path) {
      if (source.length !== null && source.length > limit) throw tooLarge(limit);
      const file = await createFile(path);
      try {
        const size = await writeTo(source, file, limit);
        await file.close();
        return size;
      } catch (error) {
        await file.close();
        await unlinkFile(path);
        throw isDiskFull(error) ? noRoom(error) : error;
      }
    },
  };
}

/**
 * Writes a body to an open file and returns its size. What arrives is gathered in two pieces, of which
 * one is written while the other fills, and its own memory is given back.
 */
async function writeTo(source: BodySource, file: FileHandle, limit: number): Promise<number> {
  if (source.length === 0) return 0;
  const pieceBytes = Math.min(PIECE_BYTES, source.length ?? PIECE_BYTES);
  let [filling, other] = [Buffer.allocUnsafeSlow(pieceBytes), Buffer.allocUnsafeSlow(pieceBytes)];
  let filled = 0;
  let size = 0;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    const full = filling.subarray(0, filled);
    [filling, other] = [other, filling];
    filled = 0;
    await writing;
    writing = file.writeFile(full);
    // Its failure is that of the next piece or of the end.
    writing.catch(() => undefined);
  };
  const gather = async (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.byteLength; ) {
      const part = chunk.subarray(at, at + pieceBytes - filled);
      filling.set(part, filled);
      at += part.byteLength;
      filled += part.byteLength;
      if (filled === pieceBytes) await write();
    }
    if (source.ownsPieces) releaseBytes(chunk);
  };
  try {
    await source.read((chunk) => {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      if (filled + chunk.byteLength >= pieceBytes) return gather(chunk);
      filling.set(chunk, filled);
      filled += chunk.byteLength;
      if (source.ownsPieces) releaseBytes(chunk);
    });
    await write();
  } finally {
    await writing;
  }
  return size;
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}

function noRoom(cause: unknown): WinterdockError {
  return new WinterdockError('storage_unavailable', 'There is no room on the disk for the upload.', {
    hint: 'Nothing of it was kept. /readyz names the full disk: make room there, then send it again.',
    retryAfterSeconds: 60,
    cause,
  });
}

/**
 * Reads and parses a JSON body of at most `limit` bytes; an empty one is `{}`. Throws `bad_json`, and `too_large` for
 * more bytes, for too many values and for values nested too deeply, as soon as they have come.
 */
export async function readJson(source: BodySource, limit: number): Promise<unknown> {
  const weight = new JsonWeight(source.length ?? Number.POSITIVE_INFINITY);
  const body = await readBody(source, Math.min(limit, MOST_JSON_BYTES), (chunk) => {
    if (weight.isHeavyWith(chunk))
      throw new WinterdockError('too_large', 'The body has too many values, or they are nested too deeply.');
  });
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
