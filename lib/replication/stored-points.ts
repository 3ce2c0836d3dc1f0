/**
 * How far the store is with each file that is shipped, and waits until it has what was committed. Knows nothing of who
 * waits, or for what.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type SegmentSeries, seriesName } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import type { ShippedFile } from './shipped-file.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';

/**
 * `gone`: the file is not shipped by this any more. `taken`: it is another host's. `unknown`: whose it is was not
 * answered.
 */
export type StoredOutcome = 'stored' | 'away' | 'gone' | 'taken' | 'unknown';

export type Reached = Pick<SeriesPoint, 'series' | 'txid'>;

/** Until what could not be cut is tried again, in milliseconds. */
const AGAIN_MS = 50;
/** A file that could not be cut for so long is as one of which the store lacks something while it is away. */
export const MOST_UNCUT_MS = 5000;

export class StoredPoints {
  readonly #uploads: Pick<SegmentUploads, 'waiting' | 'away' | 'whenShipped' | 'onShipped' | 'onAway'>;
  readonly #reached = new Map<string, Reached>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(uploads: Pick<SegmentUploads, 'waiting' | 'away' | 'whenShipped' | 'onShipped' | 'onAway'>) {
    this.#uploads = uploads;
    uploads.onShipped(({ id, series, max }) => {
      if (this.#reached.has(id) || this.#waiting.has(id)) this.#reached.set(id, { series, txid: max });
      this.#tell(id);
    });
    uploads.onAway(() => {
      for (const id of [...this.#waiting.keys()]) this.#tell(id);
    });
  }

  /** From now on the store is followed for a file, of which it has everything up to `point`; null: nothing. */
  follow(id: string, point: Reached | null): void {
    this.#reached.set(id, point ?? NOTHING);
  }

  /** Up to where the store has each file that is followed. */
  all(): { id: string; series: SegmentSeries; txid: number }[] {
    return [...this.#reached].flatMap(([id, reached]) => (reached === NOTHING ? [] : [{ id, ...reached }]));
  }

  /** Up to where the store has a file. */
  reached(id: string): Reached {
    return this.#reached.get(id) ?? NOTHING;
  }

  unfollow(id: string): void {
    this.#reached.delete(id);
    this.#tell(id);
  }

  /** Whether the store has everything that was committed to a file by now. Memory, and a look at its log. */
  isStored(id: string, file: Pick<ShippedFile, 'point' | 'isWhole'>): boolean {
    const { point } = file;
    return point !== null && this.#has(id, point) && file.isWhole;
  }

  /**
   * Cuts what was committed to a file by now, and resolves once the store has that, is away, or `isGone` says that the
   * file is another one. One that cannot be cut is `away` after a while, and at once where it was so before. Never
   * rejects.
   */
  async whenStored(
    id: string,
    file: Pick<ShippedFile, 'shipAll' | 'endSeries' | 'room'>,
    isGone: () => boolean,
  ): Promise<StoredOutcome> {
    let uncutMs: number | null = null;
    for (let before: SeriesPoint | null = null; !isGone(); ) {
      const point = await file.shipAll();
      if (point === null) {
        uncutMs ??= file.room.refusal?.sinceMs ?? performance.now();
        if (this.#uploads.away !== null || performance.now() - uncutMs > MOST_UNCUT_MS) return 'away';
        await pause(AGAIN_MS);
        continue;
      }
      while (!this.#has(id, point) && this.#isWaiting(id, point) && !isGone()) {
        if (this.#uploads.away !== null) return 'away';
        await this.changed(id);
      }
      if (this.#has(id, point)) return 'stored';
      // It was given up: a base follows, if not by itself.
      if (before !== null && isSameReach(before, point)) file.endSeries('a segment was given up before it was stored');
      before = point;
    }
    return 'gone';
  }

  /** Resolves when the store has one more segment of a file, or nothing more of it is to come, or it is away. */
  async changed(id: string): Promise<void> {
    const told = Promise.withResolvers<void>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(told.resolve));
    await Promise.race([told.promise, this.#uploads.whenShipped(id)]);
    waiting.delete(told.resolve);
    if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
  }

  #tell(id: string): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    for (const resolve of waiting ?? []) resolve();
  }

  #has(id: string, point: Reached): boolean {
    const reached = this.#reached.get(id);
    return reached !== undefined && isSameSeries(reached, point) && reached.txid >= point.txid;
  }

  #isWaiting(id: string, point: Reached): boolean {
    return this.#uploads.waiting(id).some((one) => isSameSeries(one, point) && one.max >= point.txid);
  }
}

const NOTHING: Reached = { series: { term: 0, token: '' }, txid: 0 };
const isSameSeries = (one: Pick<Reached, 'series'>, other: Pick<Reached, 'series'>) =>
  seriesName(one.series) === seriesName(other.series);
export const isSameReach = (one: Reached, other: Reached) => isSameSeries(one, other) && one.txid === other.txid;
