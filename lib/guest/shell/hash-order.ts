/**
 * The order in which bash lists the keys of an associative array: that of the buckets of its hash table (hashlib.c and
 * assoc.c of bash 5.2). Called by just-bash's interpreter as it is patched.
 */

const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;
const BUCKETS = 1024;
/** A table with more keys for each bucket grows, and so much. */
const FULL = 2;
const GROWTH = 4;

/** The keys, given in the order in which they were set. Keys of one bucket come with the last one first. */
export function inHashOrder(keys: readonly string[]): string[] {
  let buckets = BUCKETS;
  while (keys.length >= buckets * FULL) buckets *= GROWTH;
  return keys
    .map((key, at) => ({ key, at, bucket: hashOf(key) & (buckets - 1) }))
    .sort((one, other) => one.bucket - other.bucket || other.at - one.at)
    .map(({ key }) => key);
}

function hashOf(key: string): number {
  let hash = FNV_OFFSET;
  // Bytes are signed there.
  for (const byte of Buffer.from(key)) hash = Math.imul(hash, FNV_PRIME) ^ (byte > 127 ? byte - 256 : byte);
  return hash;
}
