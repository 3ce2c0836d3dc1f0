/** How a job stores its instances: row numbers, a thousand to a page, four little-endian bytes each. */

import type { InstanceId } from '../base/ids.ts';

/** Instances of a job on one page. */
export const INSTANCES_PER_PAGE = 1000;

/** The bytes that store a page of row numbers. */
function encodeRowNumbers(numbers: Uint32Array): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, at * 4);
  return bytes;
}

/** The row numbers in the bytes of a page. */
export function decodeRowNumbers(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
}

/** The pages of a job's row numbers, as they are stored. */
export function pagesOfJob(chosen: Uint32Array): { page: number; rows: Buffer }[] {
  return Array.from({ length: Math.ceil(chosen.length / INSTANCES_PER_PAGE) }, (_, page) => ({
    page,
    rows: encodeRowNumbers(chosen.subarray(page * INSTANCES_PER_PAGE, (page + 1) * INSTANCES_PER_PAGE)),
  }));
}

/** The instances from `position` on that are still there and have no result. `numbers`: of a page, from `first` on. */
export function unsettledOf(
  numbers: Uint32Array,
  {
    first,
    position,
    settled,
    ids,
  }: { first: number; position: number; settled: Set<number>; ids: Map<number, InstanceId> },
): { position: number; id: InstanceId }[] {
  return [...numbers.entries()].flatMap(([at, row]) => {
    const id = ids.get(row);
    const place = first + at;
    return place < position || settled.has(place) || id === undefined ? [] : [{ position: place, id }];
  });
}
