/** What stands in one terminal: the newest entries within a number of bytes, each with a number that only grows. */

export interface TranscriptEntry {
  seq: number;
  event: string;
  data: unknown;
}

/** What an entry takes beside its text. */
const ENTRY_COST = 256;

export class Transcript {
  readonly #limit: number;
  #entries: (TranscriptEntry & { cost: number })[] = [];
  #bytes = 0;
  #last = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of the newest entry; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  /** Adds an entry whose data has about `bytes` bytes, and drops the oldest over the limit. */
  push(event: string, data: unknown, bytes: number): void {
    this.#last += 1;
    const cost = bytes + ENTRY_COST;
    this.#entries.push({ seq: this.#last, event, data, cost });
    this.#bytes += cost;
    let dropped = 0;
    while (this.#bytes > this.#limit && dropped < this.#entries.length - 1) {
      this.#bytes -= this.#entries[dropped]?.cost ?? 0;
      dropped += 1;
    }
    if (dropped > 0) this.#entries = this.#entries.slice(dropped);
  }

  /** Drops every entry. The numbers go on. */
  clear(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  /** Entries after `seq`, at most `most` of them. */
  after(seq: number, most: number): TranscriptEntry[] {
    const first = this.#entries[0]?.seq ?? 0;
    const from = Math.max(0, seq + 1 - first);
    return this.#entries.slice(from, from + most);
  }
}
