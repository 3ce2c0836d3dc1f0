/**
 * A bundle: a head, an index that says of which tenant and minute it is and what is in it, and the segments, one after
 * the other, each as it would lie by itself. The head has a checksum of the index, the index one of each segment. What
 * says anything else than its name, or is shorter than its index says, is none.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { type BundlePart, type BundlePlace, bundleName, parseBundleName } from '../names/bundle-names.ts';
import type { SegmentPlace, SegmentSeries } from '../names/replica-names.ts';

const MAGIC = 'WDBUNDL1';
const LENGTH_AT = 8;
const HASH_AT = 12;
export const BUNDLE_HEAD_BYTES = 44;
/** What an index may have: 10 000 segments are less. */
const MOST_INDEX_BYTES = 4 * 1024 * 1024;

/** A segment of a bundle. */
export interface BundledSegment extends SegmentPlace {
  /** Of the last commit in it, in epoch milliseconds. */
  readonly timeMs: number;
  readonly bytes: number;
  readonly bundled: BundlePart;
}

export interface BundleIndex {
  readonly name: string;
  readonly place: BundlePlace;
  /** Whatever bundles of minutes before this one have is in objects of level 1 as well, each by itself. */
  readonly since: number;
  /** Whatever was committed in minutes before this one is in such an object, or in a bundle of minutes. */
  readonly merged: number;
  /** The bundle of the tenant that the same process wrote before; null: none. */
  readonly previous: string | null;
  readonly segments: readonly BundledSegment[];
  /** Of the whole object. */
  readonly bytes: number;
}

/** What is to be in a bundle, in order. */
export interface BundleEntry extends SegmentPlace {
  readonly timeMs: number;
  readonly bytes: number;
  readonly crc: number;
}

const count = z.int().nonnegative();
const indexSchema = z.object({
  tenant: z.string(),
  minute: count,
  term: count,
  token: z.string(),
  since: count,
  /** Those of before have it not, and no bundles of minutes. */
  merged: count.optional(),
  previous: z.string().nullable(),
  /** Sandbox, and the term and token of its series. */
  series: z.array(z.tuple([z.string().regex(/^[a-z0-9_][a-z0-9_-]{0,62}$/), count, z.string()])),
  /** Which series, first and last number, time, bytes, CRC-32. */
  segments: z.array(z.tuple([count, z.int().positive(), z.int().positive(), count, z.int().positive(), count])),
});

/** The head and the index of a bundle. `known`: as in `BundleIndex`. */
export function encodeIndex(
  { tenant, minute, mark }: BundlePlace,
  known: Pick<BundleIndex, 'since' | 'merged' | 'previous'>,
  entries: readonly BundleEntry[],
): Buffer {
  const series: [string, number, string][] = [];
  const places = new Map<string, number>();
  const segments = entries.map(({ id, series: { term, token }, min, max, timeMs, bytes, crc }) => {
    const key = `${id} ${term} ${token}`;
    const at = places.get(key) ?? series.push([id, term, token]) - 1;
    places.set(key, at);
    return [at, min, max, timeMs, bytes, crc];
  });
  const index = Buffer.from(JSON.stringify({ tenant, minute, ...mark, ...known, series, segments }));
  const head = Buffer.alloc(BUNDLE_HEAD_BYTES);
  head.write(MAGIC, 0, 'latin1');
  head.writeUInt32BE(index.length, LENGTH_AT);
  createHash('sha256').update(index).digest().copy(head, HASH_AT);
  return Buffer.concat([head, index]);
}

/** Where each entry lies once they follow an index of so many bytes, head included. */
export function bundleParts(name: string, indexBytes: number, entries: readonly BundleEntry[]): BundlePart[] {
  let at = indexBytes;
  return entries.map(({ bytes, crc }) => {
    const part = { name, at, bytes, crc };
    at += bytes;
    return part;
  });
}

/** The bytes of an index, its head not counted. Throws `corrupt`. */
export function indexBytesOf(name: string, head: Buffer): number {
  if (head.length < BUNDLE_HEAD_BYTES) throw badBundle(name, 'it is cut off');
  if (head.toString('latin1', 0, LENGTH_AT) !== MAGIC) throw badBundle(name, 'it has another beginning');
  const bytes = head.readUInt32BE(LENGTH_AT);
  if (bytes > MOST_INDEX_BYTES) throw badBundle(name, 'its index is too long');
  return bytes;
}

/** `bytes`: of the whole object, as the store says. Throws `corrupt`. */
export function decodeIndex(name: string, head: Buffer, index: Buffer, bytes: number): BundleIndex {
  if (!createHash('sha256').update(index).digest().equals(head.subarray(HASH_AT, BUNDLE_HEAD_BYTES))) {
    throw badBundle(name, 'its index has another checksum');
  }
  const read = indexSchema.safeParse(JSON.parse(index.toString()));
  if (!read.success) throw badBundle(name, 'its index says what cannot be');
  const { tenant, minute, term, token, since, merged = since, previous, series, segments } = read.data;
  const place = parseBundleName(name);
  const said = bundleName({ tenant, level: place?.level ?? 0, minute, mark: { term, token } });
  if (place === null || said !== name) throw badBundle(name, `it is that of ${said}`);
  const found: BundledSegment[] = [];
  let at = BUNDLE_HEAD_BYTES + index.length;
  for (const [of, min, max, timeMs, length, crc] of segments) {
    const [id, ofTerm, ofToken] = series[of] ?? [];
    if (id === undefined || ofTerm === undefined || ofToken === undefined || min > max) {
      throw badBundle(name, 'its index says what cannot be');
    }
    const own: SegmentSeries = { term: ofTerm, token: ofToken };
    const bundled = { name, at, bytes: length, crc };
    found.push({ id, series: own, level: place.level, min, max, timeMs, bytes: length, bundled });
    at += length;
  }
  if (at !== bytes) throw badBundle(name, `it has ${bytes} bytes instead of ${at}`);
  return { name, place, since, merged, previous, segments: found, bytes };
}

/** The error of what is no bundle, or a damaged one. `why` is a clause; `part`: the segment that is damaged alone. */
export function badBundle(name: string, why: string, part: BundlePart | null = null): WinterdockError {
  return new WinterdockError('corrupt', `The bundle ${name} is damaged: ${why}.`, {
    hint: 'Take the bundle from another copy, or restore to a time before it.',
    extra: { part },
  });
}

/** The segment of a bundle that an error says is damaged; null for any other error. */
export function damagedPart(error: unknown): BundlePart | null {
  return isWinterdockError(error) && error.code === 'corrupt'
    ? ((error.extra.part ?? null) as BundlePart | null)
    : null;
}

/** Whether an error says that an object is damaged or gone, and not that nobody knows. */
export function isObjectLost(error: unknown): boolean {
  return isWinterdockError(error) && (error.code === 'corrupt' || error.code === 'missing_file');
}
