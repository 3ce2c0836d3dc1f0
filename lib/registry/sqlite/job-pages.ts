/** The instances of a job as they are kept: row numbers, a thousand to a page, four little-endian bytes each. */

/** Instances of a job to a page. */
export const INSTANCES_PER_PAGE = 1000;

/** What is kept of the numbers of a page. */
export function encodeRowNumbers(numbers: Uint32Array): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, at * 4);
  return bytes;
}

/** The numbers of a page. */
export function decodeRowNumbers(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
}
