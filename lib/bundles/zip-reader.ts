/**
 * Reads an untrusted zip. It checks the names, types and positions of all members before it inflates one of them. Every
 * byte of the archive must belong to a member. Inflated bytes are counted, whatever the headers say. Runs in a bundle
 * process.
 */

import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { writeStream } from '../base/effects.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import { type Hashed, hashing } from './hashing.ts';
import { MEMBERS, type Member } from './manifest.ts';
import { invalidZip, type MemberSpan, requireNoHiddenBytes, requireSameHeader } from './zip-structure.ts';

const FLAG_ENCRYPTED = 0x1 | 0x40 | 0x2000;
const STORED = 0;
const DEFLATED = 8;
const TYPE_MASK = 0o170000;
const REGULAR = 0o100000;
const DOS_DIRECTORY = 0x10;

export class BundleZip {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<Member, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<Member, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** Opens a zip and checks everything but the contents. Throws `validation` with the fault in a sentence. */
  static async open(file: string): Promise<BundleZip> {
    const zip = await openPromise(file, { autoClose: false, strictFileNames: true }).catch((error: unknown) => {
      throw invalidZip(`It is no whole zip: ${reasonOf(error)}.`, error);
    });
    try {
      return new BundleZip(zip, await membersOf(zip, file));
    } catch (error) {
      zip.close();
      throw isWinterdockError(error) ? error : invalidZip(`It is no sound zip: ${reasonOf(error)}.`, error);
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

  close(): void {
    this.#zip.close();
  }

  async #inflate(member: Member, limit: number, output: Writable): Promise<Hashed> {
    const entry = this.#entries.get(member);
    if (entry === undefined) throw invalidZip(`It has no ${member}.`);
    const counted = hashing(limit, member);
    try {
      // yauzl fails a member whose size is not the one in its header.
      await pipeline(await this.#zip.openReadStreamPromise(entry), counted.through, output);
    } catch (error) {
      throw isWinterdockError(error) ? error : invalidZip(`${member} does not inflate: ${reasonOf(error)}.`, error);
    }
    return counted.result();
  }
}

async function membersOf(zip: ZipFile, file: string): Promise<Map<Member, Entry>> {
  if (zip.entryCount !== MEMBERS.length) {
    throw invalidZip(`A bundle holds ${MEMBERS.join(', ')} and nothing else; this zip has ${zip.entryCount} members.`);
  }
  // yauzl's types declare the cursor as a boolean; it is the offset of the central directory.
  const start = Number(zip.readEntryCursor);
  const entries = new Map<Member, Entry>();
  const spans: MemberSpan[] = [];
  for await (const entry of zip.eachEntry()) {
    const member = MEMBERS.find((name) => name === entry.fileName);
    if (member === undefined) throw invalidZip(`A bundle holds no ${JSON.stringify(entry.fileName.slice(0, 80))}.`);
    if (entries.has(member)) throw invalidZip(`It has ${member} twice.`);
    requirePlain(entry, member);
    const header = await zip.readLocalFileHeaderPromise(entry);
    requireSameHeader(entry, header, member);
    entries.set(member, entry);
    spans.push({
      start: entry.relativeOffsetOfLocalHeader,
      end: header.fileDataStart + entry.compressedSize,
      entry,
    });
  }
  requireNoHiddenBytes(file, spans, { start, end: Number(zip.readEntryCursor) });
  return entries;
}

function requirePlain(entry: Entry, member: Member): void {
  if ((entry.generalPurposeBitFlag & FLAG_ENCRYPTED) !== 0) throw invalidZip(`${member} is encrypted.`);
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    throw invalidZip(`${member} is packed by method ${entry.compressionMethod}; only deflate is read.`);
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if ((type !== 0 && type !== REGULAR) || (entry.externalFileAttributes & DOS_DIRECTORY) !== 0)
    throw invalidZip(`${member} is no plain file but a link or the like.`);
}

/** The message of the zip library or of zlib; of a system error only the code, as its message names a path. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return String(error.code);
  return messageOf(error).replace(/\.$/, '').slice(0, 200);
}
