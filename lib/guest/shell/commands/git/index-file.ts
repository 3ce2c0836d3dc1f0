/**
 * The index of a repository (`.git/index`), versions 2 and 3 read, 2 written. Owns the format; knows nothing of files.
 */
import { createHash } from 'node:crypto';
import { fatal } from './git-error.ts';

export interface IndexEntry {
  /** From the root of the work tree. */
  path: string;
  oid: string;
  /** `100644`, `100755`, `120000` or `160000`, as a number. */
  mode: number;
  /** 0, or in a conflict 1 (base), 2 (ours) and 3 (theirs). */
  stage: number;
  size: number;
  mtimeSeconds: number;
}

const SIGNATURE = 'DIRC';
const HEADER_BYTES = 12;
const ENTRY_BYTES = 62;
const HASH_BYTES = 20;
const EXTENDED = 0x4000;
const NAME_MASK = 0xfff;
const MAX_VERSION = 3;

/** Throws for what is no index, or has a version that is not supported. */
export function parseIndex(content: Buffer): IndexEntry[] {
  if (content.toString('latin1', 0, 4) !== SIGNATURE || content.length < HEADER_BYTES + HASH_BYTES)
    throw fatal('index file corrupt');
  const version = content.readUInt32BE(4);
  if (version < 2 || version > MAX_VERSION) throw fatal(`index uses version ${version}, which is not supported here`);
  const count = content.readUInt32BE(8);
  const entries: IndexEntry[] = [];
  let at = HEADER_BYTES;
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > content.length - HASH_BYTES) throw fatal('index file corrupt');
    const flags = content.readUInt16BE(at + 60);
    const head = ENTRY_BYTES + ((flags & EXTENDED) === 0 ? 0 : 2);
    const end = content.indexOf(0, at + head);
    if (end < 0) throw fatal('index file corrupt');
    const path = content.toString('utf8', at + head, end);
    if (path.split('/').some(isForbidden)) throw fatal(`invalid path '${path}' in the index`);
    entries.push({
      path,
      oid: content.toString('hex', at + 40, at + 60),
      mode: content.readUInt32BE(at + 24),
      stage: (flags >> 12) & 3,
      size: content.readUInt32BE(at + 36),
      mtimeSeconds: content.readUInt32BE(at + 8),
    });
    at += paddedBytes(end - at);
  }
  return entries;
}

/** Segments that would lead out of the work tree, or into the repository's own files. */
export function isForbidden(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..' || segment.toLowerCase() === '.git';
}

/** Entries in the order of git. */
export function formatIndex(entries: readonly IndexEntry[]): Buffer {
  const head = Buffer.alloc(HEADER_BYTES);
  head.write(SIGNATURE, 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const body = Buffer.concat([head, ...entries.map(entryBytes)]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function entryBytes(entry: IndexEntry): Buffer {
  const name = Buffer.from(entry.path);
  const bytes = Buffer.alloc(paddedBytes(ENTRY_BYTES + name.length));
  bytes.writeUInt32BE(entry.mtimeSeconds, 0);
  bytes.writeUInt32BE(entry.mtimeSeconds, 8);
  bytes.writeUInt32BE(entry.mode, 24);
  bytes.writeUInt32BE(entry.size % 0x1_0000_0000, 36);
  bytes.write(entry.oid, 40, 'hex');
  bytes.writeUInt16BE((entry.stage << 12) | Math.min(name.length, NAME_MASK), 60);
  name.copy(bytes, ENTRY_BYTES);
  return bytes;
}

/** An entry ends with one to eight NULs, at a multiple of eight. */
function paddedBytes(bytes: number): number {
  return (Math.floor(bytes / 8) + 1) * 8;
}

/** Compares paths as git sorts them: by their bytes. */
export function comparePaths(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function sortEntries(entries: IndexEntry[]): IndexEntry[] {
  return entries.sort((a, b) => comparePaths(a.path, b.path) || a.stage - b.stage);
}
