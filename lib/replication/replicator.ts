/**
 * The second clock: ships what sandboxes commit while they are awake, and what rests and was never shipped. Each
 * second it looks at the logs of the files that are open; a file at rest costs nothing. Knows nothing of how a segment
 * is made or stored.
 */
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { makeFolder } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { isThereNow } from '../base/strangers-file.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { ShippedMark } from '../storage/shipped-mark.ts';
import type { Cutter } from './cutter.ts';
import { isFileOf, Positions, type RestedFile } from './positions.ts';
import { seriesName } from './replica-names.ts';
import type { RecoveryPoint, ReplicaOfFiles, ReplicaStatus } from './replica-of-files.ts';
import { type ReplicateClass, replicateText, shipsCommits } from './replicate-class.ts';
import type { SegmentUploads, SpooledSegment } from './segment-uploads.ts';
import type { SeriesPoint } from './series-point.ts';
import { ShippedFile } from './shipped-file.ts';
import type { ShippedFileParts } from './shipped-file-parts.ts';
import { leadsTo, tidySpools } from './spool.ts';

/** How often the logs are looked at, in milliseconds. */
const LOOK_MS = 1000;
/** A log of which so much was cut at once is written fast: its writer may wait for a confirmation. */
const FAST_BYTES = 4 * 1024 * 1024;
const FAST_LOOK_MS = 50;

export interface ReplicatorParts {
  /** Absolute. */
  dataFolder: string;
  uploads: SegmentUploads;
  cutter: Cutter;
  clock: Clock;
  log: Logger;
  /** The term of this host. */
  term: number;
  /** What is promised for a sandbox. */
  classOf: (row: InstanceRow) => ReplicateClass;
  spoolBytes: number;
  /** The history of a sandbox has a gap of moments; `why` is a clause. */
  onGap: (id: InstanceId, why: string) => void;
}

interface OpenFile {
  file: ShippedFile;
  everyMs: number;
  /** Monotonic milliseconds of the last look. */
  lookedMs: number;
  /** Monotonic milliseconds since when something was seen that the store has not; null: it has everything. */
  behindSinceMs: number | null;
  isOpen: boolean;
  /** Absolute. */
  path: string;
  mark: ShippedMark;
}

export class Replicator implements ReplicaOfFiles {
  readonly #parts: ReplicatorParts;
  readonly #folder: string;
  readonly #spool: string;
  readonly #positions: Positions;
  readonly #uploads: SegmentUploads;
  readonly #open = new Map<string, OpenFile>();
  /** Deleted since the start: what was being cut of them then is given up. */
  readonly #dropped = new Set<string>();
  /** Sandboxes whose file at rest the store has not. */
  readonly #stale = new Set<InstanceId>();
  /** What is done at the rest of a sandbox, after its filing. */
  readonly #resting = new Map<string, Promise<void>>();
  /** Newest time of each sandbox that was shipped since the start. */
  readonly #shippedMs = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #fast: NodeJS.Timeout | null = null;
  #onStale: () => void = () => undefined;

  constructor(parts: ReplicatorParts) {
    this.#parts = parts;
    this.#folder = join(parts.dataFolder, 'replica');
    this.#spool = join(this.#folder, 'spool');
    this.#positions = new Positions(join(this.#folder, 'positions'));
    this.#uploads = parts.uploads;
    this.#uploads.onShipped((segment) => this.#shipped(segment));
    this.#uploads.onLost((id) => void this.#lost(id as InstanceId));
  }

  /** Reads where replicas end, and what an earlier process left in the spool. Before any sandbox wakes. */
  async prepare(): Promise<void> {
    await makeFolder(this.#spool);
    await this.#positions.open();
    for (const segment of await tidySpools(this.#spool)) this.#uploads.add(segment);
    // Where something is missing between the store and a position, what followed could not be restored.
    for (const [id, position] of this.#positions.all()) {
      if (!position.isShipped && !leadsTo(this.#uploads.waiting(id), position)) this.replaced(id as InstanceId);
    }
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Ships what is open once more, and ends. What the store has not yet stays in the spool. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#fast !== null) clearTimeout(this.#fast);
    await Promise.allSettled([...this.#open.values()].map(({ file }) => file.ship()));
    await Promise.allSettled(this.#resting.values());
  }

  get spoolBytes(): number {
    return this.#uploads.bytes;
  }

  get away(): { sinceMs: number; why: string } | null {
    return this.#uploads.away;
  }

  /** Sandboxes at rest that are still to be shipped. */
  get stale(): ReadonlySet<InstanceId> {
    return this.#stale;
  }

  /** Calls back when there is one more of them. */
  onStale(listener: () => void): void {
    this.#onStale = listener;
  }

  /** How far each open file is behind, and how far it may be, in milliseconds. */
  lags(): { behindMs: number; promisedMs: number }[] {
    const now = performance.now();
    return [...this.#open.values()].map(({ behindSinceMs, everyMs }) => ({
      behindMs: behindSinceMs === null ? 0 : now - behindSinceMs,
      promisedMs: everyMs,
    }));
  }

  describe(row: InstanceRow): ReplicaStatus {
    return { ...this.pointOf(row), replicate: replicateText(this.#parts.classOf(row)) };
  }

  pointOf(row: InstanceRow): RecoveryPoint {
    const { id } = row;
    const open = this.#open.get(id);
    if (open !== undefined) {
      const atMs = this.#shippedMs.get(id) ?? this.#positions.get(id)?.timeMs ?? null;
      const { behindSinceMs } = open;
      const behindMs = behindSinceMs === null ? 0 : Math.round(performance.now() - behindSinceMs);
      // Before the first look nobody knows.
      return { atMs, behindMs: atMs === null && behindSinceMs === null ? null : behindMs, as: 'live' };
    }
    const position = this.#positions.get(id);
    if (position !== null && row.file !== null && isFileOf(position, restedOf(row.file)) && position.isShipped) {
      return { atMs: position.timeMs, behindMs: 0, as: 'filed' };
    }
    const atMs = this.#shippedMs.get(id) ?? position?.timeMs ?? null;
    return { atMs, behindMs: null, as: atMs === null ? 'none' : 'filed' };
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
    if (!shipsCommits(replicate)) return;
    const position = this.#positions.get(id);
    const isKnown = position !== null && row.file !== null && isFileOf(position, restedOf(row.file));
    const point: SeriesPoint | null = isKnown && !this.#stale.has(id) ? position : null;
    if (point !== null && position?.isShipped) this.#shippedMs.set(id, point.timeMs);
    const mark = new ShippedMark(path);
    this.#open.get(id)?.file.letLogGo();
    this.#open.get(id)?.mark.close();
    this.#open.set(id, {
      mark,
      file: this.#shippedFile(id, path, point, {
        confirm: (at) => mark.confirm(at),
        onGap: (why) => this.#parts.onGap(id, why),
      }),
      everyMs: replicate.everyMs,
      lookedMs: performance.now(),
      behindSinceMs: null,
      isOpen: false,
      path,
    });
  }

  opened(id: InstanceId): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    open.isOpen = true;
    this.#stale.delete(id);
    // From here on the file is another one than at rest.
    void this.#positions.remove(id).catch((error) => this.#warn(id, error));
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
    if (isThereNow(`${open.path}-wal`)) open.file.letLogGo();
    await open.file.shipLast();
  }

  rested(row: InstanceRow, file: string, record: FileRecord | null): void {
    const { id } = row;
    const open = this.#open.get(id);
    if (open === undefined) {
      if (this.#parts.classOf(row).kind !== 'off') void this.#track(id, this.#restedUnseen(id, record));
      return;
    }
    this.#open.delete(id);
    open.mark.close();
    const path = join(this.#parts.dataFolder, file);
    void this.#track(id, this.#rest(id, open, path, record));
  }

  #track(id: InstanceId, work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => this.#warn(id, error))
      .finally(() => {
        if (this.#resting.get(id) === tracked) this.#resting.delete(id);
      });
    this.#resting.set(id, tracked);
    return tracked;
  }

  /** The file of a sandbox that was not shipped has moved, and is the one that the replica has, or is another one. */
  async #restedUnseen(id: InstanceId, record: FileRecord | null): Promise<void> {
    await this.#resting.get(id);
    const position = this.#positions.get(id);
    if (this.#open.has(id) || this.#dropped.has(id)) return;
    if (position === null || record === null || !isFileOf(position, restedOf(record))) this.replaced(id);
    else
      await this.#positions.set(id, {
        ...position,
        file: { ...position.file, sha256: record.sha256 ?? position.file.sha256 },
      });
  }

  replaced(id: InstanceId): void {
    this.#stale.add(id);
    void this.#positions.remove(id).catch((error) => this.#warn(id, error));
    this.#onStale();
  }

  async dropped(id: InstanceId): Promise<void> {
    const open = this.#open.get(id);
    open?.file.letLogGo();
    open?.mark.close();
    this.#open.delete(id);
    this.#dropped.add(id);
    await this.#resting.get(id);
    this.#stale.delete(id);
    this.#shippedMs.delete(id);
    await this.#positions.remove(id);
    await this.#uploads.drop(id);
  }

  /** Lets go of what is on its way of a sandbox. Resolves once nothing of it can reach the store any more. */
  async giveUp(id: InstanceId): Promise<void> {
    await this.dropped(id);
    await this.#uploads.whenShipped(id);
  }

  /** Ships a file at rest whole, as a new series; `path` (absolute) is a copy that nobody changes. */
  async shipWhole(row: InstanceRow, path: string): Promise<void> {
    const { id, file } = row;
    if (file === null || this.#open.has(id) || this.#dropped.has(id)) return;
    const shipped = this.#shippedFile(id, path, null, { confirm: () => undefined, onGap: () => undefined });
    if (shipped.isSpoolFull) return;
    await this.#track(id, shipped.shipLast());
    if (shipped.point === null || this.#open.has(id)) return;
    this.#stale.delete(id);
    await this.#note(id, shipped.point, restedOf(file));
  }

  /** Whether the replica of a row at rest ends with its file. */
  hasFileOf(row: InstanceRow): boolean {
    const position = this.#positions.get(row.id);
    return position !== null && row.file !== null && isFileOf(position, restedOf(row.file));
  }

  async #rest(id: InstanceId, open: OpenFile, path: string, record: FileRecord | null): Promise<void> {
    const point = await open.file.rest(path);
    const stamp = record ?? stampOf(path);
    const rested = stamp === null ? null : restedOf({ sha256: null, ...stamp });
    if (point === null || rested === null) {
      this.replaced(id);
      return;
    }
    if (this.#open.has(id)) return;
    await this.#note(id, point, rested).catch((error) => this.#warn(id, error));
  }

  async #note(id: InstanceId, point: SeriesPoint, { size, inode, mtimeNs, sha256 }: RestedFile) {
    if (this.#dropped.has(id)) return this.#uploads.drop(id);
    const isShipped = this.#uploads.waiting(id).length === 0;
    await this.#positions.set(id, { ...point, isShipped, file: { size, inode, mtimeNs, sha256 } });
  }

  #shippedFile(
    id: string,
    file: string,
    point: SeriesPoint | null,
    told: Pick<ShippedFileParts, 'confirm' | 'onGap'>,
  ): ShippedFile {
    const { term, cutter, clock, log, spoolBytes } = this.#parts;
    const spool = join(this.#spool, id);
    const uploads = this.#uploads;
    const parts = { id, file, spool, term, cutter, uploads, clock, log, spoolBytes, ...told };
    return new ShippedFile(parts, point, this.#lastTimeMs(id));
  }

  #lastTimeMs(id: string): number {
    return Math.max(this.#positions.get(id)?.timeMs ?? 0, this.#shippedMs.get(id) ?? 0);
  }

  #look(): void {
    const now = performance.now();
    for (const [id, open] of this.#open) {
      if (!open.isOpen || !open.file.isBehind) continue;
      open.behindSinceMs ??= now;
      if (now - open.lookedMs < open.everyMs - LOOK_MS / 2 && !open.file.isLong) continue;
      open.lookedMs = now;
      void this.#ship(id, open);
    }
  }

  async #ship(id: string, open: OpenFile): Promise<void> {
    const bytes = await open.file.ship();
    if (bytes >= FAST_BYTES) this.#lookSoon(id);
    if (!open.file.isBehind && this.#uploads.waiting(id).length === 0) open.behindSinceMs = null;
  }

  #lookSoon(id: string): void {
    this.#fast ??= setTimeout(() => {
      this.#fast = null;
      const open = this.#open.get(id);
      if (open?.isOpen) void this.#ship(id, open);
    }, FAST_LOOK_MS).unref();
  }

  async #lost(id: InstanceId): Promise<void> {
    await this.#resting.get(id);
    const open = this.#open.get(id);
    if (open !== undefined) open.file.endSeries('a segment was lost before it was stored');
    else if (this.#positions.get(id) !== null) this.replaced(id);
  }

  #shipped(segment: SpooledSegment): void {
    const id = segment.id as InstanceId;
    this.#shippedMs.set(id, Math.max(this.#shippedMs.get(id) ?? 0, segment.timeMs));
    const open = this.#open.get(id);
    if (open !== undefined) {
      if (this.#uploads.waiting(id).length === 0 && !open.file.isBehind) open.behindSinceMs = null;
      return;
    }
    const position = this.#positions.get(id);
    if (position === null || position.isShipped) return;
    if (position.txid !== segment.max || seriesName(position.series) !== seriesName(segment.series)) return;
    void this.#positions.set(id, { ...position, isShipped: true }).catch((error) => this.#warn(id, error));
  }

  #warn(id: string, error: unknown): void {
    this.#parts.log.warn({ id, error: messageOf(error) }, 'where a replica ends was not noted');
  }
}

function restedOf({ size, inode, mtimeNs, sha256 }: RestedFile): RestedFile {
  return { size, inode, mtimeNs, sha256 };
}
