/**
 * The replica of one file that is open: what was committed to it since the last look becomes a segment in the spool.
 * Everything here runs in order, one step at a time. What cannot be shown to follow the segment before begins a new
 * series with a base.
 */
import { join } from 'node:path';
import { linkFileNow, makeFolderNow, syncFolderNow, unlinkFile, unlinkFileNow } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { bytesAtNow, lookAtNow } from '../base/strangers-file.ts';
import type { CutResult, LogPosition } from './cut.ts';
import { cutNow } from './cut-now.ts';
import { BASE_LEVEL, newSeries, type SegmentSeries, segmentFile, seriesName } from './replica-names.ts';
import { isLongSeries, type SeriesPoint } from './series-point.ts';
import type { ShippedFileParts } from './shipped-file-parts.ts';
import { syncSpooled } from './spool.ts';
import { spoolCutter } from './spool-cutter.ts';

/** Frames of a log above which it may be written over, once they are safe: SQLite's own default. */
const CONFIRM_FRAMES = 1000;
/** Frames of a log that wait for room in the spool while the store takes what it has: 128 MiB of usual pages. */
const MOST_FRAMES_WAITING = 32_768;
/** Bytes of a log in one segment, at most, but for one transaction that has more. */
const CUT_BYTES = 16 * 1024 * 1024;
/** Half of what the writer of a log goes to before it waits. */
const LONG_LOG_BYTES = 32 * 1024 * 1024;
/** Attempts at a base of a file whose log is written over meanwhile. */
const MOST_BASES = 3;
/** Confirms nothing. */
const NOWHERE = { salts: '0'.repeat(16), frames: 0 };

/** A segment that is about to be cut. */
interface Target {
  series: SegmentSeries;
  level: number;
  txid: number;
  timeMs: number;
  path: string;
}

export class ShippedFile {
  readonly #parts: ShippedFileParts;
  #point: SeriesPoint | null;
  #lastTimeMs: number;
  /** Of the last frame that was cut; null before the first of a log. */
  #position: LogPosition | null = null;
  /** The last position that was confirmed, and whether it still is. */
  #confirmed: LogPosition | null = null;
  #isTold = false;
  /** The page that entering WAL writes beside the log is still to be cut. */
  #isEntering = true;
  #seen = '';
  /** Nobody writes the log any more, and it was cut to its end. */
  #isLast = false;
  /** Absolute; where the log is read once its process was told to close. */
  #kept: string | null = null;
  #work: Promise<unknown> = Promise.resolve();
  #isCutting = false;
  #links = 0;

  /** `point`: where the replica of the file ends, which is as the file is now; null: a new series begins. */
  constructor(parts: ShippedFileParts, point: SeriesPoint | null, lastTimeMs: number) {
    this.#parts = { ...parts, cutter: spoolCutter(parts.cutter) };
    this.#point = point;
    this.#lastTimeMs = lastTimeMs;
  }

  get point(): SeriesPoint | null {
    return this.#point;
  }

  /** Epoch milliseconds of the last segment of any series. */
  get lastTimeMs(): number {
    return this.#lastTimeMs;
  }

  /** Whether something may have been committed that was not cut. Looks at the log's stat. */
  get isBehind(): boolean {
    return this.#point === null || this.#stamp() !== this.#seen;
  }

  /** Whether something may have been committed to a log so long that its writer may soon wait for a confirmation. */
  get isLong(): boolean {
    return this.isBehind && bytesAtNow(this.#log()) >= LONG_LOG_BYTES;
  }

  /** Absolute: the second name of the log; null: it has one. */
  get keptLog(): string | null {
    return this.#kept;
  }

  /**
   * Cuts what was committed since the last time; returns its bytes. `confirms`: a short log is confirmed too. Never
   * rejects.
   */
  ship({ confirms = false }: { confirms?: boolean } = {}): Promise<number> {
    return this.#next(() => this.#ship(confirms));
  }

  /**
   * Cuts what was committed after the position that was confirmed last, durably: for who writes the log in this thread,
   * and lets it go in the same tick. Blocks; at most `mostBytes` of the log. Returns the position that is safe then;
   * null: there is none, or what was committed has to be cut by `ship`. Never throws.
   */
  shipNow(mostBytes: number): LogPosition | null {
    const [point, position] = [this.#point, this.#position];
    if (point === null || position === null || this.#isCutting || position !== this.#confirmed) return null;
    try {
      const target = this.#target(point, 0);
      const { path, txid, timeMs } = target;
      const cut = cutNow({ log: this.#log(), position, target: path, txid, timeMs, mostBytes });
      if (cut === null || cut.kind === 'gap') return null;
      if (cut.kind === 'nothing') return position;
      // Its folder may have been made anew.
      syncFolderNow(this.#parts.spool);
      this.#position = cut.position;
      this.#confirmed = cut.position;
      this.#seen = this.#stamp();
      this.#add(target, cut.bytes);
      return cut.position;
    } catch (error) {
      this.#parts.log.warn({ id: this.#parts.id, error: messageOf(error) }, 'a segment could not be cut');
      return null;
    }
  }

  /** The same when nobody writes the log any more: what cannot be cut now is a gap. Never rejects. */
  shipLast(): Promise<void> {
    return this.#next(() => this.#shipLast());
  }

  /**
   * Keeps the log under a second name, before its process is told to close or its file is settled: it stays whole when
   * SQLite removes it. Synchronous. What cannot be linked costs the series.
   */
  keepLog(): void {
    const log = `${this.#parts.file}-wal`;
    if (this.#kept !== null || lookAtNow(log)?.isFile() !== true) return;
    this.#links += 1;
    const kept = join(this.#parts.spool, `log-${process.pid}-${Date.now().toString(36)}-${this.#links}`);
    try {
      makeFolderNow(this.#parts.spool);
      linkFileNow(log, kept);
      this.#kept = kept;
    } catch (error) {
      this.#gap(`its log could not be kept: ${messageOf(error)}`);
    }
  }

  /** What comes next begins a new series: the former one has a hole. `why` is a clause. */
  endSeries(why: string): void {
    void this.#next(async () => {
      if (this.#point !== null) this.#gap(why);
    });
  }

  /** The process goes on with its log. */
  letLogGo(): void {
    if (this.#kept === null) return;
    unlinkFileNow(this.#kept);
    this.#kept = null;
  }

  /**
   * Cuts the rest of the log and the first page of the file at rest (`resting`, absolute; its pages are those of the
   * last commit). Resolves with the point that the file is at; null when it has to begin anew. Never rejects.
   */
  rest(resting: string): Promise<SeriesPoint | null> {
    return this.#next(async () => {
      await this.#shipLast();
      try {
        await this.#cutFirstPage(resting);
      } catch (error) {
        this.#gap(`its file at rest could not be read: ${messageOf(error)}`);
      } finally {
        this.letLogGo();
      }
      return this.#point;
    });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #shipLast(): Promise<void> {
    if (this.#isLast) return;
    await this.#ship();
    if (this.isBehind && this.#point !== null) this.#gap('what was committed last could not be cut');
    this.#isLast = true;
  }

  #log(): string {
    return this.#kept ?? `${this.#parts.file}-wal`;
  }

  #stamp(): string {
    const stat = lookAtNow(this.#log());
    return stat === null ? 'none' : `${stat.ino}-${stat.size}-${stat.mtimeNs}`;
  }

  async #ship(confirms = false): Promise<number> {
    const stamp = this.#stamp();
    const isBehind = this.#point === null || stamp !== this.#seen;
    if (!isBehind && !confirms) return 0;
    try {
      if (this.#point === null && this.isSpoolFull) {
        await this.#passOver();
        this.#seen = stamp;
        return 0;
      }
      const bytes = isBehind ? await this.#cut() : 0;
      if (isBehind) this.#seen = stamp;
      await this.#confirmIfLong(confirms);
      return bytes;
    } catch (error) {
      // The disk refused, or a stranger's bytes did: the frames are in the log still.
      this.#parts.log.warn({ id: this.#parts.id, error: messageOf(error) }, 'a segment could not be cut');
      return 0;
    }
  }

  /** Whether there is no room for a base until the store can be used again. */
  get isSpoolFull(): boolean {
    const { uploads, spoolBytes, file } = this.#parts;
    return uploads.away !== null && uploads.bytes + bytesAtNow(file) > spoolBytes;
  }

  /** Lets a log be written over of which nothing is shipped: a base follows once there is room for one. */
  async #passOver(): Promise<void> {
    const { spool, clock, confirm } = this.#parts;
    if (this.#kept !== null) return;
    makeFolderNow(spool);
    const passed = { path: join(spool, 'passed'), txid: 1, timeMs: Math.max(clock.now(), 1) };
    const cut = await this.#cutLog(passed, false);
    if (cut.kind === 'gap') this.#position = null;
    if (cut.kind !== 'segment') return;
    await unlinkFile(passed.path);
    this.#confirmed = cut.position;
    this.#isTold = true;
    confirm(cut.position);
  }

  async #cut(): Promise<number> {
    this.#isCutting = true;
    try {
      let bytes = await this.#follow();
      for (let tries = 1; bytes === null && tries <= MOST_BASES; tries += 1) bytes = await this.#begin();
      if (bytes === null) throw new Error('its file was written over while it was read');
      return bytes;
    } finally {
      this.#isCutting = false;
    }
  }

  /** Cuts what follows the last segment, to the end; returns its bytes. Null: there is no series to continue. */
  async #follow(isBegun = false): Promise<number | null> {
    if (this.#point === null || (!isBegun && this.#mayEnd(this.#point))) return null;
    const target = this.#target(this.#point, 0);
    const cut = await this.#cutLog(target, this.#isEntering);
    if (cut.kind === 'gap') {
      this.#gap(cut.why);
      return null;
    }
    if (cut.kind === 'nothing') return 0;
    this.#add(target, cut.bytes);
    return cut.isMore ? cut.bytes + ((await this.#follow(true)) ?? 0) : cut.bytes;
  }

  /**
   * Begins a series: the file as it lies, and all of its log. What is in the log is written into the file only after
   * it was confirmed, and it is whole until other frames take its place: while the log is the same one, both together
   * are the state of the last commit. Null: another one has begun.
   */
  async #begin(): Promise<number | null> {
    const { term, clock, cutter, file, confirm } = this.#parts;
    const timeMs = Math.max(clock.now(), this.#lastTimeMs + 1);
    const started: SeriesPoint = { series: newSeries(term, timeMs), txid: 0, timeMs, baseBytes: 0, sinceBytes: 0 };
    // What was confirmed may be under way: a log that begins anew behind it is no gap.
    if (this.#confirmed !== null) confirm(NOWHERE);
    this.#isTold = false;
    const target = this.#target(started, BASE_LEVEL);
    const { path, txid } = target;
    const log = this.#log();
    const base = await cutter.cutBase({ log, main: file, target: path, txid, timeMs: target.timeMs, sync: false });
    if (base.kind === 'gap') return null;
    this.#position = base.position;
    const first = this.#target({ ...started, txid, timeMs: target.timeMs }, 0, target.timeMs + 1);
    const cut = await this.#cutLog(first, true);
    if (cut.kind === 'gap') {
      for (const unused of [target, first]) await unlinkFile(unused.path);
      return null;
    }
    this.#add(target, base.bytes);
    if (cut.kind === 'nothing') return base.bytes;
    this.#add(first, cut.bytes);
    const bytes = base.bytes + cut.bytes + (cut.isMore ? ((await this.#follow(true)) ?? 0) : 0);
    // Another base would need this log as well.
    if (this.#point !== null) this.#point = { ...this.#point, baseBytes: bytes, sinceBytes: 0 };
    return bytes;
  }

  /** What a process that has ended left is cut to its end first. */
  #mayEnd(point: SeriesPoint): boolean {
    return this.#kept === null && isLongSeries(point, this.#parts.clock.now());
  }

  async #cutLog(
    { path, txid, timeMs }: Pick<Target, 'path' | 'txid' | 'timeMs'>,
    withFirstPage: boolean,
  ): Promise<CutResult> {
    const { cutter, file } = this.#parts;
    const cut = await cutter.cutSegment({
      log: this.#log(),
      main: file,
      position: this.#position,
      restartsAt: this.#confirmed,
      withFirstPage,
      mostBytes: CUT_BYTES,
      target: path,
      txid,
      timeMs,
      sync: false,
    });
    if (cut.kind === 'segment') {
      this.#position = cut.position;
      this.#isEntering = false;
    }
    return cut;
  }

  async #cutFirstPage(resting: string): Promise<void> {
    if (this.#point === null) return;
    const target = this.#target(this.#point, 0);
    const { path, txid, timeMs } = target;
    const position = this.#position;
    const { cutter } = this.#parts;
    const cut = await cutter.cutFirstPage({ main: resting, position, target: path, txid, timeMs, sync: false });
    if (cut.kind === 'gap') this.#gap(cut.why);
    else this.#add(target, cut.bytes);
  }

  #target(
    { series, txid }: SeriesPoint,
    level: number,
    timeMs = Math.max(this.#parts.clock.now(), this.#lastTimeMs + 1),
  ): Target {
    const folder = join(this.#parts.spool, seriesName(series));
    makeFolderNow(folder);
    const next = txid + 1;
    return { series, level, txid: next, timeMs, path: join(folder, `${level}-${segmentFile(next, next)}`) };
  }

  #add({ series, level, txid, timeMs, path }: Target, bytes: number): void {
    const before = this.#point;
    this.#point =
      level === BASE_LEVEL || before === null
        ? { series, txid, timeMs, baseBytes: bytes, sinceBytes: 0 }
        : { ...before, txid, timeMs, sinceBytes: before.sinceBytes + bytes };
    this.#lastTimeMs = timeMs;
    this.#parts.uploads.add({ id: this.#parts.id, series, level, min: txid, max: txid, path, bytes, timeMs });
  }

  #gap(why: string): void {
    this.#point = null;
    this.#parts.onGap(why);
  }

  /** Lets the log be written over once all of it is safe on this disk or in the store. */
  async #confirmIfLong(confirms: boolean): Promise<void> {
    const position = this.#position;
    if (position === null || this.#kept !== null || this.#point === null) return;
    const { confirmFrames = CONFIRM_FRAMES } = this.#parts;
    if (position.frames < confirmFrames && !confirms) return;
    const isConfirmed =
      this.#isTold && position.salts === this.#confirmed?.salts && position.frames === this.#confirmed.frames;
    if (isConfirmed && !confirms) return;
    const { uploads, spoolBytes, id, spool, confirm } = this.#parts;
    if (uploads.bytes > spoolBytes && (uploads.away !== null || position.frames > MOST_FRAMES_WAITING)) {
      // The store is away, or too slow, for too long: what waits is given up for a base.
      await uploads.drop(id);
      this.#gap('the spool is full');
    } else if (uploads.bytes > spoolBytes) {
      // What the store takes makes room; until then the log keeps the frames.
      return;
    } else {
      await syncSpooled(spool, this.#point.series, uploads.waiting(id));
    }
    this.#confirmed = position;
    this.#isTold = true;
    confirm(position);
  }
}
