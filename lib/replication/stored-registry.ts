/** Waits until the store has what the registry committed; whoever waits at the same time has one segment in common. */

import { compareSeries, REGISTRY_ID } from './names/replica-names.ts';
import type { ShippedRegistry } from './shipped-registry.ts';
import type { StoredUpTo } from './shipping/lacking-replicas.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { SharedRounds } from './shipping/shared-rounds.ts';
import { MOST_UNCUT_MS, StoredPoints } from './stored-points.ts';

type Keeper = Pick<ShippedRegistry, 'begun' | 'isShipping' | 'isRefused' | 'file'>;

export class StoredRegistry {
  readonly #keeper: Keeper;
  readonly #uploads: SegmentUploads;
  readonly #points: StoredPoints;
  readonly #rounds = new SharedRounds(() => this.#round());

  /** Before the registry begins to ship. */
  constructor(keeper: Keeper, uploads: SegmentUploads) {
    this.#keeper = keeper;
    this.#uploads = uploads;
    this.#points = new StoredPoints(uploads);
    this.#points.follow(REGISTRY_ID, null);
    uploads.putFirst(REGISTRY_ID, true);
  }

  /** Resolves with whether the store has what was committed by now; false: it is away. */
  join(): Promise<boolean> {
    return this.#rounds.join();
  }

  /** Up to where the store was given its replica; null: something of it is still to come. */
  storedUpTo(): StoredUpTo | null {
    const point = this.#keeper.file?.point ?? null;
    if (point === null || this.#uploads.waiting(REGISTRY_ID).length > 0) return null;
    return { id: REGISTRY_ID, series: point.series, txid: point.txid };
  }

  /** The store lacks what it was given: a series begins, unless one has since. */
  shipAnew({ series }: StoredUpTo): void {
    const file = this.#keeper.file;
    if (file?.point == null || compareSeries(file.point.series, series) !== 0) return;
    file.endSeries('the store lacks what it was given');
  }

  async #round(): Promise<boolean> {
    const beganMs = performance.now();
    const isOver = () => this.#keeper.isRefused && performance.now() - beganMs > MOST_UNCUT_MS;
    while (this.#uploads.away === null) {
      const file = await this.#keeper.begun(() => isOver() || this.#uploads.away !== null);
      if (file === null) return false;
      const outcome = await this.#points.whenStored(REGISTRY_ID, file, () => !this.#keeper.isShipping(file));
      if (outcome !== 'gone') return outcome === 'stored';
    }
    return false;
  }
}
