/** The ledger: chained and appended inside the transaction of what it tells of, announced once that is on disk, read in pages. */
import { CHAIN_START, type ChainedLine, type ChainHead, canonicalLine, chainHash } from '../chain.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import type { Feed } from '../feed.ts';
import type { LedgerEntry, LedgerFilter, LedgerLine, Page } from '../registry.ts';
import { Repeats } from '../repeats.ts';
import type { RegistryDatabase, Value } from './database.ts';

const COLUMNS: Readonly<Record<keyof LedgerEntry, string>> = {
  timeMs: 'time_ms',
  instance: 'instance',
  tenant: 'tenant',
  type: 'type',
  from: '"from"',
  to: '"to"',
  trigger: '"trigger"',
  actor: 'actor',
  via: 'via',
  source: 'source',
  tookMs: 'took_ms',
  reason: 'reason',
  error: 'error',
  requestId: 'request_id',
  address: 'address',
};

const PROPERTIES = Object.keys(COLUMNS) as (keyof LedgerEntry)[];
const NAMES = PROPERTIES.map((property) => COLUMNS[property]).join(', ');
const INSERT = `INSERT INTO events(seq, hash, ${NAMES}) VALUES (?, ?${', ?'.repeat(PROPERTIES.length)})`;
const SELECT = `SELECT seq, ${NAMES} FROM events`;
/** Parameters: the number to begin after, how many. */
export const SELECT_CHAINED = `SELECT seq, ${NAMES}, hash, blanked FROM events WHERE seq > ? ORDER BY seq LIMIT ?`;
/** Number and hash of the last line that is there, and of the last that was given up. */
const LAST_LINE = 'SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1';
const LAST_DROPPED = 'SELECT last_seq, last_hash FROM ledger_segments ORDER BY last_seq DESC LIMIT 1';
/** Lines up to which those of a filter are counted: of more, any will do. */
const COUNTED = 5000;
/** Lines chained at a time when an older file is opened. */
const BATCH = 1000;

/** The index that leads with each filter: the one with the fewest lines is walked, the others are checked. */
const INDEXES: readonly (readonly [keyof LedgerFilter & keyof LedgerEntry, string])[] = [
  ['instance', 'events_by_instance'],
  ['actor', 'events_by_actor'],
  ['type', 'events_by_type'],
  ['tenant', 'events_by_tenant'],
  ['trigger', 'events_by_trigger'],
];

export class Ledger {
  readonly #database: RegistryDatabase;
  readonly #feed: Feed;
  readonly #repeats = new Repeats();
  /** What is to be done once a line is committed. */
  readonly #once = new WeakMap<LedgerLine, () => void>();

  constructor(database: RegistryDatabase, feed: Feed) {
    this.#database = database;
    this.#feed = feed;
  }

  /** Inside a write transaction. The lines go to `announce` once it is committed. Refusals that repeat are counted, not written. */
  append(entries: LedgerEntry[]): LedgerLine[] {
    return this.#chain(this.#repeats.sift(entries));
  }

  /** Inside a write transaction: the sums of what was refused again, those that are due or all. The lines go to `announce`. */
  appendSums(nowMs: number, all: boolean): LedgerLine[] {
    return this.#chain(this.#repeats.due(nowMs, all));
  }

  #chain(sifted: ReturnType<Repeats['sift']>): LedgerLine[] {
    if (sifted.length === 0) return [];
    let { seq, hash } = this.head();
    return sifted.map(({ entry, written }) => {
      seq += 1;
      const line: LedgerLine = { ...wellFormed(entry), seq };
      hash = chainHash(hash, canonicalLine(line));
      this.#database.sql(INSERT).run(seq, hash, ...PROPERTIES.map((property) => line[property]));
      this.#once.set(line, written);
      return line;
    });
  }

  /** Where the chain stands. It goes on from the last sealed line when every line was dropped. */
  head(): ChainHead {
    const last = this.#database.sql(LAST_LINE).get() ?? this.#database.sql(LAST_DROPPED).get();
    return last === undefined ? CHAIN_START : { seq: last[0] as number, hash: last[1] as string };
  }

  /** Lines after `seq` with their hashes, oldest first. */
  chain(seq: number, limit: number): ChainedLine[] {
    return this.#database.sql(SELECT_CHAINED).all(seq, limit).map(chainedLineOf);
  }

  /** Gives the lines of a file from before there were hashes theirs. Does nothing to a chained ledger. */
  chainOlder(): void {
    const isOlder = () => this.#database.integer('SELECT hash IS NULL FROM events ORDER BY seq DESC LIMIT 1') === 1;
    if (!isOlder()) return;
    this.#database.write(() => {
      if (!isOlder()) return;
      let { seq, hash } = CHAIN_START;
      for (let lines = this.chain(seq, BATCH); lines.length > 0; lines = this.chain(seq, BATCH)) {
        for (const line of lines) {
          seq = line.seq;
          hash = chainHash(hash, canonicalLine(line));
          this.#database.sql('UPDATE events SET hash = ? WHERE seq = ?').run(hash, seq);
        }
      }
    });
  }

  announce(lines: LedgerLine[]): void {
    for (const line of lines) this.#once.get(line)?.();
    this.#feed.appended(lines);
  }

  /** Newest first: by time, lines of the same millisecond by number. */
  page({ tenants, ...filter }: LedgerFilter, limit: number, cursor?: string): Page<LedgerLine> {
    const after = cursor === undefined ? null : readCursor(cursor, isPosition);
    const asked = filter.tenant === undefined ? tenants : tenants?.filter((tenant) => tenant === filter.tenant);
    const found =
      asked === undefined
        ? this.#find(filter, limit + 1, after)
        : [...new Set(asked)]
            .flatMap((tenant) => this.#find({ ...filter, tenant }, limit + 1, after))
            .sort((a, b) => b.timeMs - a.timeMs || b.seq - a.seq);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return { rows, next: found.length > limit && last ? writeCursor([last.timeMs, last.seq]) : null };
  }

  #find(filter: Omit<LedgerFilter, 'tenants'>, limit: number, after: [number, number] | null): LedgerLine[] {
    const where: string[] = [];
    const params: Value[] = [];
    const need = (sql: string, ...values: Value[]) => {
      where.push(sql);
      params.push(...values);
    };
    const asked = INDEXES.filter(([property]) => filter[property] !== undefined);
    for (const [property] of asked) need(`${COLUMNS[property]} = ?`, filter[property] ?? null);
    const index = this.#narrowest(filter, asked);
    if (filter.since !== undefined) need('time_ms >= ?', filter.since * 1000);
    if (filter.until !== undefined) need('time_ms <= ?', filter.until * 1000 + 999);
    if (after !== null) need('(time_ms, seq) < (?, ?)', ...after);
    const clause = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`;
    return this.#database
      .sql(`${SELECT} INDEXED BY ${index}${clause} ORDER BY time_ms DESC, seq DESC LIMIT ?`)
      .all(...params, limit)
      .map(lineOf);
  }

  /** A line of one filter may be rare among those of another: the rarer leads. */
  #narrowest(filter: LedgerFilter, asked: typeof INDEXES): string {
    const [first, ...others] = asked;
    if (first === undefined) return 'events_by_time';
    // One sandbox has few lines, and every row of a page may ask for its last ones.
    if (others.length === 0 || first[0] === 'instance') return first[1];
    let best = { index: first[1], lines: COUNTED };
    for (const [property, index] of asked) {
      const sql = `SELECT count(*) FROM (SELECT 1 FROM events INDEXED BY ${index} WHERE ${COLUMNS[property]} = ? LIMIT ?)`;
      const lines = this.#database.integer(sql, filter[property] ?? null, best.lines);
      if (lines < best.lines) best = { index, lines };
    }
    return best.index;
  }

  after(seq: number, limit: number): LedgerLine[] {
    return this.#database.sql(`${SELECT} WHERE seq > ? ORDER BY seq LIMIT ?`).all(seq, limit).map(lineOf);
  }

  among(tenants: readonly string[], from: number, to: number, limit: number): LedgerLine[] {
    const sql = `${SELECT} WHERE seq > ? AND seq <= ? AND +tenant IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?`;
    return this.#database.sql(sql).all(from, to, JSON.stringify(tenants), limit).map(lineOf);
  }

  lastSeq(): number {
    return this.head().seq;
  }
}

function isPosition(position: unknown[]): position is [number, number] {
  return position.length === 2 && position.every(Number.isSafeInteger);
}

function lineOf(values: Value[]): LedgerLine {
  const line: Record<string, Value | undefined> = { seq: values[0] };
  for (let at = 0; at < PROPERTIES.length; at += 1) line[PROPERTIES[at] as string] = values[at + 1];
  return line as unknown as LedgerLine;
}

/** One row of `SELECT_CHAINED`. */
export function chainedLineOf(values: Value[]): ChainedLine {
  const hash = values[PROPERTIES.length + 1] as string;
  return Object.assign(lineOf(values), { hash, blanked: values[PROPERTIES.length + 2] as string | null });
}

/** Text as it will be read back: SQLite keeps no lone surrogates, and a hash must be of what is kept. */
function wellFormed(entry: LedgerEntry): LedgerEntry {
  const kept: Record<string, unknown> = {};
  for (const property of PROPERTIES) {
    const value = entry[property];
    kept[property] = typeof value === 'string' && !value.isWellFormed() ? value.toWellFormed() : value;
  }
  return kept as unknown as LedgerEntry;
}
