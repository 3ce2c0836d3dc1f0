/** What is read from and written to the shell's files: bytes of texts in just-bash's encodings, and endless devices. */
import { randomBytes } from 'node:crypto';
import type { IFileSystem } from 'just-bash';
import { bytesOfText } from '../../workers/protocol/byte-text.ts';
import { MAX_STREAM_BYTES } from '../../workers/protocol/output.ts';
import { refuses } from './declared-uses.ts';

export type Content = Parameters<IFileSystem['writeFile']>[1];
export type Encoding = Parameters<IFileSystem['readFile']>[1];

export function isEndlessDevice(path: string): boolean {
  return /^\/dev\/(?:zero|full|urandom|random)$/.test(path);
}

/** The bytes of a device without an end: as many as a call may print. Null for any other path. */
export function endlessDevice(path: string): Uint8Array | null {
  if (path === '/dev/zero' || path === '/dev/full') return new Uint8Array(MAX_STREAM_BYTES);
  if (path !== '/dev/urandom' && path !== '/dev/random') return null;
  return refuses('random') ? new Uint8Array(0) : randomBytes(MAX_STREAM_BYTES);
}

/** The same bytes as a buffer. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The encoding of an option of just-bash's file system. */
export function encodingOf(options: Encoding): BufferEncoding {
  const encoding = (typeof options === 'string' ? options : options?.encoding) ?? 'utf8';
  return encoding === 'binary' ? 'latin1' : encoding;
}

/** Whether an encoding is that of text. */
export function isText(encoding: BufferEncoding): boolean {
  return encoding === 'utf8' || encoding === 'utf-8';
}

/** What is written, as bytes. */
export function bytesOf(content: Content, options?: Encoding): Uint8Array {
  if (typeof content !== 'string') return content;
  const encoding = encodingOf(options);
  return isText(encoding) ? bytesOfText(content) : Buffer.from(content, encoding);
}
