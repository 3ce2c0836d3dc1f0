/**
 * Reads an untrusted zip. It checks the names, types and positions of all members before it inflates one of them. Every
 * byte of the archive must belong to a member. Inflated bytes are counted, whatever the headers say. Runs in a bundle
 * process.
 */

import { createReadStream } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, type InflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { writeStream } from '../base/effects.ts';
import { isMachineFailure, isWinterdockError, messageOf } from '../base/errors.ts';
import { CHUNK_BYTES, type Hashed, HashingCounter } from './hashing.ts';
import { MEMBERS, type Member, SOURCE } from './manifest.ts';
import { DEFLATED, STORED } from './zip-records.ts';
import { invalidZip, type MemberSpan, requireNoHiddenBytes, requireSameHeader } from './zip-structure.ts';

/** Inflated bytes that are hashed and written at a time. */
const INFLATED_BYTES = 256 * 1024;

const FLAG_ENCRYPTED = 0x1 | 0x40 | 0x2000;
const TYPE_MASK = 0o170000;
const REGULAR = 0o100000;
const DOS_DIRECTORY = 0x10;

/** A member, and where its contents begin in the file. */
interface Contents {
  entry: Entry;
  start: number;
}

export class BundleZip {
  readonly #file: string;
  readonly #members: ReadonlyMap<Member, Contents>;

  private constructor(file: string, members: ReadonlyMap<Member, Contents>) {
    this.#file = file;
    this.#members = members;
  }

  /** Opens a zip and checks everything but the contents. Throws `validation` with the fault in a sentence. */
  static async open(file: string): Promise<BundleZip> {
    const zip = await openPromise(file, { autoClose: false, strictFileNames: true }).catch((error: unknown) => {
      throw unreadable('It is no whole zip', error);
    });
    try {
      return new BundleZip(file, await membersOf(zip, file));
    } catch (error) {
      throw unreadable('It is no sound zip', error);
    } finally {
      zip.close();
    }
  }

  /**
   * Inflates a member into a new file. Throws `too_large` after `limit` bytes, and `validation`.
   */
  extract(member: Member, target: string, limit: number): Promise<Hashed> {
    return this.#inflate(member, limit, writeStream(target, { flags: 'wx' }));
  }

  /** Inflates a member only to hash it. */
  hash(member: Member, limit: number): Promise<Hashed> {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    return this.#inflate(member, limit, nowhere);
  }

  /** Inflates a small member into memory. */
  async content(member: Member, limit: number): Promise<Hashed & { content: Buffer }> {
    const chunks: Buffer[] = [];
    const kept = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
    const hashed = await this.#inflate(member, limit, kept);
    return { ...hashed, content: Buffer.concat(chunks) };
  }

  has(member: Member): boolean {
    return this.#members.has(member);
  }

  async #inflate(member: Member, limit: number, output: Writable): Promise<Hashed> {
    const contents = this.#members.get(member);
    if (contents === undefined) throw invalidZip(`It has no ${member}.`);
    const { compressedSize, uncompressedSize, compressionMethod } = contents.entry;
    const packed = this.#packed(contents);
    const inflate = compressionMethod === STORED ? null : inflating(packed);
    const hashed = new HashingCounter(limit, member);
    try {
      // A generator, not a Transform: the next piece inflates on another thread while this one is hashed.
      await pipeline(
        inflate ?? packed,
        async function* (pieces: AsyncIterable<Buffer>) {
          for await (const piece of pieces) {
            hashed.update(piece);
            if (hashed.bytes > uncompressedSize) throw new Error('too many bytes: more than its header names');
            yield piece;
          }
        },
        output,
      );
    } catch (error) {
      throw unreadable(`${member} does not inflate`, error);
    }
    if (hashed.bytes < uncompressedSize) {
      throw invalidZip(`${member} does not inflate: not enough bytes: fewer than its header names.`);
    }
    const behind = inflate === null ? 0 : compressedSize - inflate.bytesWritten;
    if (behind !== 0) throw invalidZip(`It holds ${behind} bytes that belong to no member, behind ${member}.`);
    return hashed.result();
  }

  /** The bytes of a member as they are in the file. */
  #packed({ entry: { compressedSize }, start }: Contents): Readable {
    if (compressedSize === 0) return Readable.from([]);
    return createReadStream(this.#file, { start, end: start + compressedSize - 1, highWaterMark: CHUNK_BYTES });
  }
}

/** Inflates `packed`, whose errors it fails with. Bytes behind the end of the contents are left unread. */
function inflating(packed: Readable): InflateRaw {
  const inflate = createInflateRaw({ chunkSize: INFLATED_BYTES });
  packed.on('error', (error) => inflate.destroy(error));
  inflate.on('close', () => packed.destroy());
  return packed.pipe(inflate);
}

async function membersOf(zip: ZipFile, file: string): Promise<Map<Member, Contents>> {
  if (zip.entryCount < MEMBERS.length || zip.entryCount > MEMBERS.length + 1) {
    const all = `${MEMBERS.join(', ')}, perhaps ${SOURCE},`;
    throw invalidZip(`A bundle holds ${all} and nothing else; this zip has ${zip.entryCount} members.`);
  }
  // yauzl's types declare the cursor as a boolean; it is the offset of the central directory.
  const start = Number(zip.readEntryCursor);
  const members = new Map<Member, Contents>();
  const spans: MemberSpan[] = [];
  for await (const entry of zip.eachEntry()) {
    const member = [...MEMBERS, SOURCE].find((name): name is Member => name === entry.fileName);
    if (member === undefined) throw invalidZip(`A bundle holds no ${JSON.stringify(entry.fileName.slice(0, 80))}.`);
    if (members.has(member)) throw invalidZip(`It has ${member} twice.`);
    requirePlain(entry, member);
    const header = await zip.readLocalFileHeaderPromise(entry);
    requireSameHeader(entry, header, member);
    members.set(member, { entry, start: header.fileDataStart });
    spans.push({
      start: entry.relativeOffsetOfLocalHeader,
      end: header.fileDataStart + entry.compressedSize,
      entry,
    });
  }
  for (const member of MEMBERS) if (!members.has(member)) throw invalidZip(`It has no ${member}.`);
  requireNoHiddenBytes(file, spans, { start, end: Number(zip.readEntryCursor) });
  return members;
}

function requirePlain(entry: Entry, member: Member): void {
  if ((entry.generalPurposeBitFlag & FLAG_ENCRYPTED) !== 0) throw invalidZip(`${member} is encrypted.`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw invalidZip(`${member} is packed by method ${entry.compressionMethod}; only deflate is read.`);
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if ((type !== 0 && type !== REGULAR) || (entry.externalFileAttributes & DOS_DIRECTORY) !== 0)
    throw invalidZip(`${member} is no plain file but a link or the like.`);
}

/** The error of the contract, or of the machine, as it is; any other speaks against the zip. */
function unreadable(says: string, error: unknown): unknown {
  if (isMachineFailure(error) || isWinterdockError(error)) return error;
  return invalidZip(`${says}: ${reasonOf(error)}.`, error);
}

/** The message of the zip library or of zlib; of a system error only the code, as its message names a path. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return String(error.code);
  return messageOf(error).replace(/\.$/, '').slice(0, 200);
}
