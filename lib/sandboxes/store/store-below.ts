/** The object store below the drawers of one engine: its uploads, its cached copies, and what is removed from it. */

import { isCloudAddress } from '../../base/cloud-address.ts';
import { messageOf, type WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { InstanceRow } from '../../registry/types.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { Engine, StoreBelow } from '../engine.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { StoreWork } from '../sandboxes.ts';
import { bringHome, type HomeComing, type HomeProgress } from './bring-home.ts';
import { StoreCache } from './cache.ts';
import { type NamedElsewhere, StoreCollector } from './collector.ts';
import { type IsMissing, MissingObjects } from './missing-objects.ts';
import { StoreFaults } from './store-faults.ts';
import { UploadQueue, type UploadState } from './upload-queue.ts';

export interface StoreBelowOptions {
  /** For who waits. */
  objects: ObjectStore;
  /** For work that nobody waits for: while the store is away it goes on without end. Default: the same. */
  background?: ObjectStore;
  /** Whether an object is missing for certain. Default: the first answer is believed. */
  isMissing?: IsMissing;
  /** Throws `storage_unavailable` unless the store has the marker of this installation. Default: it has. */
  requireMarker?: (signal: AbortSignal) => Promise<void>;
  /** The most bytes of cached copies. */
  cacheBytes: number;
  /** When filing answers: once its file is stored, or at once. */
  ack: 'stored' | 'queued';
  /** Nothing more is uploaded, and filing does not wait for it. Default: false. */
  isLeaving?: boolean;
  /** Whether a copy or a backup names an object. Default: none does. */
  isNamedElsewhere?: NamedElsewhere;
  /** How long a cached copy stays after its last use, in milliseconds; for tests. */
  cacheKeptMs?: number;
}

export class DrawerStore implements StoreBelow, StoreWork {
  readonly objects: ObjectStore;
  readonly #uploads: UploadQueue;
  readonly #cache: StoreCache;
  readonly #collector: StoreCollector;
  readonly #missing: MissingObjects;
  readonly #faults: StoreFaults;
  readonly #engine: Engine;
  readonly #ack: 'stored' | 'queued';
  readonly #isLeaving: boolean;
  readonly requireMarker: (signal: AbortSignal) => Promise<void>;
  #finding: Promise<void> = Promise.resolve();

  constructor(engine: Engine, options: StoreBelowOptions) {
    const { objects, background = objects, isMissing = async () => true, cacheBytes, cacheKeptMs } = options;
    const {
      ack,
      isNamedElsewhere = async () => false,
      requireMarker = async () => undefined,
      isLeaving = false,
    } = options;
    this.#engine = engine;
    this.#ack = ack;
    this.#isLeaving = isLeaving;
    this.requireMarker = requireMarker;
    this.objects = objects;
    this.#uploads = new UploadQueue(engine, { objects: background, used: (row) => this.used(row) });
    this.#faults = new StoreFaults(engine);
    this.#missing = new MissingObjects(engine, isMissing);
    this.#cache = new StoreCache(engine, cacheBytes, cacheKeptMs === undefined ? {} : { keptMs: cacheKeptMs });
    this.#collector = new StoreCollector(engine, background, isNamedElsewhere);
  }

  uploadOf(row: Pick<InstanceRow, 'id' | 'state' | 'vfsPath'>): UploadState {
    return this.#isLeaving ? 'none' : this.#uploads.stateOf(row);
  }

  get uploading(): number {
    return this.#uploads.running;
  }

  get cached(): { files: number; bytes: number } {
    return this.#cache.usage;
  }

  collect(): Promise<number> {
    return this.#collector.collect();
  }

  bringHome(progress?: HomeProgress): Promise<HomeComing> {
    return bringHome(this.#engine, progress);
  }

  abort(id: InstanceId): void {
    this.#cache.drop(id);
    this.#uploads.abort(id);
  }

  filed(row: InstanceRow): void {
    if (isCloudAddress(row.vfsPath)) this.#cache.used(row);
    else this.#uploads.add(row);
  }

  settleFault(runtime: SandboxRuntime, row: InstanceRow): Promise<InstanceRow> {
    return this.#faults.settle(runtime, row);
  }

  lookAtFaults(): Promise<void> {
    return this.#faults.look();
  }

  missing(row: InstanceRow, cause: unknown): Promise<WinterdockError> {
    return this.#missing.errorFor(row, cause);
  }

  used(row: InstanceRow): void {
    this.#cache.used(row);
  }

  /** The row of a filing, when its answer may be given. Throws as `UploadQueue.whenStored`. */
  async acknowledged(row: InstanceRow): Promise<InstanceRow> {
    return this.#ack === 'queued' || this.#isLeaving ? row : this.#uploads.whenStored(row);
  }

  /** The row once its file is whole in the store, whatever filings wait for. Throws as `UploadQueue.whenStored`. */
  whenStored(row: InstanceRow): Promise<InstanceRow> {
    return this.#uploads.whenStored(row);
  }

  async start(): Promise<void> {
    await this.#uploads.start(!this.#isLeaving);
    this.#collector.start();
    this.#faults.start();
    this.#finding = this.#cache
      .start()
      .catch((error: unknown) => this.#engine.log.error({ error: messageOf(error) }, 'cached copies'));
  }

  async stop(): Promise<void> {
    await Promise.all([
      this.#uploads.stop(),
      this.#collector.stop(),
      this.#missing.stop(),
      this.#faults.stop(),
      this.#finding,
    ]);
    await this.#cache.stop();
  }
}
