/**
 * What is promised of `sync` sandboxes: what an answer says is in the store, whether it was done or only read. For any
 * other sandbox nothing waits.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isCloudAddress } from '../base/cloud-address.ts';
import type { InstanceId } from '../base/ids.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { OpenReplicas } from './open-replicas.ts';
import type { AnswerBarrier, AnswerPatience, PromisedRow } from './promise/answer-barrier.ts';
import { committedUnreplicated, notProvenOwn, refusedUnreplicated, type WhyNothing } from './promise/not-replicated.ts';
import type { ReplicateClass } from './promise/replicate-class.ts';
import { type RestingReplicas, restsAsItsOwn } from './resting-replicas.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { MOST_UNCUT_MS } from './stored-points.ts';

export interface SyncPromiseParts {
  open: OpenReplicas;
  resting: RestingReplicas;
  uploads: Pick<SegmentUploads, 'away' | 'waiting' | 'hurry'>;
  classOf: (row: Pick<InstanceRow, 'tenant' | 'replicate'>) => ReplicateClass;
  rowOf: (id: InstanceId) => Promise<InstanceRow | null>;
  /** Ships the file of a row at rest whole, now. */
  shipResting: (row: InstanceRow) => Promise<void>;
  /** Resolves with whether the store has the copy that a sandbox which was never awake is made of. */
  copyStored: (row: InstanceRow) => Promise<boolean>;
  /** Resolves with whether the store has what the registry committed by now: not while it is away. */
  registryStored: () => Promise<boolean>;
  /** Whether the spool has no room for the file of a row at rest, or took nothing of it when that was last tried. */
  isRefusedAtRest: (row: InstanceRow) => boolean;
  /** Whether so many bytes have room in the spool. */
  hasRoomFor: (bytes: number) => boolean;
}

const AGAIN_MS = 100;
/** With less room in the spool nothing is begun: a segment of a few pages has a few blocks. */
const LEAST_ROOM_BYTES = 64 * 1024;

export class SyncPromise implements AnswerBarrier {
  readonly #parts: SyncPromiseParts;

  constructor(parts: SyncPromiseParts) {
    this.#parts = parts;
  }

  isInStep(id: InstanceId): boolean {
    return this.#parts.open.isInStep(id);
  }

  whenInStep(id: InstanceId, patience: AnswerPatience = {}): Promise<void> {
    const late = () => committedUnreplicated(`the sandbox "${id}"`);
    return this.#within(patience, late, (isOver) => this.#fileStored(id, isOver));
  }

  async requireStore(id: InstanceId): Promise<void> {
    const { open, rowOf } = this.#parts;
    const isSync = open.isSync(id);
    if (isSync === false) return;
    const why = this.#whyNothing(id);
    if (why === null) return;
    const row = isSync === null ? await rowOf(id) : null;
    if (isSync || (row !== null && this.#isSync(row))) this.#refuse(id, why);
  }

  requireStoreFor(row: PromisedRow, { makesRoom = false } = {}): void {
    const why = this.#whyNothing(makesRoom ? null : row.id);
    if (why !== null && this.#isSync(row)) this.#refuse(row.id, why);
  }

  async whenRecorded(row: PromisedRow, patience: AnswerPatience = {}): Promise<void> {
    if (!this.#isSync(row)) return;
    const late = () => committedUnreplicated(`the row of "${row.id}"`);
    await this.#within(patience, late, () => this.#parts.registryStored());
  }

  /** Whether the store has everything of a sandbox; false: it is away. */
  async #fileStored(id: InstanceId, isOver: () => boolean): Promise<boolean> {
    const { open, resting, uploads, rowOf, shipResting, isRefusedAtRest, copyStored } = this.#parts;
    let unshippedMs: number | null = null;
    while (!isOver()) {
      const outcome = await open.whenInStep(id);
      if (outcome === 'taken' || outcome === 'unknown') throw notProvenOwn(`the sandbox "${id}"`, outcome);
      if (outcome !== 'gone') return outcome === 'stored';
      const asked = await rowOf(id);
      if (asked !== null && !this.#isSync(asked)) return true;
      await resting.whenRested(id);
      const row = await rowOf(id);
      const isOwn = row !== null && restsAsItsOwn(row);
      if (row?.state === 'created' && !isOwn && this.#isSync(row)) return copyStored(row);
      // What is in the store below the drawers is elsewhere already, and of what is damaged nothing is read.
      const rests = isOwn && row.file !== null && row.fault === null;
      if (!rests || isCloudAddress(row.vfsPath) || !this.#isSync(row) || open.has(id)) {
        if (open.has(id)) continue;
        return true;
      }
      if (resting.positionOf(row)?.isShipped) return true;
      if (uploads.away !== null) return false;
      if (uploads.waiting(id).length > 0) await open.points.changed(id);
      else {
        await shipResting(row);
        if (uploads.waiting(id).length > 0) continue;
        unshippedMs = isRefusedAtRest(row) ? (unshippedMs ?? performance.now()) : null;
        if (unshippedMs !== null && performance.now() - unshippedMs > MOST_UNCUT_MS) return false;
        await pause(AGAIN_MS);
      }
    }
    return false;
  }

  #isSync(row: Pick<InstanceRow, 'tenant' | 'replicate'>): boolean {
    return this.#parts.classOf(row).kind === 'sync';
  }

  /** Why nothing of a sandbox can reach the store now, as far as is known; null: it can. `id` null: of any. */
  #whyNothing(id: InstanceId | null): WhyNothing | null {
    const { uploads, open, hasRoomFor } = this.#parts;
    if (uploads.away !== null) return 'store';
    if (id === null) return null;
    return open.isRefused(id) || !hasRoomFor(LEAST_ROOM_BYTES) ? 'spool' : null;
  }

  #refuse(id: InstanceId, why: WhyNothing): never {
    this.#parts.uploads.hurry();
    throw refusedUnreplicated(`The sandbox "${id}"`, why);
  }

  /** Waits for `stored`, as long as the patience is. Throws `late` when that was not long enough. */
  async #within(
    { isPatient = false, mostMs, signal }: AnswerPatience,
    late: () => Error,
    stored: (isOver: () => boolean) => Promise<boolean>,
  ): Promise<void> {
    const over = new AbortController();
    const ending = AbortSignal.any([over.signal, ...(signal ? [signal] : [])]);
    const isOver = () => ending.aborted;
    const timer = mostMs === undefined ? undefined : setTimeout(() => over.abort(), mostMs);
    const ended = new Promise<false>((resolve) => {
      if (ending.aborted) resolve(false);
      ending.addEventListener('abort', () => resolve(false), { once: true });
    });
    try {
      for (;;) {
        if (await Promise.race([stored(isOver), ended])) return;
        this.#parts.uploads.hurry();
        if (!isPatient || isOver()) throw late();
        await pause(AGAIN_MS, undefined, { ref: false });
      }
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }
}
