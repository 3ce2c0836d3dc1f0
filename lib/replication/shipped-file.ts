/**
 * The replica of one file that is open: what was committed to it since the last look becomes a segment in the spool.
 * Everything here runs in order, one step at a time. What cannot be shown to follow the segment before begins a new
 * series with a base.
 */
import { syncFolderNow, unlinkFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { bytesAtNow } from '../base/strangers-file.ts';
import type { CutResult, LogPosition } from './log/cut.ts';
import { cutNow } from './log/cut-now.ts';
import { KeptLog } from './log/kept-log.ts';
import { hasMoreThan, isSettled, logStamp } from './log/log-end.ts';
import type { LogEnd } from './log/log-walk.ts';
import { BASE_LEVEL, newSeries } from './names/replica-names.ts';
import { begunAt, isLongSeries, type SeriesPoint, wentOnTo } from './names/series-point.ts';
import { type SegmentTarget, type ShippedFileParts, segmentIn } from './shipped-file-parts.ts';
import { syncSpooled } from './spool/spool.ts';
import { spoolCutter } from './spool/spool-cutter.ts';
import { SpoolRoom } from './spool/spool-room.ts';

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

export class ShippedFile {
  readonly #parts: ShippedFileParts;
  /** Whether the spool takes what is cut of it. */
  readonly room: SpoolRoom;
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
  /** A stamp that shows by itself that nothing was written since. */
  #settled = '';
  /** Nobody writes the log any more, and it was cut to its end. */
  #isLast = false;
  /** Where the file itself is read. */
  #main: string;
  /** Where the log is read once its process was told to close. */
  readonly #kept: KeptLog;
  #work: Promise<unknown> = Promise.resolve();
  #isCutting = false;

  /** `point`: where the replica of the file ends, which is as the file is now; null: a new series begins. */
  constructor(parts: ShippedFileParts, point: SeriesPoint | null, lastTimeMs: number) {
    this.#parts = { ...parts, cutter: spoolCutter(parts.cutter) };
    this.room = new SpoolRoom(parts);
    this.#main = parts.file;
    this.#kept = new KeptLog(parts);
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
    return this.#point === null || logStamp(this.#log()) !== this.#seen;
  }

  /** Whether everything that was committed by now was cut. Looks into a log that was written a moment ago. */
  get isWhole(): boolean {
    if (this.isBehind) return false;
    const seen = this.#seen;
    if (seen === this.#settled) return true;
    if (hasMoreThan(this.#log(), this.#position)) return false;
    if (isSettled(seen)) this.#settled = seen;
    return true;
  }

  /** Whether something may have been committed to a log so long that its writer may soon wait for a confirmation. */
  get isLong(): boolean {
    return this.isBehind && bytesAtNow(this.#log()) >= LONG_LOG_BYTES;
  }

  /** Absolute: the second name of the log; null: it has one. */
  get keptLog(): string | null {
    return this.#kept.path;
  }

  /**
   * Cuts what was committed since the last time; returns its bytes. `confirms`: a short log is confirmed too. Never
   * rejects.
   */
  ship({ confirms = false }: { confirms?: boolean } = {}): Promise<number> {
    return this.#next(async () => (await this.#ship({ confirms })) ?? 0);
  }

  /** Cuts all that was committed by now; returns the point that has it, null when it could not be. Never rejects. */
  shipAll(): Promise<SeriesPoint | null> {
    return this.#next(async () => ((await this.#ship({ isCertain: true })) === null ? null : this.#point));
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
      this.#seen = logStamp(this.#log());
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
   * SQLite removes it. Synchronous. One that cannot be linked stays beside its file. Never throws.
   */
  keepLog(): void {
    this.#kept.keep();
  }

  /** What comes next begins a new series: the former one has a hole. `why` is a clause. */
  endSeries(why: string): void {
    void this.#next(async () => this.#point !== null && this.#gap(why));
  }

  /** The process goes on with its log. Never throws. */
  letLogGo(): void {
    this.#kept.letGo();
  }

  /**
   * Cuts the rest of the log and the first page of the file at rest (`resting`, absolute; its pages are those of the
   * last commit). Resolves with the point that the file is at; null when it has to begin anew. Never rejects.
   */
  rest(resting: string): Promise<SeriesPoint | null> {
    return this.#next(async () => {
      this.#main = resting;
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
    await this.#ship({ isLast: true });
    if (this.isBehind && this.#point !== null) this.#gap('what was committed last could not be cut');
    this.#isLast = true;
  }

  #log(): string {
    return this.#kept.path ?? `${this.#parts.file}-wal`;
  }

  /** Returns the bytes that were cut; null when they could not be. `isCertain`: whatever the log's stat says. */
  async #ship({ confirms = false, isCertain = false, isLast = false } = {}): Promise<number | null> {
    const stamp = logStamp(this.#log());
    const isBehind = isCertain || this.#point === null || stamp !== this.#seen;
    if (!isBehind && !confirms) return 0;
    if (isBehind && !isLast && !this.room.mayTry) return null;
    try {
      if (this.#point === null && !(await this.room.hasForBase(this.#parts.file, this.#log(), () => this.#walk()))) {
        this.#passOver(await this.#walk());
        this.#seen = stamp;
        return 0;
      }
      const bytes = isBehind ? await this.#cut() : 0;
      if (isBehind) this.#seen = stamp;
      this.room.taken();
      await this.#confirmIfLong(confirms);
      return bytes;
    } catch (error) {
      // The disk refused, or a stranger's bytes did: the frames are in the log still.
      this.#parts.log.warn({ id: this.#parts.id, error: messageOf(error) }, 'a segment could not be cut');
      await this.#refused(error);
      return null;
    }
  }

  /** What could not be cut stays in the log, until that is so long that its writer would wait. Never rejects. */
  async #refused(error: unknown): Promise<void> {
    if (error instanceof Error && 'syscall' in error) this.room.refused(error);
    if (bytesAtNow(this.#log()) < LONG_LOG_BYTES) return;
    const end = await this.#walk().catch(() => null);
    if (this.#kept.path !== null || end === null || end.bytes < LONG_LOG_BYTES) return;
    if (this.#point !== null) this.#gap(`its log could not be cut: ${messageOf(error)}`);
    this.#passOver(end);
  }

  #walk(): Promise<LogEnd | null> {
    return this.#parts.cutter.walkLog({ log: this.#log(), position: this.#position });
  }

  /** Lets a log be written over of which nothing is shipped: a base follows once there is room for one. */
  #passOver(end: LogEnd | null): void {
    if (this.#kept.path !== null) return;
    this.#position = end?.position ?? null;
    if (end === null) return;
    this.#confirmed = end.position;
    this.#isTold = true;
    this.#parts.confirm(end.position);
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
    const { term, clock, cutter, confirm } = this.#parts;
    const timeMs = Math.max(clock.now(), this.#lastTimeMs + 1);
    const started: SeriesPoint = { series: newSeries(term, timeMs), txid: 0, timeMs, baseBytes: 0, sinceBytes: 0 };
    // What was confirmed may be under way: a log that begins anew behind it is no gap.
    if (this.#confirmed !== null) confirm(NOWHERE);
    this.#isTold = false;
    const target = this.#target(started, BASE_LEVEL);
    const { path, txid } = target;
    const log = this.#log();
    const request = { log, main: this.#main, target: path, txid, timeMs: target.timeMs, sync: false };
    const made = [target];
    let isKept = false;
    try {
      const base = await cutter.cutBase(request);
      if (base.kind === 'gap') return null;
      this.#position = base.position;
      const first = this.#target({ ...started, txid, timeMs: target.timeMs }, 0, target.timeMs + 1);
      made.push(first);
      const cut = await this.#cutLog(first, true, Number.MAX_SAFE_INTEGER);
      if (cut.kind === 'gap') return null;
      isKept = true;
      this.#add(target, base.bytes);
      if (cut.kind === 'nothing') return base.bytes;
      this.#add(first, cut.bytes);
      const bytes = base.bytes + cut.bytes + (cut.isMore ? ((await this.#follow(true)) ?? 0) : 0);
      // Another base would need this log as well.
      if (this.#point !== null) this.#point = { ...this.#point, baseBytes: bytes, sinceBytes: 0 };
      return bytes;
    } finally {
      // Nobody knows of what was not added.
      if (!isKept) for (const { path: unused } of made) await unlinkFile(unused);
    }
  }

  /** What a process that has ended left is cut to its end first. */
  #mayEnd(point: SeriesPoint): boolean {
    return this.#kept.path === null && isLongSeries(point, this.#parts.clock.now());
  }

  async #cutLog(
    { path, txid, timeMs }: Pick<SegmentTarget, 'path' | 'txid' | 'timeMs'>,
    withFirstPage: boolean,
    mostBytes = CUT_BYTES,
  ): Promise<CutResult> {
    const cut = await this.#parts.cutter.cutSegment({
      ...{ log: this.#log(), main: this.#main, position: this.#position, restartsAt: this.#confirmed },
      ...{ withFirstPage, mostBytes, target: path, txid, timeMs, sync: false },
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
    const request = { main: resting, position: this.#position, target: path, txid, timeMs, sync: false };
    const cut = await this.#parts.cutter.cutFirstPage(request);
    if (cut.kind === 'gap') this.#gap(cut.why);
    else this.#add(target, cut.bytes);
  }

  #target(
    { series, txid }: SeriesPoint,
    level: number,
    timeMs = Math.max(this.#parts.clock.now(), this.#lastTimeMs + 1),
  ): SegmentTarget {
    return segmentIn(this.#parts.spool, { series, level, txid: txid + 1, timeMs });
  }

  #add({ series, level, txid, timeMs, path }: SegmentTarget, bytes: number): void {
    const before = level === BASE_LEVEL ? null : this.#point;
    this.#point =
      before === null ? begunAt({ series, txid, timeMs }, bytes) : wentOnTo(before, { txid, timeMs }, bytes);
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
    if (position === null || this.#kept.path !== null || this.#point === null) return;
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
      await syncSpooled(spool, uploads.waiting(id)).catch(async (error: unknown) => {
        // What the disk refused to keep may be wrong where it lies.
        await uploads.drop(id);
        this.#gap(`what waits for the store could not be made durable: ${messageOf(error)}`);
        throw error;
      });
    }
    this.#confirmed = position;
    this.#isTold = true;
    confirm(position);
  }
}
