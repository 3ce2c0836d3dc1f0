/**
 * The replica of the registry: keeps its log until everything in it is shipped, and has it checkpointed then. Whoever
 * writes the registry writes in this process and synchronously, so that between the cut of its last commits and the
 * checkpoint nobody does. The registry waits for nothing: what cannot be kept is given up, and a base begins anew.
 *
 * The registry's file and its index are opened here by nobody: closing any descriptor of them drops the locks of SQLite
 * in this process. Only its log is read here; bases are read by a process of their own.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { unlinkFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { bytesAtNow, lookAtNow } from '../base/strangers-file.ts';
import type { OpenLog, RegistryLogKeeper } from '../registry/log-keeper.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { removeOlder } from './levels/older-series.ts';
import type { BaseCut, BaseRequest, LogPosition } from './log/cut.ts';
import type { Cutter } from './log/cutter.ts';
import { LogReader } from './log/log-reader.ts';
import { compareSeries, REGISTRY_ID } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import { isFileOf, Positions, type RestedFile, restedNow } from './positions.ts';
import { ShippedFile } from './shipped-file.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { leadsTo } from './spool/spool.ts';

/** How often the log is looked at, in milliseconds; and after much was written to it. */
const LOOK_MS = 1000;
const FAST_LOOK_MS = 50;
const FAST_BYTES = 4 * 1024 * 1024;
/** Of a page of the registry, with its head. */
const FRAME_BYTES = 2048 + 24;
/** A log of 4 MiB is checkpointed once it is safe. */
const CONFIRM_FRAMES = Math.floor((4 * 1024 * 1024) / FRAME_BYTES);
/** A log of 256 MiB that could not be shipped is given up for a base. */
const MOST_FRAMES = Math.floor((256 * 1024 * 1024) / FRAME_BYTES);
/**
 * Bytes of the last commits that are cut while nobody else runs, at most: some ten milliseconds. Of a long log
 * half, so that it stays bounded whoever writes.
 */
const NOW_BYTES = 1024 * 1024;
const NOW_SHARE = 1 / 2;
/** A base that failed is tried again after this time, doubled up to the longest. */
const AGAIN_MS = 1000;
const LONGEST_AGAIN_MS = 60_000;
const POLL_MS = 50;
const MOST_ROUNDS = 5;

export interface ShippedRegistryParts {
  /** Absolute. */
  dataFolder: string;
  uploads: SegmentUploads;
  cutter: Pick<Cutter, 'cutSegment' | 'walkLog'>;
  /** Cuts a base in another process, which ends once `signal` is aborted. */
  cutBase: (request: BaseRequest, signal: AbortSignal) => Promise<BaseCut>;
  store: Pick<ObjectStore, 'list' | 'purge'>;
  clock: Clock;
  log: Logger;
  /** The term of this host. */
  term: number;
  /** Bytes on this disk that wait for the store, at most, with those of sandboxes. */
  spoolBytes: number;
  /** Its history has a gap of moments; `why` is a clause. */
  onGap: (why: string) => void;
}

type Confirmed = Pick<LogPosition, 'salts' | 'frames'>;

/** One series after another, each until the registry forgets something. */
interface Shipping {
  file: ShippedFile;
  /** Aborted when nothing of it counts any more. */
  ending: AbortController;
}

export class ShippedRegistry implements RegistryLogKeeper {
  #parts: ShippedRegistryParts | null = null;
  #positions: Positions | null = null;
  #path = '';
  /** The file as it was before it was opened; null: there was none, or a log beside it. */
  #found: RestedFile | null = null;
  #log: OpenLog | null = null;
  #shipping: Shipping | null = null;
  #lastTimeMs = 0;
  /** Up to where the log may go. */
  #safe: Confirmed | null = null;
  #isShipping = false;
  /** A base is being read, or what was committed after it. */
  #isBeginning = false;
  #isWanted = false;
  #isStopped = false;
  #failures = 0;
  /** Monotonic milliseconds before which no base is begun. */
  #againMs = 0;
  #behindSinceMs: number | null = null;
  #ended: { point: SeriesPoint; file: RestedFile | null } | null = null;
  #timer: NodeJS.Timeout | null = null;
  #fast: NodeJS.Timeout | null = null;
  #work: Promise<unknown> = Promise.resolve();

  /** Begins to ship, with what the server has built since it opened the registry. */
  async start(parts: ShippedRegistryParts): Promise<void> {
    const positions = new Positions(join(parts.dataFolder, 'replica', 'registry'));
    await positions.open();
    const position = positions.get(REGISTRY_ID);
    const isWhole = position !== null && (position.isShipped || leadsTo(parts.uploads.waiting(REGISTRY_ID), position));
    const isKnown = isWhole && this.#found !== null && isFileOf(position, this.#found);
    this.#lastTimeMs = position?.timeMs ?? 0;
    // From here on the file is another one.
    await positions.remove(REGISTRY_ID);
    this.#positions = positions;
    this.#parts = parts;
    this.#shipping = this.#shippingFrom(parts, isKnown ? position : null);
    parts.uploads.onShipped(({ id }) => {
      if (id === REGISTRY_ID) this.#shipped();
    });
    parts.uploads.onLost((id) => {
      if (id === REGISTRY_ID) this.file?.endSeries('a segment was lost before it was stored');
    });
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
    this.#look();
  }

  /** Milliseconds for which the store has lacked something that was committed; 0: it has everything. */
  get behindMs(): number {
    return this.#behindSinceMs === null ? 0 : Math.round(performance.now() - this.#behindSinceMs);
  }

  /** As it is shipped now; null: not yet. */
  get file(): ShippedFile | null {
    return this.#shipping?.file ?? null;
  }

  /** Whether no series could be begun when that was last tried. */
  get isRefused(): boolean {
    return this.#failures > 0;
  }

  /** Resolves with the file as it is shipped now, once its series has begun; null: `isOver` said so before. */
  async begun(isOver: () => boolean): Promise<ShippedFile | null> {
    for (; ; await pause(POLL_MS)) {
      const shipping = this.#shipping;
      this.#look();
      await this.#work;
      if (shipping !== null && this.isShipping(shipping.file) && shipping.file.point !== null) return shipping.file;
      if (isOver()) return null;
    }
  }

  isShipping(file: ShippedFile): boolean {
    return this.#shipping?.file === file;
  }

  /** Resolves once the store has everything that is committed by now. */
  async flush(): Promise<void> {
    await (await this.begun(() => this.#isStopped))?.ship();
    await this.#parts?.uploads.whenShipped(REGISTRY_ID);
  }

  /** Ships what was committed until now, durably on this disk. Before the uploads are stopped. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#fast !== null) clearTimeout(this.#fast);
    const shipping = this.#shipping;
    if (shipping === null || this.#parts === null) return;
    if (shipping.file.point === null) shipping.ending.abort();
    await this.#work;
    if (shipping.file.point !== null) await shipping.file.ship({ confirms: true });
  }

  /** After the registry was closed: notes where its replica ends. */
  async noteEnd(): Promise<void> {
    const end = this.#ended;
    if (end === null || end.file === null) return;
    const isShipped = this.#parts?.uploads.waiting(REGISTRY_ID).length === 0;
    await this.#positions?.set(REGISTRY_ID, { ...end.point, isShipped, file: end.file });
  }

  /**
   * After the registry forgot something: resolves once the store has a series that began since, and none of before.
   * Throws what the store throws: then it is tried again. Ends early when `isOver` says so.
   */
  async rebase(isOver: () => boolean): Promise<void> {
    const parts = this.#parts;
    if (parts === null) return;
    const { uploads, store, dataFolder } = parts;
    for (; !isOver() && !this.#isStopped; await pause(POLL_MS)) {
      const began = this.file?.point?.series ?? null;
      if (began === null) {
        this.#look();
        continue;
      }
      await uploads.whenShipped(REGISTRY_ID);
      const now = this.file?.point?.series;
      if (now === undefined || compareSeries(now, began) !== 0) continue;
      const spool = join(dataFolder, 'replica', 'spool', REGISTRY_ID);
      if (await removeOlder({ store, spool, id: REGISTRY_ID, since: began }, isOver)) return;
    }
    if (!isOver()) throw new Error('The replica of the registry has stopped.');
  }

  opening(file: string): void {
    this.#path = file;
    const log = lookAtNow(`${file}-wal`);
    this.#found = log !== null && log.size > 0 ? null : restedNow(file);
  }

  opened(log: OpenLog): void {
    this.#log = log;
  }

  mayGo(): boolean {
    const shipping = this.#shipping;
    // Before the start everything is kept; what was given up keeps nothing.
    if (shipping === null) return this.#parts !== null;
    // Without a series nobody needs the log, unless a base is being read.
    if (shipping.file.point === null) return !this.#isBeginning;
    const now = this.#end();
    if (now === null || this.#safe === null) return this.#wants();
    if (isSame(this.#safe, now)) return true;
    const safe: Confirmed = shipping.file.shipNow(mostNow(now)) ?? this.#safe;
    this.#safe = safe;
    return isSame(safe, now) || this.#wants();
  }

  forgetting(): void {
    this.#giveUp();
    this.#againMs = performance.now() + AGAIN_MS;
  }

  forgot(): void {
    this.#againMs = 0;
    this.#look();
  }

  closing(): void {
    const file = this.#shipping?.file;
    if (file === undefined || file.point === null) return;
    if (this.#log?.frames() === 0 || this.mayGo()) this.#ended = { point: file.point, file: null };
  }

  closed(): void {
    if (this.#ended === null) return;
    const isWhole = lookAtNow(`${this.#path}-wal`) === null;
    this.#ended.file = isWhole ? restedNow(this.#path) : null;
  }

  /** Where the log ends now, by SQLite's own count; null: it could not be asked, or there is none. */
  #end(): Confirmed | null {
    const frames = this.#log?.frames() ?? null;
    const log = frames === null ? null : LogReader.open(`${this.#path}-wal`);
    if (log === null || frames === null) return null;
    try {
      return log.header === null ? null : { salts: log.header.salts, frames };
    } finally {
      log.close();
    }
  }

  /** The log has to stay for now: it is shipped, and checkpointed then. */
  #wants(): false {
    this.#isWanted = true;
    return false;
  }

  #look(): void {
    const [parts, now] = [this.#parts, performance.now()];
    if (parts === null || this.#isStopped) return;
    const { uploads, spoolBytes } = parts;
    const frames = this.#log?.frames() ?? 0;
    if (this.#shipping !== null && frames > MOST_FRAMES && !this.mayGo()) {
      parts.log.warn({ frames }, 'the log of the registry grew faster than it was shipped: its replica begins anew');
      this.#giveUp();
    }
    if (this.#shipping === null && frames > CONFIRM_FRAMES) this.#log?.checkpoint();
    if (this.#shipping === null && now >= this.#againMs) this.#shipping = this.#shippingFrom(parts, null);
    const shipping = this.#shipping;
    if (shipping === null || this.#isShipping) return;
    if (shipping.file.point === null) {
      // A base that the store cannot take would fill the disk.
      const isFull = uploads.away !== null && uploads.bytes > spoolBytes / 2;
      if (now < this.#againMs || isFull) {
        if (frames > CONFIRM_FRAMES) this.#log?.checkpoint();
        return;
      }
    }
    if (shipping.file.isBehind) this.#behindSinceMs ??= now;
    else if (!this.#isWanted) return;
    this.#work = this.#ship(shipping);
  }

  async #ship({ file }: Shipping): Promise<void> {
    this.#isShipping = true;
    let bytes = 0;
    try {
      // Whoever writes fast meanwhile leaves less to the next round than to this one.
      for (let round = 0; round < MOST_ROUNDS && (round === 0 || this.#isWanted); round += 1) {
        const confirms = this.#isWanted;
        this.#isWanted = false;
        bytes += await file.ship({ confirms });
      }
      this.#failures = file.point === null ? this.#failures + 1 : 0;
      const again = Math.min(AGAIN_MS * 2 ** Math.min(this.#failures, 10), LONGEST_AGAIN_MS);
      if (this.#failures > 0) this.#againMs = performance.now() + again;
      if (bytes >= FAST_BYTES) this.#fast ??= setTimeout(() => this.#lookSoon(), FAST_LOOK_MS).unref();
    } finally {
      this.#isShipping = false;
      this.#isBeginning = false;
    }
    this.#shipped();
  }

  #shipped(): void {
    const isWaiting = (this.#parts?.uploads.waiting(REGISTRY_ID).length ?? 0) > 0;
    if (!isWaiting && this.#shipping?.file.isBehind === false) this.#behindSinceMs = null;
  }

  #lookSoon(): void {
    this.#fast = null;
    this.#look();
  }

  /** Ends the series: nothing that is under way is added to it. */
  #giveUp(): void {
    const shipping = this.#shipping;
    if (shipping === null) return;
    shipping.ending.abort();
    this.#lastTimeMs = Math.max(this.#lastTimeMs, shipping.file.lastTimeMs);
    this.#shipping = null;
    this.#safe = null;
    void this.#parts?.uploads.forget(REGISTRY_ID).catch((error: unknown) => this.#warn(error));
  }

  #shippingFrom(parts: ShippedRegistryParts, point: SeriesPoint | null): Shipping {
    const { dataFolder, uploads, cutter, cutBase, clock, log, term, spoolBytes } = parts;
    const ending = new AbortController();
    const { signal } = ending;
    const file = this.#path;
    const shipped = new ShippedFile(
      {
        id: REGISTRY_ID,
        file,
        spool: join(dataFolder, 'replica', 'spool', REGISTRY_ID),
        term,
        cutter: {
          cutSegment: (request) =>
            cutter.cutSegment({ ...request, main: { bytes: bytesAtNow(file) }, withFirstPage: false }),
          cutBase: (request) => {
            this.#isBeginning = true;
            return cutBase({ ...request, main: file }, signal);
          },
          walkLog: (request) => cutter.walkLog(request),
          cutFirstPage: async () => ({ kind: 'gap', why: 'the registry does not rest' }),
        },
        uploads: {
          add: (segment) => {
            if (!signal.aborted) uploads.add(segment);
            else void unlinkFile(segment.path).catch((error: unknown) => this.#warn(error));
          },
          drop: (id) => uploads.drop(id),
          waiting: (id) => uploads.waiting(id),
          get bytes() {
            return uploads.bytes;
          },
          get away() {
            return uploads.away;
          },
        },
        clock,
        log,
        spoolBytes,
        confirmFrames: CONFIRM_FRAMES,
        confirm: (position) => {
          if (!signal.aborted) this.#confirmed(position);
        },
        onGap: parts.onGap,
      },
      point,
      this.#lastTimeMs,
    );
    return { file: shipped, ending };
  }

  /** Everything up to there is safe: the log goes with what was committed since. */
  #confirmed(position: Confirmed): void {
    this.#safe = position.frames === 0 ? null : position;
    if (this.#safe !== null) this.#isBeginning = false;
    if (this.#safe !== null) this.#log?.checkpoint();
  }

  #warn(error: unknown): void {
    this.#parts?.log.warn({ error: messageOf(error) }, 'the spool of the registry was not tidied');
  }
}

const mostNow = ({ frames }: Confirmed) => Math.max(NOW_BYTES, frames * FRAME_BYTES * NOW_SHARE);
const isSame = (one: Confirmed, other: Confirmed) => one.salts === other.salts && one.frames === other.frames;
