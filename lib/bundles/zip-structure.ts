/**
 * Checks the structure of a zip: headers, data descriptors, the central directory and the end records. It must hold
 * only what the format needs and must not contradict itself, so that no byte is hidden and every tool reads the same
 * archive.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Entry, LocalFileHeader } from 'yauzl';
import { WinterdockError } from '../base/errors.ts';
import type { Member } from './manifest.ts';

const FLAG_DESCRIPTOR = 0x8;
const DESCRIPTOR_SIGNATURE = 0x08074b50;
const END_BYTES = 22;
const LOCATOR_SIGNATURE = 0x07064b50;
const LOCATOR_BYTES = 20;
const LARGE_END_SIGNATURE = 0x06064b50;
const LARGE_END_BYTES = 56;
/** Bytes before the data of an extra field: its kind and its length. */
const EXTRA_HEAD_BYTES = 4;
/**
 * The extra fields that zip tools write (64-bit sizes, times, Unix ids), with the largest length of each.
 */
const EXTRAS: Readonly<Record<number, number>> = { 1: 28, 21589: 13, 22613: 12, 30837: 15 };
const NOT_HERE_16 = 0xffff;
const NOT_HERE_32 = 0xffff_ffff;

/** The byte range of a member, from its local header to the end of its compressed contents. */
export interface MemberSpan {
  start: number;
  end: number;
  entry: Entry;
}

/** The error for an invalid zip or member. */
export function invalidZip(message: string, cause?: unknown): WinterdockError {
  return new WinterdockError('validation', message, { cause });
}

/** A zip describes each member twice, and tools differ in which header they read: both must agree. */
export function requireSameHeader(entry: Entry, header: LocalFileHeader, member: Member): void {
  const later = (entry.generalPurposeBitFlag & FLAG_DESCRIPTOR) !== 0;
  const agrees = (declared: number, is: number, large = false) =>
    declared === is || (later && declared === 0) || (large && declared === NOT_HERE_32);
  const same =
    header.fileName.toString('latin1') === member &&
    entry.fileNameRaw.toString('latin1') === member &&
    header.compressionMethod === entry.compressionMethod &&
    header.generalPurposeBitFlag === entry.generalPurposeBitFlag &&
    agrees(header.crc32, entry.crc32) &&
    agrees(header.compressedSize, entry.compressedSize, true) &&
    agrees(header.uncompressedSize, entry.uncompressedSize, true);
  if (!same) throw invalidZip(`${member} is described in two ways that differ.`);
  if (entry.fileCommentLength > 0)
    throw invalidZip(`${member} has a comment of ${entry.fileCommentLength} bytes; a bundle has none.`);
  for (const extra of [entry.extraFieldRaw, header.extraField]) requireKnownExtras(extra, member);
}

function requireKnownExtras(raw: Buffer, member: Member): void {
  const seen = new Set<number>();
  for (let at = 0; at < raw.length; ) {
    const whole = at + EXTRA_HEAD_BYTES <= raw.length;
    const kind = whole ? raw.readUInt16LE(at) : -1;
    const length = whole ? raw.readUInt16LE(at + 2) : 0;
    const most = EXTRAS[kind];
    if (most === undefined || length > most || seen.has(kind) || at + EXTRA_HEAD_BYTES + length > raw.length)
      throw invalidZip(`The header of ${member} carries ${raw.length - at} bytes that no bundle needs.`);
    seen.add(kind);
    at += EXTRA_HEAD_BYTES + length;
  }
}

/** Random access to the bytes of a file. */
class Bytes {
  readonly #file: number;
  readonly size: number;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  /** Bytes after the end of the file are left out. */
  read(at: number, length: number): Buffer {
    const buffer = Buffer.alloc(length);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, length, at));
  }

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Members must follow one another from the first byte to the central directory, without overlaps or gaps. The end
 * record must follow the directory and end the file. `directory` is the byte range of the central directory.
 */
export function requireNoHiddenBytes(
  file: string,
  spans: readonly MemberSpan[],
  directory: { start: number; end: number },
): void {
  const bytes = new Bytes(file);
  try {
    requireNothingBetween(bytes, spans, directory.start);
    requireEnd(bytes, spans.length, directory);
  } finally {
    bytes.close();
  }
}

function requireNothingBetween(bytes: Bytes, spans: readonly MemberSpan[], directoryAt: number): void {
  let at = 0;
  let before: Entry | null = null;
  for (const { start, end, entry } of [
    ...[...spans].sort((a, b) => a.start - b.start),
    { start: directoryAt, end: directoryAt, entry: null },
  ]) {
    if (start < at) throw invalidZip('Its members overlap.');
    const gap = start - at;
    if (gap !== 0 && !(before !== null && isDescriptor(bytes, at, gap, before)))
      throw invalidZip(`It holds ${gap} bytes that belong to no member.`);
    at = end;
    before = entry;
  }
}

/** Whether the bytes behind a member are a data descriptor that agrees with the directory. */
function isDescriptor(bytes: Bytes, at: number, length: number, entry: Entry): boolean {
  if ((entry.generalPurposeBitFlag & FLAG_DESCRIPTOR) === 0) return false;
  const { crc32, compressedSize, uncompressedSize } = entry;
  return descriptors(crc32, compressedSize, uncompressedSize).some(
    (known) => known.length === length && known.equals(bytes.read(at, length)),
  );
}

/** The valid forms of a descriptor: with or without signature, with sizes of 32 or 64 bits. */
function descriptors(crc32: number, compressed: number, size: number): Buffer[] {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(DESCRIPTOR_SIGNATURE);
  const long = Buffer.alloc(20);
  long.writeUInt32LE(crc32);
  long.writeBigUInt64LE(BigInt(compressed), 4);
  long.writeBigUInt64LE(BigInt(size), 12);
  const forms = [long];
  if (compressed <= NOT_HERE_32 && size <= NOT_HERE_32) {
    const short = Buffer.alloc(12);
    short.writeUInt32LE(crc32);
    short.writeUInt32LE(compressed, 4);
    short.writeUInt32LE(size, 8);
    forms.push(short);
  }
  return forms.flatMap((form) => [form, Buffer.concat([signature, form])]);
}

/**
 * The end record must be the last bytes of the file, agree with the directory and follow it directly. Only the records
 * of a zip64 archive may lie between.
 */
function requireEnd(bytes: Bytes, members: number, directory: { start: number; end: number }): void {
  const end = bytes.read(bytes.size - END_BYTES, END_BYTES);
  const comment = end.readUInt16LE(20);
  if (end.toString('latin1', 0, 4) !== 'PK\x05\x06' || comment !== 0)
    throw invalidZip('It has a comment at its end, or bytes behind it; a bundle has none.');
  const isLarge = bytes.read(bytes.size - END_BYTES - LOCATOR_BYTES, 4).readUInt32LE() === LOCATOR_SIGNATURE;
  const frame = END_BYTES + (isLarge ? LOCATOR_BYTES + LARGE_END_BYTES : 0);
  const extra = bytes.size - frame - directory.end;
  if (extra !== 0) {
    const says =
      extra > 0 ? `${extra} bytes between its directory and its end` : 'an end that lies inside its directory';
    throw invalidZip(`It holds ${says}.`);
  }
  const size = directory.end - directory.start;
  const agrees = (declared: number, is: number, notHere: number) =>
    declared === is || (isLarge && declared === notHere);
  const same =
    agrees(end.readUInt16LE(4), 0, NOT_HERE_16) &&
    agrees(end.readUInt16LE(6), 0, NOT_HERE_16) &&
    agrees(end.readUInt16LE(8), members, NOT_HERE_16) &&
    agrees(end.readUInt16LE(10), members, NOT_HERE_16) &&
    agrees(end.readUInt32LE(12), size, NOT_HERE_32) &&
    agrees(end.readUInt32LE(16), directory.start, NOT_HERE_32) &&
    (!isLarge || isLargeEnd(bytes, members, directory));
  if (!same) throw invalidZip('The record at its end does not say what its directory holds.');
}

function isLargeEnd(bytes: Bytes, members: number, directory: { start: number; end: number }): boolean {
  const record = bytes.read(directory.end, LARGE_END_BYTES);
  const locator = bytes.read(directory.end + LARGE_END_BYTES, LOCATOR_BYTES);
  const number = (at: number) => record.readBigUInt64LE(at);
  return (
    record.readUInt32LE() === LARGE_END_SIGNATURE &&
    number(4) === BigInt(LARGE_END_BYTES - 12) &&
    record.readUInt32LE(16) === 0 &&
    record.readUInt32LE(20) === 0 &&
    number(24) === BigInt(members) &&
    number(32) === BigInt(members) &&
    number(40) === BigInt(directory.end - directory.start) &&
    number(48) === BigInt(directory.start) &&
    locator.readUInt32LE(4) === 0 &&
    locator.readBigUInt64LE(8) === BigInt(directory.end) &&
    locator.readUInt32LE(16) === 1
  );
}
