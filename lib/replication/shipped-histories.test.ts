/** Random histories in a replica: at every commit the restored file is, byte for byte, what a reader saw then. */
import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createLogger } from '../base/log.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { DAY, DRAWN_BY, DRAWS_ALL } from '../testing/draw.ts';
import { SegmentLevels } from './levels/segment-levels.ts';
import { Cutter } from './log/cutter.ts';
import { findMoment, restoreMoment } from './moments/replica-reader.ts';
import type { SeriesPoint } from './names/series-point.ts';
import { ShippedFile } from './shipped-file.ts';
import { SegmentUploads } from './shipping/segment-uploads.ts';
import { canUse } from './testing/can-use.ts';
import { numbersOf } from './testing/history.ts';

const PAGE_SIZES = [512, 1024, 4096, 65_536];
const OF_A_DAY = 8;
const ALL = 120;
const STEPS = 40;
/** Commits are so far apart, at most: some minutes of one history have none. */
const MOST_APART_MS = 40_000;
const HOURS_MS = 3 * 3_600_000;

interface Moment {
  timeMs: number;
  sha256: string;
  /** Whether the file was at rest. */
  isResting: boolean;
}

const counts = { commits: 0, rests: 0, series: 0, shrunk: 0, merged: 0 };

class ShippedHistory {
  readonly moments: Moment[] = [];
  readonly #folder: string;
  readonly #file: string;
  readonly #pageSize: number;
  readonly #random: () => number;
  readonly #store: ObjectStore;
  readonly #cutter = new Cutter();
  readonly #levels: SegmentLevels;
  readonly #uploads: SegmentUploads;
  readonly #clock: { at: number; now: () => number } = { at: 1_790_000_000_000, now: () => this.#clock.at };
  #db: DatabaseSync;
  #shipped: ShippedFile;

  constructor(folder: string, store: ObjectStore, { seed, pageSize }: { seed: number; pageSize: number }) {
    this.#folder = folder;
    this.#file = join(folder, 'live', 'vfs.sqlite');
    this.#pageSize = pageSize;
    this.#random = numbersOf(seed);
    this.#store = store;
    const log = createLogger('silent');
    this.#levels = new SegmentLevels({
      ...{ folder: join(folder, 'levels'), store, cutter: this.#cutter, clock: this.#clock, log },
      keptBytes: this.#below(2) * 2 ** 26,
    });
    this.#uploads = new SegmentUploads({ store, log, isBack: () => canUse(store), levels: this.#levels });
    mkdirSync(join(folder, 'live'));
    const db = new DatabaseSync(this.#file);
    db.exec(`PRAGMA page_size = ${pageSize}; PRAGMA auto_vacuum = ${this.#below(3)};
      CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX by_name ON t (name)`);
    db.close();
    this.#db = this.#opened();
    this.#shipped = this.#shipping(null);
  }

  async live(): Promise<void> {
    for (let step = 0; step < STEPS; step += 1) {
      const kind = this.#random();
      if (kind < 0.85) await this.#commit();
      else if (kind < 0.95) await this.#rest();
      else this.#shipped.endSeries('a history wants it');
    }
    await this.#rest();
  }

  /** Every moment is restored; throws at the first difference. */
  async compare(when: string): Promise<void> {
    for (const { timeMs, sha256, isResting } of this.moments) {
      const moment = await findMoment(this.#store, 'a', timeMs, null);
      if (moment?.timeMs !== timeMs) throw new Error(`${when}: instead of ${timeMs} there is ${moment?.timeMs}`);
      const target = join(this.#folder, 'restored');
      const restored = await restoreMoment(this.#store, moment, { target, tmp: join(this.#folder, 'tmp') });
      const found = hash('sha256', readFileSync(target));
      rmSync(target);
      if (found !== sha256 || restored.sha256 !== sha256) {
        throw new Error(`${when}: another file at ${timeMs}${isResting ? ', at rest' : ''}`);
      }
    }
  }

  /** All minutes and hours are over. */
  async merge(): Promise<void> {
    this.#clock.at += HOURS_MS;
    for (let round = 0; round < 2; round += 1) {
      this.#levels.look();
      await this.#levels.whenMerged();
    }
    for await (const page of this.#store.list('replica/a/')) {
      counts.merged += page.filter(({ name }) => /\/ltx\/[12]\//.test(name)).length;
    }
  }

  async close(): Promise<void> {
    if (this.#db.isOpen) this.#db.close();
    await this.#uploads.stop();
    await this.#levels.stop();
    await this.#cutter.close();
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #opened(): DatabaseSync {
    const db = new DatabaseSync(this.#file);
    db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF');
    if (this.#below(3) === 0) db.exec('PRAGMA cache_size = 10; PRAGMA cache_spill = 5');
    return db;
  }

  #shipping(point: SeriesPoint | null): ShippedFile {
    return new ShippedFile(
      {
        ...{ id: 'a', file: this.#file, spool: join(this.#folder, 'spool', 'a'), term: 1, cutter: this.#cutter },
        ...{ uploads: this.#uploads, clock: this.#clock, log: createLogger('silent'), spoolBytes: 2 ** 30 },
        confirm: () => undefined,
        onGap: () => {
          counts.series += 1;
        },
      },
      point,
      this.moments.at(-1)?.timeMs ?? 0,
    );
  }

  async #commit(): Promise<void> {
    this.#clock.at += this.#below(MOST_APART_MS);
    const before = this.#db.prepare('PRAGMA page_count').get()?.page_count ?? 0;
    this.#write();
    const confirms = this.#below(3) === 0;
    await this.#shipped.ship({ confirms });
    const after = this.#db.prepare('PRAGMA page_count').get()?.page_count ?? 0;
    if (after < before) counts.shrunk += 1;
    await this.#note(this.#shipped.lastTimeMs, this.#seen(), false);
    // Nothing was committed since: all of the log was confirmed.
    const mode = ['PASSIVE', 'RESTART', 'TRUNCATE'][this.#below(3)];
    if (confirms) this.#db.prepare(`PRAGMA wal_checkpoint(${mode})`).all();
  }

  async #rest(): Promise<void> {
    this.#clock.at += this.#below(MOST_APART_MS);
    // Some are closed behind a commit that nobody has looked at.
    if (this.#below(2) === 0) this.#write();
    this.#shipped.keepLog();
    this.#db.exec('PRAGMA wal_checkpoint(PASSIVE); PRAGMA journal_mode = DELETE');
    this.#db.close();
    await this.#shipped.shipLast();
    const point = await this.#shipped.rest(this.#file);
    if (point === null) throw new Error('it rests without a point');
    counts.rests += 1;
    await this.#note(point.timeMs, readFileSync(this.#file), true);
    this.#db = this.#opened();
    this.#shipped = this.#shipping(point);
  }

  async #note(timeMs: number, bytes: Buffer, isResting: boolean): Promise<void> {
    await this.#uploads.whenShipped('a');
    counts.commits += 1;
    const sha256 = hash('sha256', bytes);
    const last = this.moments.at(-1);
    // What was rolled back is no moment, and a wake is none: it changes two bytes of the header.
    if (last?.timeMs !== timeMs) this.moments.push({ timeMs, sha256, isResting });
    else if (last.sha256 !== sha256 && !last.isResting)
      throw new Error(`something was committed after ${timeMs} and not shipped`);
  }

  /** What a reader sees now, as one file. */
  #seen(): Buffer {
    const copy = join(this.#folder, 'copy');
    for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true });
    for (const end of ['', '-wal']) if (existsSync(this.#file + end)) copyFileSync(this.#file + end, copy + end);
    const reader = new DatabaseSync(copy);
    reader.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    reader.close();
    return readFileSync(copy);
  }

  #write(): void {
    const db = this.#db;
    const pages = 1 + this.#below(this.#pageSize > 16_384 ? 4 : 40);
    const bytes = () => 1 + this.#below(pages * this.#pageSize);
    const blob = () => `${this.#below(3) === 0 ? 'zeroblob' : 'randomblob'}(${bytes()})`;
    const insert = () => `INSERT INTO t (name, body) VALUES ('name ${this.#below(1000)}', ${blob()})`;
    const works = [
      insert,
      insert,
      () => `BEGIN; ${insert()}; ${insert()}; DELETE FROM t WHERE id % 7 = ${this.#below(7)}; COMMIT`,
      () => `UPDATE t SET body = ${blob()} WHERE id % 5 = ${this.#below(5)}`,
      () => `DELETE FROM t WHERE id % 3 = ${this.#below(3)}`,
      () => 'VACUUM',
      () => `PRAGMA incremental_vacuum(${this.#below(20)})`,
      // To nothing.
      () => 'DELETE FROM t; VACUUM',
      () => `BEGIN; ${insert()}; DELETE FROM t WHERE id % 2 = 0; ROLLBACK`,
    ];
    db.exec(works[this.#below(works.length)]?.() ?? 'VACUUM');
  }
}

test('at every commit of random histories the file that is restored is what a reader saw', async () => {
  const first = DRAWS_ALL ? 0 : (DAY * OF_A_DAY) % 2 ** 31;
  for (let seed = first; seed < first + (DRAWS_ALL ? ALL : OF_A_DAY); seed += 1) {
    const pageSize = PAGE_SIZES[seed % PAGE_SIZES.length] ?? 0;
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-shipped-history-'));
    const store = await openObjectStore(pathToFileURL(join(folder, 'store')).href, {
      ...{ endpoint: null, region: 'x', pathStyle: false, encryption: null, credentials: {} },
    });
    const history = new ShippedHistory(folder, store, { seed, pageSize });
    try {
      await history.live();
      await history.compare('as it was shipped');
      await history.merge();
      await history.compare('once it was merged');
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`history ${seed}, pages of ${pageSize} (${DRAWN_BY}): ${why}`, { cause });
    } finally {
      await history.close();
      await store.close();
      rmSync(folder, { recursive: true });
    }
  }
  // Otherwise they would prove less than they say.
  const least = { commits: 200, rests: 20, series: 5, shrunk: 20, merged: 40 };
  for (const name of Object.keys(least) as (keyof typeof least)[]) {
    expect([name, counts[name] >= least[name]]).toEqual([name, true]);
  }
});
