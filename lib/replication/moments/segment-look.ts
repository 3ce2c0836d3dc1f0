/**
 * Looks at the beginning of a segment in a store, in a bundle or by itself: what its header says, and whether the
 * database rests after it. Nothing that is read is checked against the segment's checksum.
 */
import { isWinterdockError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import { isRestingPage } from '../ltx/first-page.ts';
import {
  badSegment,
  decodeHeader,
  HEADER_BYTES,
  type LtxHeader,
  PAGE_HEAD_BYTES,
  SIZED_BLOCK,
} from '../ltx/ltx-header.ts';
import { expandBlock, longestBlock } from '../ltx/lz4.ts';
import { segmentName } from '../names/replica-names.ts';
import type { FoundSegment } from '../segment-bundles/segments-in-bundles.ts';

/** The page size of the files of sandboxes. Others take a second request. */
const USUAL_PAGE_BYTES = 4096;

export interface SegmentLook {
  header: LtxHeader;
  /** It has the first page, and that is of a database at rest. */
  isResting: boolean;
}

/** Throws `corrupt` for what is no segment, `missing_file`, `storage_unavailable`. */
export async function lookAtSegment(store: Pick<ObjectStore, 'open'>, place: FoundSegment): Promise<SegmentLook> {
  const name = place.bundled?.name ?? segmentName(place);
  const begin = place.bundled?.at ?? 0;
  const most = place.bundled?.bytes ?? Number.POSITIVE_INFINITY;
  const read = (bytes: number) => readBytes(store, name, begin, Math.min(bytes, most));
  let bytes = await read(LOOK_BYTES);
  if (bytes.length < HEADER_BYTES) throw badSegment(name, 'it is cut off');
  const header = decodeHeader(bytes.subarray(0, HEADER_BYTES), name);
  if (header.pageSize > USUAL_PAGE_BYTES) bytes = await read(lookBytes(header.pageSize));
  const page = firstPageIn(bytes.subarray(HEADER_BYTES), header.pageSize);
  return { header, isResting: page !== null && isRestingPage(page) };
}

const lookBytes = (pageSize: number) => HEADER_BYTES + PAGE_HEAD_BYTES + longestBlock(pageSize);

/** What a look takes of a segment with pages of the usual size. */
export const LOOK_BYTES = lookBytes(USUAL_PAGE_BYTES);

/** The first page of the database where it is what comes first; null where it is not there, or damaged. */
function firstPageIn(bytes: Buffer, pageSize: number): Buffer | null {
  if (bytes.length < PAGE_HEAD_BYTES) return null;
  if (bytes.readUInt32BE(0) !== 1 || bytes.readUInt16BE(4) !== SIZED_BLOCK) return null;
  const block = bytes.subarray(PAGE_HEAD_BYTES, PAGE_HEAD_BYTES + bytes.readUInt32BE(6));
  const page = Buffer.alloc(pageSize);
  return expandBlock(block, page) ? page : null;
}

async function readBytes(
  store: Pick<ObjectStore, 'open'>,
  name: string,
  first: number,
  length: number,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  try {
    const range = { first, last: first + length - 1 };
    for await (const piece of await store.open(name, { range })) pieces.push(piece as Buffer);
  } catch (error) {
    // An empty object has no first byte.
    if (!isWinterdockError(error) || error.code !== 'range_not_satisfiable') throw error;
  }
  return Buffer.concat(pieces);
}
