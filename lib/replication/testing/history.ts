/**
 * A random history of a database in WAL mode, cut as it goes: writes of every kind, checkpoints of what was confirmed,
 * readers in their way, rests, kills and new bases. At every cut what is rebuilt is compared with what a reader sees,
 * byte by byte, and at rest with the file. For tests.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cutBase, cutFirstPage, cutSegment, type LogPosition } from '../log/cut.ts';
import { mergeSegments } from '../ltx/merge.ts';
import { rebuild } from '../ltx/rebuild.ts';

/** What a history came to. */
export interface HistoryCounts {
  cuts: number;
  rests: number;
  kills: number;
  bases: number;
  /** Cuts that followed into a log that was written over. */
  restarts: number;
  /** Chains that were compared once some of their segments were merged. */
  merges: number;
}

export interface HistoryPlan {
  seed: number;
  pageSize: number;
  steps: number;
}

/** Numbers from 0 to below 1 (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const MEBIBYTE = 1024 * 1024;

export class History {
  readonly counts: HistoryCounts = { cuts: 0, rests: 0, kills: 0, bases: 0, restarts: 0, merges: 0 };
  /** Of the lineage, absolute, in order. */
  segments: string[] = [];
  timeMs = 1_790_000_000_000;
  readonly #folder: string;
  readonly #random: () => number;
  /** For what is merged, so that it changes nothing of the history. */
  readonly #mergeRandom: () => number;
  readonly #pageSize: number;
  readonly #steps: number;
  #file: string;
  #writer: DatabaseSync | null = null;
  #other: DatabaseSync | null = null;
  #reader: DatabaseSync | null = null;
  #position: LogPosition | null = null;
  #confirmed: LogPosition | null = null;
  #isEntering = true;
  /** The log was written back when the base was made, and may be written over. */
  #mayRestart = false;
  #files = 0;
  #log: string | null = null;

  /** `folder`: absolute and empty. */
  constructor(folder: string, { seed, pageSize, steps }: HistoryPlan) {
    this.#folder = folder;
    this.#random = numbersOf(seed);
    this.#mergeRandom = numbersOf(seed + 1);
    this.#pageSize = pageSize;
    this.#steps = steps;
    this.#file = join(folder, 'a.sqlite');
    mkdirSync(join(folder, 'spool'));
  }

  /** Lives it. Throws at the first difference. */
  async live(): Promise<void> {
    this.#create();
    for (let step = 0; step < this.#steps; step += 1) {
      if (this.#writer === null) await this.#wake();
      await this.#step();
    }
    if (this.#writer !== null) await this.#rest();
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #merges(limit: number): number {
    return Math.floor(this.#mergeRandom() * limit);
  }

  #chance(of: number): boolean {
    return this.#random() < of;
  }

  #create(): void {
    const db = new DatabaseSync(this.#file);
    db.exec(`PRAGMA page_size = ${this.#pageSize}; PRAGMA auto_vacuum = ${this.#below(3)};
      CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX by_name ON files (name);`);
    db.close();
  }

  async #wake(): Promise<void> {
    const isFresh = this.segments.length === 0 || this.#chance(0.2);
    const early = isFresh && this.#chance(0.5);
    if (early) await this.#base();
    this.#writer = new DatabaseSync(this.#file);
    this.#writer.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0');
    if (this.#chance(0.3)) this.#writer.exec('PRAGMA cache_size = 10; PRAGMA cache_spill = 5');
    this.#other = new DatabaseSync(this.#file);
    if (isFresh && !early) {
      if (this.#chance(0.5)) this.#write();
      await this.#base();
    }
    if (!isFresh) [this.#position, this.#isEntering] = [null, true];
  }

  async #step(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.55) this.#write();
    else if (kind < 0.75) await this.#cutAndCompare();
    else if (kind < 0.87) await this.#checkpoint();
    else if (kind < 0.92) this.#read();
    else if (kind < 0.94) await this.#base();
    else if (kind < 0.98) await this.#rest();
    else await this.#kill();
  }

  #write(): void {
    const db = this.#writer;
    if (db === null) return;
    const pages = 1 + this.#below(this.#pageSize > 16_384 ? 4 : 24);
    const bytes = () => Math.floor(this.#random() * pages * this.#pageSize);
    const insert = () =>
      db
        .prepare(`INSERT INTO files (name, body) VALUES (?, ${this.#chance(0.3) ? 'zeroblob(?)' : 'randomblob(?)'})`)
        .run(`name ${this.#below(1000)}`, bytes());
    const remove = () => db.exec(`DELETE FROM files WHERE id % ${1 + this.#below(4)} = 0`);
    const works: (() => void)[] = [
      insert,
      insert,
      insert,
      () => db.exec(`UPDATE files SET body = randomblob(${bytes()}) WHERE id % 5 = ${this.#below(5)}`),
      remove,
      remove,
      () => db.exec('VACUUM'),
      () => db.exec(`PRAGMA incremental_vacuum(${this.#below(20)})`),
      () => this.#together(db, 'ROLLBACK', insert),
      // Its pages are free again before any of them is written.
      () =>
        this.#together(db, 'COMMIT', () => {
          insert();
          db.exec('DELETE FROM files WHERE id = last_insert_rowid()');
        }),
      () => this.#together(db, 'COMMIT', insert, remove, insert),
    ];
    works[this.#below(works.length)]?.();
    db.prepare('PRAGMA incremental_vacuum(0)').all();
  }

  #together(db: DatabaseSync, end: 'COMMIT' | 'ROLLBACK', ...works: (() => void)[]): void {
    db.exec('BEGIN IMMEDIATE');
    for (const work of works) work();
    db.exec(end);
  }

  /** Confirms what is cut, and has the log written back. */
  async #checkpoint(): Promise<void> {
    await this.#cutAndCompare();
    if (this.#position === null) return;
    this.#confirmed = this.#position;
    const mode = ['PASSIVE', 'PASSIVE', 'RESTART', 'TRUNCATE'][this.#below(4)];
    this.#other?.prepare(`PRAGMA wal_checkpoint(${mode})`).all();
  }

  #read(): void {
    if (this.#reader !== null) {
      this.#reader.close();
      this.#reader = null;
      return;
    }
    this.#reader = new DatabaseSync(this.#file);
    this.#reader.exec('BEGIN');
    this.#reader.prepare('SELECT count(*) FROM files').get();
  }

  #target(): { target: string; txid: number; timeMs: number; sync: boolean } {
    this.#files += 1;
    this.timeMs += 1 + this.#below(1000);
    const target = join(this.#folder, 'spool', `${this.#files}.ltx`);
    return { target, txid: this.segments.length + 1, timeMs: this.timeMs, sync: this.#chance(0.1) };
  }

  async #base(): Promise<void> {
    this.segments = [];
    const target = this.#target();
    const cut = await cutBase({ main: this.#file, log: `${this.#file}-wal`, ...target });
    if (cut.kind === 'gap') throw new Error(`a base ended with a gap: ${cut.why}`);
    if (cut.sha256 !== sha256(readFileSync(this.#file))) throw new Error('a base has another hash than its file');
    this.segments.push(target.target);
    this.counts.bases += 1;
    this.#mayRestart = this.#confirmed !== null;
    // What was confirmed stays so: the log may be written over there.
    [this.#position, this.#isEntering] = [cut.position, true];
    await this.#cutAndCompare();
  }

  async #cut(): Promise<boolean> {
    for (let any = false; ; any = true) {
      const target = this.#target();
      const cut = await cutSegment({
        log: this.#log ?? `${this.#file}-wal`,
        main: this.#file,
        position: this.#position,
        restartsAt: this.#confirmed,
        withFirstPage: this.#isEntering,
        pageSize: this.#pageSize,
        mostBytes: this.#chance(0.3) ? 10 * this.#pageSize : 64 * MEBIBYTE,
        ...target,
      });
      if (cut.kind === 'gap') {
        if (!this.#mayRestart) throw new Error(`a cut ended with a gap: ${cut.why}`);
        await this.#base();
        return false;
      }
      if (cut.kind === 'segment') this.#mayRestart = false;
      if (cut.kind === 'nothing') return any;
      this.segments.push(target.target);
      if (this.#position !== null && this.#position.salts !== cut.position.salts) this.counts.restarts += 1;
      this.#position = cut.position;
      this.#isEntering = false;
      this.counts.cuts += 1;
      if (!cut.isMore) return true;
    }
  }

  async #cutAndCompare(): Promise<void> {
    if (await this.#cut()) await this.#compare(this.#asRead());
  }

  async #compare(expected: Buffer): Promise<void> {
    const target = join(this.#folder, 'rebuilt.sqlite');
    const { sha256: found, timeMs, txid } = await rebuild({ segments: this.segments, target });
    const actual = readFileSync(target);
    if (!actual.equals(expected)) throw new Error(differenceOf(actual, expected, this.#pageSize));
    if (found !== sha256(expected) || txid !== this.segments.length || timeMs > this.timeMs) {
      throw new Error('what is said of the rebuilt file is wrong');
    }
    if (this.#merges(3) === 0) await this.#compareMerged(expected);
  }

  /** The same of the chain with its segments merged in random groups, and those groups again. */
  async #compareMerged(expected: Buffer): Promise<void> {
    const target = join(this.#folder, 'rebuilt-merged.sqlite');
    let segments = this.segments;
    for (let level = 1; level < 3 && segments.length > 1; level += 1) {
      const merged: string[] = [];
      for (let at = 0; at < segments.length; ) {
        const group = segments.slice(at, at + 1 + this.#merges(segments.length));
        at += group.length;
        const path = join(this.#folder, 'spool', `merged-${level}-${merged.length}.ltx`);
        await mergeSegments({ segments: group, target: path, sync: false });
        merged.push(path);
      }
      segments = merged;
      const { sha256: found } = await rebuild({ segments, target });
      if (found !== sha256(expected)) throw new Error('what is made of merged segments is another file');
      this.counts.merges += 1;
    }
  }

  /** The bytes that a reader who comes now sees. */
  #asRead(): Buffer {
    const copy = join(this.#folder, 'copy.sqlite');
    for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
    copyFileSync(this.#file, copy);
    if (existsSync(`${this.#file}-wal`)) copyFileSync(`${this.#file}-wal`, `${copy}-wal`);
    const db = new DatabaseSync(copy);
    db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    db.close();
    return readFileSync(copy);
  }

  /** Comes to rest as a worker does. */
  async #rest(): Promise<void> {
    this.#reader?.close();
    this.#other?.close();
    this.#settle(this.#writer);
    await this.#compareAtRest();
    this.counts.rests += 1;
  }

  /** The processes end without a word: the file and its log lie as they were, and are settled. */
  async #kill(): Promise<void> {
    const next = join(this.#folder, `killed-${this.counts.kills}.sqlite`);
    copyFileSync(this.#file, next);
    if (existsSync(`${this.#file}-wal`)) copyFileSync(`${this.#file}-wal`, `${next}-wal`);
    for (const db of [this.#reader, this.#other, this.#writer]) db?.close();
    this.#file = next;
    const db = new DatabaseSync(next);
    this.#settle(db);
    await this.#compareAtRest();
    this.counts.kills += 1;
  }

  #settle(db: DatabaseSync | null): void {
    const log = `${this.#file}-wal`;
    const kept = join(this.#folder, 'kept.log');
    rmSync(kept, { force: true });
    if (existsSync(log)) linkSync(log, kept);
    db?.prepare('PRAGMA wal_checkpoint(PASSIVE)').all();
    db?.prepare('PRAGMA journal_mode = MEMORY').all();
    db?.close();
    this.#log = kept;
  }

  async #compareAtRest(): Promise<void> {
    await this.#cut();
    const target = this.#target();
    const cut = await cutFirstPage({ main: this.#file, position: this.#position, ...target });
    if (cut.kind === 'gap') throw new Error(`a rest ended with a gap: ${cut.why}`);
    this.segments.push(target.target);
    await this.#compare(readFileSync(this.#file));
    [this.#writer, this.#other, this.#reader, this.#log] = [null, null, null, null];
    this.#confirmed = null;
  }
}

function differenceOf(actual: Buffer, expected: Buffer, pageSize: number): string {
  const lengths = `${actual.length / pageSize} pages, expected ${expected.length / pageSize}`;
  const pages: string[] = [];
  for (let at = 0; at < Math.min(actual.length, expected.length); at += pageSize) {
    const [one, other] = [actual.subarray(at, at + pageSize), expected.subarray(at, at + pageSize)];
    if (one.equals(other)) continue;
    const zero = (bytes: Buffer) => (bytes.every((byte) => byte === 0) ? ' is zero' : '');
    pages.push(`page ${at / pageSize + 1}${zero(one)}${zero(other) && `, expected${zero(other)}`}`);
  }
  return `${lengths}; other bytes: ${pages.slice(0, 20).join('; ')}`;
}
