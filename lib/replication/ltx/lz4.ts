/** Blocks of LZ4, each of which is one page. Pure. */

const SHORTEST_MATCH = 4;
const MOST_OF_TOKEN = 15;
/** A block ends with so many literals, at least. */
const LAST_LITERALS = 5;

/** Bytes that say a length of which the token has the first 15. */
function lengthBytes(length: number): number[] {
  const rest = length - MOST_OF_TOKEN;
  return rest < 0 ? [] : [...Array<number>(Math.floor(rest / 255)).fill(255), rest % 255];
}

/** What comes before `length` bytes (15 or more) to make them a block without a match. */
export function literalHead(length: number): Buffer {
  return Buffer.from([MOST_OF_TOKEN << 4, ...lengthBytes(length)]);
}

/** A block of `length` zeros, 64 or more. */
export function zeroBlock(length: number): Buffer {
  const match = length - 1 - LAST_LITERALS - SHORTEST_MATCH;
  const lastToken = LAST_LITERALS << 4;
  return Buffer.from([
    (1 << 4) | MOST_OF_TOKEN,
    0,
    1,
    0,
    ...lengthBytes(match),
    lastToken,
    ...Buffer.alloc(LAST_LITERALS),
  ]);
}

/** Bytes of a block of `length` bytes that were not to be compressed, at most. */
export function longestBlock(length: number): number {
  return length + Math.ceil(length / 255) + 16;
}

/**
 * Expands `block` to `target`. False when it is no block, or has not exactly the target's length: nothing is read or
 * written outside of the two.
 */
export function expandBlock(block: Uint8Array, target: Uint8Array): boolean {
  let [at, to] = [0, 0];
  const lengthOf = (first: number): number => {
    let length = first;
    if (first < MOST_OF_TOKEN) return length;
    for (;;) {
      const byte = block[at++];
      if (byte === undefined || length > target.length) return Number.NaN;
      length += byte;
      if (byte < 255) return length;
    }
  };
  while (at < block.length) {
    const token = block[at++] ?? 0;
    const literals = lengthOf(token >> 4);
    if (!(literals <= block.length - at && literals <= target.length - to)) return false;
    target.set(block.subarray(at, at + literals), to);
    at += literals;
    to += literals;
    // The last sequence has no match.
    if (at === block.length) return to === target.length && (token & MOST_OF_TOKEN) === 0;
    const distance = (block[at] ?? 0) | ((block[at + 1] ?? 0) << 8);
    at += 2;
    const match = lengthOf(token & MOST_OF_TOKEN) + SHORTEST_MATCH;
    if (!(at <= block.length && distance > 0 && distance <= to && match <= target.length - to)) return false;
    if (distance === 1) target.fill(target[to - 1] ?? 0, to, to + match);
    else if (distance >= match) target.copyWithin(to, to - distance, to - distance + match);
    else for (let end = to + match, from = to - distance, put = to; put < end; ) target[put++] = target[from++] ?? 0;
    to += match;
  }
  return false;
}
