/**
 * The replicas of files at rest: where each ends, which the store lacks, and what is still noted of a sandbox that has
 * come to rest. Knows nothing of logs.
 */
import { parseCopyPath } from '../base/copy-paths.ts';
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { orderAtRest, type SeriesOrder } from '../registry/series-order.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import { seriesName } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import { isFileOf, Positions, type RestedFile, type RestPosition } from './positions.ts';
import type { RecoveryPoint } from './replica-of-files.ts';
import type { StoredUpTo } from './shipping/lacking-replicas.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { leadsTo } from './spool/spool.ts';
import type { SpooledSegment } from './spool/spooled-segment.ts';

interface RestingReplicasParts {
  /** The term of this host. */
  term: number;
  /** Absolute; made when it is missing. */
  folder: string;
  uploads: Pick<SegmentUploads, 'waiting' | 'drop'>;
  /** Of the segments' times. */
  clock: { now(): number };
  log: Logger;
  /** Whether a process has the file of a sandbox, or is about to open it. */
  isOpen: (id: InstanceId) => boolean;
}

/** What the store lacks of one. */
export interface Lacking {
  /** Since when, in monotonic milliseconds. */
  sinceMs: number;
  /** Whether it had everything until then: not where an earlier process left it so. */
  isKnown: boolean;
  /** For how long it may. */
  promisedMs: number;
}

const RESTS: ReadonlySet<string> = new Set(['suspended', 'frozen', 'archived']);

/** Whether a row has a file at rest that is its own: also before the first wake of one that was made of a file. */
export function restsAsItsOwn({ state, vfsPath, file }: Pick<InstanceRow, 'state' | 'vfsPath' | 'file'>): boolean {
  if (state !== 'created') return RESTS.has(state);
  return file !== null && vfsPath !== null && parseCopyPath(vfsPath) === null;
}

export class RestingReplicas {
  readonly #parts: RestingReplicasParts;
  readonly #positions: Positions;
  /** Sandboxes whose file at rest the store has not. */
  readonly #stale = new Set<InstanceId>();
  /** Deleted since the start: what was being cut of them then is given up. */
  readonly #dropped = new Set<InstanceId>();
  /** What is done at the rest of a sandbox, after its filing. */
  readonly #resting = new Map<InstanceId, Promise<void>>();
  /** What the store lacks of files at rest. */
  readonly #behind = new Map<InstanceId, Lacking>();
  #onStale: () => void = () => undefined;

  constructor(parts: RestingReplicasParts) {
    this.#parts = parts;
    this.#positions = new Positions(parts.folder);
  }

  /** Reads where replicas end, once the spool of an earlier process is known. */
  async open(): Promise<void> {
    await this.#positions.open();
    const { uploads } = this.#parts;
    for (const [id, { isShipped }] of this.#positions.all()) if (!isShipped) this.#behindSinceLong(id as InstanceId);
    // Where something is missing between the store and a position, what followed could not be restored.
    for (const [id, position] of this.#positions.all()) {
      if (!position.isShipped && !leadsTo(uploads.waiting(id), position)) this.#begunAnew(id as InstanceId);
    }
  }

  /** Resolves once what is done at the rest of every sandbox is done. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#resting.values());
  }

  /** Sandboxes at rest that are still to be shipped. */
  get stale(): ReadonlySet<InstanceId> {
    return this.#stale;
  }

  /** The store lacks something of a file at rest. By default for as long as that takes: nothing else is promised. */
  behind(id: InstanceId, lacking: Partial<Lacking> = {}): void {
    if (this.#behind.has(id)) return;
    const since = { sinceMs: performance.now(), isKnown: true, promisedMs: Number.POSITIVE_INFINITY };
    this.#behind.set(id, { ...since, ...lacking });
  }

  /** The same of what an earlier process left: since the oldest that waits, and who knows since when without any. */
  #behindSinceLong(id: InstanceId): void {
    const { uploads, clock } = this.#parts;
    const [oldest] = uploads.waiting(id);
    if (oldest === undefined) this.behind(id, { isKnown: false });
    else this.behind(id, { sinceMs: performance.now() - Math.max(0, clock.now() - oldest.timeMs) });
  }

  /** What the store lacks of one; null: nothing. */
  lacking(id: InstanceId): Lacking | null {
    return this.#behind.get(id) ?? null;
  }

  /** How long the store has lacked something of each, and for how long it may, in milliseconds. */
  lags(): { behindMs: number; promisedMs: number }[] {
    const now = performance.now();
    return [...this.#behind.values()].map(({ sinceMs, promisedMs }) => ({ behindMs: now - sinceMs, promisedMs }));
  }

  /** Calls back when there is one more of them. */
  onStale(listener: () => void): void {
    this.#onStale = listener;
  }

  isDropped(id: InstanceId): boolean {
    return this.#dropped.has(id);
  }

  /** Epoch milliseconds after which what is cut next of a sandbox is; 0: any. */
  lastTimeMs(id: string): number {
    return Math.max(this.#positions.get(id)?.timeMs ?? 0, this.#positions.reachedMs(id) ?? 0);
  }

  /** Epoch milliseconds up to which the store has something of a sandbox, at least; null: it has nothing. */
  reachedMs(id: string): number | null {
    return this.#positions.reachedMs(id);
  }

  /** Up to where the store has each file at rest of which it has everything. */
  storedUpTo(): StoredUpTo[] {
    return this.#positions
      .all()
      .flatMap(([id, { series, txid, isShipped }]) => (isShipped ? [{ id, series, txid }] : []));
  }

  /**
   * Where the replica of a row ends, if that is the file that the row has, and nobody else has shipped it since; null
   * otherwise.
   */
  positionOf(row: Pick<InstanceRow, 'id' | 'file'> & SeriesOrder): RestPosition | null {
    const position = this.#positions.get(row.id);
    if (position === null || row.file === null || !isFileOf(position, restedOf(row.file))) return null;
    const isLast = row.seriesHostTerm === null || position.series.term === orderAtRest(row, this.#parts.term);
    return isLast ? position : null;
  }

  /** Another host has it now: where its replica ends is not known here any more. */
  async left(id: InstanceId): Promise<void> {
    this.#stale.delete(id);
    this.#behind.delete(id);
    await this.#positions.remove(id);
  }

  pointOf(row: InstanceRow): RecoveryPoint {
    const position = this.positionOf(row);
    if (position?.isShipped) return { atMs: position.timeMs, behindMs: 0, as: 'filed' };
    const atMs = this.reachedMs(row.id);
    const lacking = this.lacking(row.id);
    const behindMs = lacking?.isKnown ? Math.round(performance.now() - lacking.sinceMs) : null;
    return { atMs, behindMs, as: atMs === null ? 'none' : 'filed' };
  }

  /** A process has the file open: from here on it is another one than at rest. */
  opened(id: InstanceId): void {
    this.#stale.delete(id);
    this.#behind.delete(id);
    void this.#positions.leave(id).catch((error) => this.#warn(id, error));
  }

  /** Its file is another one, since now. */
  replaced(id: InstanceId): void {
    this.behind(id);
    this.#begunAnew(id);
  }

  #begunAnew(id: InstanceId): void {
    this.#stale.add(id);
    void this.#positions.leave(id).catch((error) => this.#warn(id, error));
    this.#onStale();
  }

  /** What is done of a sandbox until it rests; others wait for it. */
  track(id: InstanceId, work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => this.#warn(id, error))
      .finally(() => {
        if (this.#resting.get(id) === tracked) this.#resting.delete(id);
      });
    this.#resting.set(id, tracked);
    return tracked;
  }

  /**
   * The file of a sandbox that was not shipped has moved, and is the one that the replica has, or is another one.
   * `wasHere`: its process was this server's.
   */
  async moved(id: InstanceId, record: FileRecord | null, wasHere: boolean): Promise<void> {
    await this.#resting.get(id);
    const position = this.#positions.get(id);
    if (this.#parts.isOpen(id) || this.#dropped.has(id)) return;
    if (position === null || record === null || !isFileOf(position, restedOf(record))) {
      if (!wasHere) this.#behindSinceLong(id);
      this.replaced(id);
    } else
      await this.#positions.set(id, {
        ...position,
        file: { ...position.file, sha256: record.sha256 ?? position.file.sha256 },
      });
  }

  /** The file of a sandbox was shipped whole. */
  async shippedWhole(id: InstanceId, point: SeriesPoint, file: RestedFile): Promise<void> {
    this.#stale.delete(id);
    await this.note(id, point, file);
  }

  /** Notes where the replica of a sandbox ends, and with which file. */
  async note(id: InstanceId, point: SeriesPoint, file: RestedFile): Promise<void> {
    const { uploads } = this.#parts;
    if (this.#dropped.has(id)) return uploads.drop(id);
    const isShipped = uploads.waiting(id).length === 0;
    if (isShipped) this.#behind.delete(id);
    else this.behind(id);
    await this.#positions.set(id, { ...point, isShipped, file: restedOf(file) });
  }

  /** A segment of a sandbox is in the store. */
  reached({ id, timeMs }: SpooledSegment): void {
    void this.#positions.reached(id, timeMs).catch((error) => this.#warn(id, error));
  }

  /** A segment of a sandbox at rest is in the store. */
  shipped({ id, max, series }: SpooledSegment): void {
    const position = this.#positions.get(id);
    if (position === null || position.isShipped) return;
    if (position.txid !== max || seriesName(position.series) !== seriesName(series)) return;
    this.#behind.delete(id as InstanceId);
    void this.#positions.set(id, { ...position, isShipped: true }).catch((error) => this.#warn(id, error));
  }

  /** Resolves once what is done at the rest of a sandbox is done. */
  async whenRested(id: InstanceId): Promise<void> {
    await this.#resting.get(id);
  }

  /** Segments of a sandbox were lost before they were stored. */
  lost(id: InstanceId): void {
    if (this.#positions.get(id) !== null) this.replaced(id);
  }

  async drop(id: InstanceId): Promise<void> {
    this.#dropped.add(id);
    await this.#resting.get(id);
    this.#stale.delete(id);
    this.#behind.delete(id);
    await this.#positions.remove(id);
  }

  #warn(id: string, error: unknown): void {
    this.#parts.log.warn({ id, error: messageOf(error) }, 'where a replica ends was not noted');
  }
}

/** Of a row's record only what identifies a file. */
function restedOf({ size, inode, mtimeNs, sha256 }: RestedFile): RestedFile {
  return { size, inode, mtimeNs, sha256 };
}
