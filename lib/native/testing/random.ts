/** Numbers that a seed draws, always the same ones. For tests. */

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to, and without, `below`. */
  below(below: number): number {
    // mulberry32: small, and good enough to draw tests.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    const word = this.below(2 ** 31);
    for (let at = 0; at < length; at += 1) bytes[at] = (word >>> (at % 24)) + at * 31 + (at >> 8);
    return bytes;
  }
}
