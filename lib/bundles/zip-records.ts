/**
 * The records of a zip: local headers, data descriptors, the directory and its end (APPNOTE 6.3), with the 64-bit forms
 * where a number needs them. Knows nothing of compression or files.
 */

export const STORED = 0;
export const DEFLATED = 8;

const UTF8_NAME = 0x800;
const SIZES_FOLLOW = 0x8;
const VERSION = 20;
const VERSION_64 = 45;
/** Unix, and version 6.3 of the specification. */
const MADE_BY = (3 << 8) | 63;
const FILE_MODE = 0o100644;
/** The place of a number that is in the 64-bit field. */
const ELSEWHERE = 0xffff_ffff;
const FIRST_YEAR = 1980;

export interface ZipMember {
  name: string;
  method: typeof STORED | typeof DEFLATED;
  /** Epoch seconds. */
  mtime: number;
  /** Offset of its local header. */
  start: number;
  crc: number;
  packedBytes: number;
  bytes: number;
}

/** The header before the contents: what they measure follows in the descriptor. */
export function localHeader({ name, method, mtime }: Pick<ZipMember, 'name' | 'method' | 'mtime'>): Buffer {
  const text = Buffer.from(name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(UTF8_NAME | SIZES_FOLLOW, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(dosTime(mtime), 10);
  header.writeUInt16LE(text.length, 26);
  return Buffer.concat([header, text]);
}

/** The record behind the contents. */
export function descriptor(member: ZipMember): Buffer {
  const large = isLarge(member);
  const record = Buffer.alloc(large ? 24 : 16);
  record.writeUInt32LE(0x08074b50, 0);
  record.writeUInt32LE(member.crc, 4);
  if (large) {
    record.writeBigUInt64LE(BigInt(member.packedBytes), 8);
    record.writeBigUInt64LE(BigInt(member.bytes), 16);
  } else {
    record.writeUInt32LE(member.packedBytes, 8);
    record.writeUInt32LE(member.bytes, 12);
  }
  return record;
}

/** The directory and the end of a zip whose directory begins at `offset`. */
export function directory(members: readonly ZipMember[], offset: number): Buffer {
  const entries = Buffer.concat(members.map(directoryEntry));
  const isOver = offset >= ELSEWHERE;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(isOver ? ELSEWHERE : offset, 16);
  return Buffer.concat([entries, ...(isOver ? largeEnd(members.length, entries.length, offset) : []), end]);
}

function directoryEntry(member: ZipMember): Buffer {
  const text = Buffer.from(member.name);
  const large = isLarge(member);
  const extra = Buffer.concat([timeField(member.mtime), ...(large ? [largeField(member)] : [])]);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(MADE_BY, 4);
  entry.writeUInt16LE(large ? VERSION_64 : VERSION, 6);
  entry.writeUInt16LE(UTF8_NAME | SIZES_FOLLOW, 8);
  entry.writeUInt16LE(member.method, 10);
  entry.writeUInt32LE(dosTime(member.mtime), 12);
  entry.writeUInt32LE(member.crc, 16);
  entry.writeUInt32LE(large ? ELSEWHERE : member.packedBytes, 20);
  entry.writeUInt32LE(large ? ELSEWHERE : member.bytes, 24);
  entry.writeUInt16LE(text.length, 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt32LE((FILE_MODE << 16) >>> 0, 38);
  entry.writeUInt32LE(large ? ELSEWHERE : member.start, 42);
  return Buffer.concat([entry, text, extra]);
}

function isLarge({ start, packedBytes, bytes }: ZipMember): boolean {
  return Math.max(start, packedBytes, bytes) >= ELSEWHERE;
}

function largeField({ bytes, packedBytes, start }: ZipMember): Buffer {
  const field = Buffer.alloc(28);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(24, 2);
  for (const [index, number] of [bytes, packedBytes, start].entries()) {
    field.writeBigUInt64LE(BigInt(number), 4 + index * 8);
  }
  return field;
}

/** Info-ZIP's field of the time in UTC. Its flags announce an access time too, which no directory has. */
function timeField(mtime: number): Buffer {
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x5455, 0);
  field.writeUInt16LE(5, 2);
  field.writeUInt8(3, 4);
  field.writeUInt32LE(Math.min(0x7fff_ffff, Math.max(0, mtime)), 5);
  return field;
}

/** The end of a 64-bit zip and its locator, which lie between the directory and the end. */
function largeEnd(count: number, length: number, offset: number): Buffer[] {
  const end = Buffer.alloc(56);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(MADE_BY, 12);
  end.writeUInt16LE(VERSION_64, 14);
  for (const [index, number] of [count, count, length, offset].entries()) {
    end.writeBigUInt64LE(BigInt(number), 24 + index * 8);
  }
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + length), 8);
  locator.writeUInt32LE(1, 16);
  return [end, locator];
}

/** DOS date and time in local time, as one number: two-second steps from 1980 to 2107. */
function dosTime(mtime: number): number {
  const date = new Date(mtime * 1000);
  const year = date.getFullYear();
  if (year < FIRST_YEAR) return (1 << 21) | (1 << 16);
  const day = (Math.min(year - FIRST_YEAR, 127) << 9) | ((date.getMonth() + 1) << 5) | date.getDate();
  const time = (date.getHours() << 11) | (date.getMinutes() << 5) | Math.floor(date.getSeconds() / 2);
  return ((day << 16) | time) >>> 0;
}
