/**
 * The second clock: ships what sandboxes commit while they are awake, and what rests and was never shipped. Each
 * second it looks at the logs of the files that are open; a file at rest costs nothing. Knows nothing of how a segment
 * is made or stored.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { makeFolder } from '../base/effects.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { bytesAtNow, isThereNow } from '../base/strangers-file.ts';
import { acquiredBy, orderAtRest } from '../registry/series-order.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { ShippedMark } from '../storage/shipped-mark.ts';
import { AwaitedRests } from './awaited-rests.ts';
import type { Cutter } from './log/cutter.ts';
import { compareSeries, REGISTRY_ID } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import { type OpenReplica, OpenReplicas } from './open-replicas.ts';
import type { AnswerBarrier } from './promise/answer-barrier.ts';
import { OwnerProof } from './promise/owner-proof.ts';
import { everyMsOf, type ReplicateClass, replicateText, shipsCommits } from './promise/replicate-class.ts';
import type { RecoveryPoint, ReplicaOfFiles, ReplicaStatus } from './replica-of-files.ts';
import { RestingReplicas } from './resting-replicas.ts';
import type { BundleWriter } from './segment-bundles/bundle-writer.ts';
import { ShippedFile } from './shipped-file.ts';
import type { ShippedFileParts } from './shipped-file-parts.ts';
import type { StoredUpTo } from './shipping/lacking-replicas.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { removeEmpty, tidySpools } from './spool/spool.ts';
import { hasRoomFor, NO_ROOM, type SpoolRefusal } from './spool/spool-room.ts';
import type { SpooledSegment } from './spool/spooled-segment.ts';
import { SyncPromise } from './sync-promise.ts';

/** Until whoever put a file to rest has an answer. */
const ANSWERED_MS = 25;

export interface ReplicatorParts {
  /** Absolute. */
  dataFolder: string;
  uploads: SegmentUploads;
  /** Is told whose each sandbox is. */
  bundles?: Pick<BundleWriter, 'note'>;
  cutter: Cutter;
  clock: Clock;
  log: Logger;
  /** The term of this host. */
  term: number;
  /** What is promised for a sandbox. */
  classOf: (row: Pick<InstanceRow, 'tenant' | 'replicate'>) => ReplicateClass;
  /** The row of a sandbox as it is now. */
  rowOf: (id: InstanceId) => Promise<InstanceRow | null>;
  /** Resolves with whether the store has the copy that a sandbox which was never awake is made of. */
  copyStored: (row: InstanceRow) => Promise<boolean>;
  /** Resolves with whether the store has what the registry committed by now; false: it is away. */
  registryStored: () => Promise<boolean>;
  /** Which of some sandboxes are still this host's, by its acquisition; null: nobody else uses the registry. */
  stillHeld?: ((ids: readonly InstanceId[]) => Promise<readonly InstanceId[]>) | null;
  spoolBytes: number;
  /** The history of a sandbox has a gap of moments; `why` is a clause. */
  onGap: (id: InstanceId, why: string) => void;
}

export class Replicator implements ReplicaOfFiles {
  readonly #parts: ReplicatorParts;
  readonly #spool: string;
  readonly #uploads: SegmentUploads;
  readonly #open: OpenReplicas;
  readonly #resting: RestingReplicas;
  /** What the spool refused of files at rest when they were last to be shipped whole. */
  readonly #refused = new Map<InstanceId, SpoolRefusal>();
  /** Files at rest that are being shipped whole. */
  readonly #wholes = new Map<InstanceId, Promise<void>>();
  readonly #rests = new AwaitedRests();
  /** Holds answers about `sync` sandboxes back. */
  readonly answers: AnswerBarrier;
  readonly onTaken = (listener: (id: InstanceId) => void): void => this.#open.onTaken(listener);
  #shipResting: (row: InstanceRow) => Promise<void> = async () => undefined;

  constructor(parts: ReplicatorParts) {
    this.#parts = parts;
    const { uploads, clock, log, term, classOf, rowOf, copyStored, registryStored } = parts;
    const folder = join(parts.dataFolder, 'replica');
    this.#spool = join(folder, 'spool');
    this.#uploads = uploads;
    this.#open = new OpenReplicas(uploads, parts.stillHeld ? new OwnerProof(parts.stillHeld) : null);
    const isOpen = (id: InstanceId) => this.#open.has(id);
    this.#resting = new RestingReplicas({ folder: join(folder, 'positions'), term, uploads, clock, log, isOpen });
    this.answers = new SyncPromise({
      ...{ open: this.#open, resting: this.#resting, uploads, classOf, rowOf, copyStored, registryStored },
      shipResting: (row) => this.#shipResting(row),
      isRefusedAtRest: ({ id, file }) => this.#refused.has(id) || !this.hasRoomFor(file?.size ?? 0),
      hasRoomFor: (bytes) => this.hasRoomFor(bytes),
    });
    uploads.keepFoldersOf((id) => id === REGISTRY_ID || this.#open.has(id as InstanceId));
    uploads.onShipped((segment) => this.#shipped(segment));
    uploads.onLost((id) => void this.#lost(id as InstanceId));
  }

  /** Reads where replicas end, and what an earlier process left in the spool. Before any sandbox wakes. */
  async prepare(): Promise<void> {
    await makeFolder(this.#spool);
    this.#uploads.left(await tidySpools(this.#spool));
    await this.#resting.open();
  }

  start(): void {
    this.#uploads.begin();
    this.#open.start();
  }

  /** Ships what is open once more, and ends. What the store has not yet stays in the spool. */
  async stop(): Promise<void> {
    await this.#open.stop();
    await this.#resting.settled();
  }

  get spoolBytes(): number {
    return this.#uploads.bytes;
  }

  get away(): { sinceMs: number; why: string } | null {
    return this.#uploads.away;
  }

  /** Since when the spool has taken nothing of some sandbox, and why; null: it takes what there is. */
  get refusal(): SpoolRefusal | null {
    const all = [...this.#open.refusals(), ...this.#refused.values()];
    return all.reduce<SpoolRefusal | null>((first, one) => (first && first.sinceMs <= one.sinceMs ? first : one), null);
  }

  /** Up to where the store was given the replica of each sandbox. */
  storedUpTo(): StoredUpTo[] {
    return [...this.#resting.storedUpTo(), ...this.#open.points.all()];
  }

  /** The store lacks what it was given of a sandbox: unless another series has begun since, one begins. */
  shipAnew({ id, series }: StoredUpTo): void {
    const known = this.storedUpTo().find((point) => point.id === id);
    if (known === undefined || compareSeries(known.series, series) !== 0) return;
    const why = 'the store lacks what it was given';
    if (!this.#open.has(id as InstanceId)) this.#parts.onGap(id as InstanceId, why);
    void this.#lost(id as InstanceId, why);
  }

  async taken(id: InstanceId): Promise<void> {
    this.#open.letGo(id);
    await this.#resting.left(id);
    await this.#uploads.drop(id);
  }

  /** Sandboxes at rest that are still to be shipped. */
  get stale(): ReadonlySet<InstanceId> {
    return this.#resting.stale;
  }

  /** Calls back when there is one more of them. */
  onStale(listener: () => void): void {
    this.#resting.onStale(listener);
  }

  /** `ship`: ships the file of a row at rest, now. */
  onWanted(ship: (row: InstanceRow) => Promise<void>): void {
    this.#shipResting = ship;
  }

  /** What is promised of a sandbox was changed. */
  reclassified(row: InstanceRow): void {
    this.#open.note(row);
    this.#open.reclassify(this.#parts.classOf);
  }

  /** What is promised of tenants was changed. */
  reclassify(): void {
    this.#open.reclassify(this.#parts.classOf);
  }

  /**
   * How far each file that is open is behind, and each at rest of which the store lacks something, and how far they may
   * be, in milliseconds.
   */
  lags(): { behindMs: number; promisedMs: number; isAwake: boolean }[] {
    return [
      ...this.#open.lags().map((lag) => ({ ...lag, isAwake: true })),
      ...this.#resting.lags().map((lag) => ({ ...lag, isAwake: false })),
    ];
  }

  describe(row: InstanceRow): ReplicaStatus {
    const replicate = this.#parts.classOf(row);
    const isFromNextWake = this.#open.isFromNextWake(row.id, replicate);
    return { ...this.pointOf(row), replicate: replicateText(replicate), isFromNextWake };
  }

  pointOf(row: InstanceRow): RecoveryPoint {
    const { id } = row;
    if (!this.#open.has(id)) return this.#resting.pointOf(row);
    const behindMs = this.#open.behindMs(id);
    return { atMs: this.#resting.reachedMs(id), behindMs: behindMs && Math.round(behindMs), as: 'live' };
  }

  /** Cuts what a sandbox has committed by now, without waiting for the store. */
  async shipNow(id: InstanceId): Promise<void> {
    await this.#open.get(id)?.file.ship();
  }

  /** Resolves once the store has everything that a sandbox has committed by now. */
  async flush(id: InstanceId): Promise<void> {
    await this.shipNow(id);
    await this.#uploads.whenShipped(id);
  }

  ships(row: InstanceRow): boolean {
    return shipsCommits(this.#parts.classOf(row));
  }

  opening(row: InstanceRow, path: string): void {
    const { id } = row;
    const replicate = this.#parts.classOf(row);
    if (!shipsCommits(replicate)) {
      this.#open.addOther(row);
      return;
    }
    this.#parts.bundles?.note(id, row.tenant);
    const position = this.#resting.positionOf(row);
    // The number that its intent has set.
    const order = acquiredBy(row, this.#parts.term).seriesTerm ?? 0;
    const point: SeriesPoint | null = this.stale.has(id) || position?.series.term !== order ? null : position;
    const mark = new ShippedMark(path);
    const told = {
      confirm: mark.confirm.bind(mark),
      onGap: (why: string) => this.#parts.onGap(id, why),
    };
    const file = this.#shippedFile({ id, term: order, file: path, ...told }, point);
    const lacking = this.#resting.lacking(id);
    this.#open.add(
      row,
      {
        ...{ mark, file, everyMs: everyMsOf(replicate), path },
        ...{ behindSinceMs: lacking?.sinceMs ?? null, isLagKnown: lacking?.isKnown ?? true },
      },
      position?.isShipped ? point : null,
    );
  }

  opened(id: InstanceId): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.isOpen = true;
    this.#refused.delete(id);
    this.#resting.opened(id);
  }

  closing(id: InstanceId): void {
    this.#open.get(id)?.file.keepLog();
  }

  secondName(id: InstanceId): string | null {
    return this.#open.get(id)?.file.keptLog ?? null;
  }

  goesOn(id: InstanceId): void {
    this.#open.get(id)?.file.letLogGo();
  }

  async landed({ id }: InstanceRow): Promise<void> {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.isOpen = false;
    // A process that was killed left its log where it was.
    const isLeft = isThereNow(`${open.path}-wal`);
    if (isLeft) open.file.letLogGo();
    // What was kept has time until the file rests.
    if (isLeft || open.file.keptLog === null) await open.file.shipLast();
  }

  rested(row: InstanceRow, file: string, record: FileRecord | null): void {
    const { id } = row;
    const wasHere = this.#open.isSync(id) !== null;
    const open = this.#open.take(id);
    if (open === null) {
      if (this.#parts.classOf(row).kind !== 'off')
        void this.#resting.track(id, this.#resting.moved(id, record, wasHere));
      return;
    }
    const path = join(this.#parts.dataFolder, file);
    const { behindSinceMs, isLagKnown: isKnown, everyMs: promisedMs } = open;
    this.#resting.behind(id, { isKnown, promisedMs, ...(behindSinceMs !== null && { sinceMs: behindSinceMs }) });
    // Whoever put it to rest is answered first, unless the answer waits for the store.
    const work = () => this.#rest(id, open, path, record);
    void this.#resting.track(id, this.#rests.run(id, promisedMs > 0 ? ANSWERED_MS : 0, work));
  }

  whenRested(id: InstanceId): Promise<void> {
    return this.#rests.whenDone(id);
  }

  replaced(id: InstanceId): void {
    this.#resting.replaced(id);
  }

  async dropped(id: InstanceId): Promise<void> {
    this.#open.letGo(id);
    this.#refused.delete(id);
    await this.#resting.drop(id);
    await this.#uploads.drop(id);
  }

  /** Lets go of what is on its way of a sandbox. Resolves once nothing of it can reach the store any more. */
  async giveUp(id: InstanceId): Promise<void> {
    await this.dropped(id);
    await this.#uploads.forget(id);
    await this.#uploads.whenShipped(id);
  }

  /** Whether a file at rest of so many bytes may be shipped now. */
  hasRoomFor(bytes: number): boolean {
    const { spoolBytes } = this.#parts;
    return hasRoomFor({ spool: this.#spool, uploads: this.#uploads, spoolBytes }, bytes);
  }

  /**
   * Ships a file at rest whole, as a new series, unless another call has; `path` (absolute) is a copy that nobody
   * changes. One at a time of each: an answer that waits and the background may want the same.
   */
  async shipWhole(row: InstanceRow, path: string): Promise<void> {
    const before = this.#wholes.get(row.id) ?? Promise.resolve();
    const shipping = before.catch(() => undefined).then(() => this.#shipWhole(row, path));
    this.#wholes.set(row.id, shipping);
    try {
      await shipping;
    } finally {
      if (this.#wholes.get(row.id) === shipping) this.#wholes.delete(row.id);
    }
  }

  async #shipWhole(row: InstanceRow, path: string): Promise<void> {
    const { id, file, tenant } = row;
    if (file === null || this.#resting.positionOf(row) !== null) return;
    // A copy of what it was before it woke would be the newest series, and older.
    const present = await this.#parts.rowOf(id);
    if (present?.file?.mtimeNs !== file.mtimeNs || present.file.size !== file.size) return;
    if (this.#open.has(id) || this.#resting.isDropped(id)) return;
    if (!this.hasRoomFor(bytesAtNow(path))) {
      this.#refused.set(id, this.#refused.get(id) ?? { sinceMs: performance.now(), why: NO_ROOM });
      return;
    }
    this.#parts.bundles?.note(id, tenant);
    const term = orderAtRest(present, this.#parts.term);
    const told = { confirm: () => undefined, onGap: () => undefined };
    const shipped = this.#shippedFile({ id, term, file: path, ...told }, null);
    await this.#resting.track(id, shipped.shipLast());
    const { refusal } = shipped.room;
    if (refusal === null) this.#refused.delete(id);
    else this.#refused.set(id, this.#refused.get(id) ?? refusal);
    if (shipped.point !== null && !this.#open.has(id)) await this.#resting.shippedWhole(id, shipped.point, file);
  }

  /** Whether the replica of a row at rest ends with its file. */
  hasFileOf(row: InstanceRow): boolean {
    return this.#resting.positionOf(row) !== null;
  }

  async #rest(id: InstanceId, open: OpenReplica, path: string, record: FileRecord | null): Promise<void> {
    const point = await open.file.rest(path);
    if (!this.#open.has(id)) await removeEmpty(join(this.#spool, id), 1);
    const stamp = record ?? stampOf(path);
    if (point === null || stamp === null) {
      this.replaced(id);
      return;
    }
    if (!this.#open.has(id)) await this.#resting.note(id, point, { sha256: null, ...stamp });
  }

  #shippedFile(
    of: Pick<ShippedFileParts, 'file' | 'term' | 'confirm' | 'onGap'> & { id: InstanceId },
    point: SeriesPoint | null,
  ): ShippedFile {
    const { cutter, clock, log, spoolBytes } = this.#parts;
    const spool = join(this.#spool, of.id);
    const parts = { ...of, spool, cutter, uploads: this.#uploads, clock, log, spoolBytes };
    return new ShippedFile(parts, point, this.#resting.lastTimeMs(of.id));
  }

  async #lost(id: InstanceId, why = 'a segment was lost before it was stored'): Promise<void> {
    await this.#resting.whenRested(id);
    const open = this.#open.get(id);
    if (open !== undefined) open.file.endSeries(why);
    else this.#resting.lost(id);
  }

  #shipped(segment: SpooledSegment): void {
    const id = segment.id as InstanceId;
    this.#resting.reached(segment);
    if (this.#open.has(id)) this.#open.shipped(id, segment);
    else this.#resting.shipped(segment);
  }
}
