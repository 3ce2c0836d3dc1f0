/** How a job stores its instances: row numbers, a thousand to a page, four little-endian bytes each. */

/** Instances of a job on one page. */
export const INSTANCES_PER_PAGE = 1000;

/** The bytes that store a page of row numbers. */
export function encodeRowNumbers(numbers: Uint32Array): Buffer {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [at, number] of numbers.entries()) bytes.writeUInt32LE(number, at * 4);
  return bytes;
}

/** The row numbers in the bytes of a page. */
export function decodeRowNumbers(bytes: Buffer): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readUInt32LE(at * 4));
}
