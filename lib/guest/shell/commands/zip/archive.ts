/** ZIP archives as bytes: their entries, read and written. What is read is untrusted; knows nothing of files. */
import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const STORED = 0;
const DEFLATED = 8;
/** Made on Unix, by version 3.0. */
const MADE_BY = 0x031e;
const NEEDED = { [STORED]: 10, [DEFLATED]: 20 } as const;
const UTF8_NAMES = 0x0800;
const TIMES = 0x5455;
const FOLDER_ATTRIBUTE = 0x10;
/** What one archive may hold without its 64-bit form. */
export const MOST_ENTRIES = 65_535;
/** What one entry may unpack to: the largest file of a sandbox. */
const MOST_BYTES = 64 * 1024 * 1024;

export class ArchiveError extends Error {}

export interface ArchiveEntry {
  /** With a slash at the end for a folder. */
  name: string;
  /** The mode of Unix with the kind of file; null where the archive says none. */
  mode: number | null;
  /** Epoch seconds. */
  mtime: number;
  method: number;
  crc: number;
  size: number;
  packed: Buffer;
}

/** An entry of this content, stored where that is not longer. `level`: 0 to 9. */
export function packedEntry(
  { name, mode, mtime }: Pick<ArchiveEntry, 'name' | 'mode' | 'mtime'>,
  content: Buffer,
  level: number,
): ArchiveEntry {
  const deflated = level === 0 ? content : deflateRawSync(content, { level });
  const isShorter = deflated.length < content.length;
  const packed = isShorter ? deflated : content;
  return {
    name,
    mode,
    mtime,
    method: isShorter ? DEFLATED : STORED,
    crc: crc32(content),
    size: content.length,
    packed,
  };
}

/** The content of an entry. Throws `ArchiveError` where it cannot be read or is not what its sum says. */
export function contentOf({ name, method, crc, size, packed }: ArchiveEntry): Buffer {
  if (method !== STORED && method !== DEFLATED)
    throw new ArchiveError(`${name}: compression method ${method} is not supported`);
  if (size > MOST_BYTES) throw new ArchiveError(`${name}: it unpacks to more than ${MOST_BYTES} bytes`);
  let content: Buffer;
  try {
    content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw new ArchiveError(`${name}: invalid compressed data to inflate`);
  }
  if (content.length !== size || crc32(content) !== crc) throw new ArchiveError(`${name}: bad CRC`);
  return content;
}

/** The entries of an archive. Throws `ArchiveError` for what is none, is encrypted, or has names that lead out. */
export async function readArchive(bytes: Buffer): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = [];
  try {
    const zip = await fromBufferPromise(bytes);
    for await (const entry of zip.eachEntry()) {
      const { fileName: name, uncompressedSize: size, compressionMethod: method, crc32: crc } = entry;
      if (entry.isEncrypted()) throw new ArchiveError(`${name} is encrypted: that is not supported in this sandbox`);
      const isUnix = entry.versionMadeBy >>> 8 === 3;
      const mode = isUnix ? entry.externalFileAttributes >>> 16 : null;
      const parts: Buffer[] = [];
      const options = method === DEFLATED ? { decompress: false } : {};
      for await (const part of await zip.openReadStreamPromise(entry, options)) parts.push(part as Buffer);
      const mtime = Math.floor(entry.getLastModDate({ timezone: 'UTC' }).getTime() / 1000);
      entries.push({ name, mode, mtime, method, crc, size, packed: Buffer.concat(parts) });
    }
  } catch (error) {
    throw error instanceof ArchiveError
      ? error
      : new ArchiveError(error instanceof Error ? error.message : String(error));
  }
  return entries;
}

/** The bytes of an archive. */
export function writeArchive(entries: readonly ArchiveEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const { name, mode, mtime, packed } = entry;
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(LOCAL_BYTES);
    local.writeUInt32LE(LOCAL, 0);
    common(local, 4, entry, nameBytes.length, 9);
    const central = Buffer.alloc(CENTRAL_BYTES);
    central.writeUInt32LE(CENTRAL, 0);
    central.writeUInt16LE(MADE_BY, 4);
    common(central, 6, entry, nameBytes.length, 9);
    const isFolder = name.endsWith('/');
    central.writeUInt32LE(
      (((mode ?? (isFolder ? 0o40755 : 0o100644)) << 16) | (isFolder ? FOLDER_ATTRIBUTE : 0)) >>> 0,
      38,
    );
    central.writeUInt32LE(offset, 42);
    const time = timeField(mtime);
    parts.push(local, nameBytes, time, packed);
    directory.push(central, nameBytes, time);
    offset += LOCAL_BYTES + nameBytes.length + time.length + packed.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(END_BYTES);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

/** What the header in front of an entry and its line in the directory share. */
function common(into: Buffer, at: number, entry: ArchiveEntry, nameBytes: number, extraBytes: number): void {
  const { name, mtime, method, crc, size, packed } = entry;
  const { date, time } = dosTime(mtime);
  const hasOther = /[^\0-\x7f]/.test(name);
  into.writeUInt16LE(method === DEFLATED ? NEEDED[DEFLATED] : NEEDED[STORED], at);
  into.writeUInt16LE(hasOther ? UTF8_NAMES : 0, at + 2);
  into.writeUInt16LE(method, at + 4);
  into.writeUInt16LE(time, at + 6);
  into.writeUInt16LE(date, at + 8);
  into.writeUInt32LE(crc >>> 0, at + 10);
  into.writeUInt32LE(packed.length, at + 14);
  into.writeUInt32LE(size, at + 18);
  into.writeUInt16LE(nameBytes, at + 22);
  into.writeUInt16LE(extraBytes, at + 24);
}

/** The time in seconds since 1970, beside that in steps of two seconds since 1980. */
function timeField(mtime: number): Buffer {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(TIMES, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(1, 4);
  field.writeInt32LE(Math.min(mtime, 2 ** 31 - 1), 5);
  return field;
}

function dosTime(seconds: number): { date: number; time: number } {
  const when = new Date(Math.max(seconds, Date.UTC(1980) / 1000) * 1000);
  const date = ((when.getUTCFullYear() - 1980) << 9) | ((when.getUTCMonth() + 1) << 5) | when.getUTCDate();
  const time = (when.getUTCHours() << 11) | (when.getUTCMinutes() << 5) | (when.getUTCSeconds() >> 1);
  return { date: date & 0xffff, time };
}
