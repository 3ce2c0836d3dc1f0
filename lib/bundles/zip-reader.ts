/**
 * Reads the zip of a bundle that anyone may have made. Names, kinds and places of all members are looked at before one
 * of them is inflated, every byte of the archive must belong to a member, and what inflates is counted as it comes,
 * whatever the headers say. Runs in a process of its own.
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

  /** Opens a zip and looks at all of it but the contents. Throws `validation` with what is wrong, in a sentence. */
  static async open(file: string): Promise<BundleZip> {
    const zip = await openPromise(file, { autoClose: false, strictFileNames: true }).catch((error: unknown) => {
      throw invalidZip(`It is no whole zip: ${said(error)}.`, error);
    });
    try {
      return new BundleZip(zip, await membersOf(zip, file));
    } catch (error) {
      zip.close();
      throw isWinterdockError(error) ? error : invalidZip(`It is no sound zip: ${said(error)}.`, error);
    }
  }

  /**
   * Inflates a member into a new file. Throws `too_large` as soon as there are more than `limit` bytes, `validation`.
   */
  extract(member: Member, target: string, limit: number): Promise<Hashed> {
    return this.#inflate(member, limit, writeStream(target, { flags: 'wx' }));
  }

  /** Inflates a member and keeps nothing of it. */
  hash(member: Member, limit: number): Promise<Hashed> {
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    return this.#inflate(member, limit, nowhere);
  }

  /** Inflates a small member. */
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
      // The size in the header is not believed: yauzl ends a member that has more or fewer bytes.
      await pipeline(await this.#zip.openReadStreamPromise(entry), counted.through, output);
    } catch (error) {
      throw isWinterdockError(error) ? error : invalidZip(`${member} does not inflate: ${said(error)}.`, error);
    }
    return counted.result();
  }
}

async function membersOf(zip: ZipFile, file: string): Promise<Map<Member, Entry>> {
  if (zip.entryCount !== MEMBERS.length) {
    throw invalidZip(`A bundle holds ${MEMBERS.join(', ')} and nothing else; this zip has ${zip.entryCount} members.`);
  }
  // yauzl's types call its cursor a truth value; it is where the directory of the members begins.
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

/** The words of the zip library or of zlib, which name no path of the machine; of the system only the code. */
function said(error: unknown): string {
  if (error instanceof Error && 'syscall' in error && 'code' in error) return String(error.code);
  return messageOf(error).replace(/\.$/, '').slice(0, 200);
}
