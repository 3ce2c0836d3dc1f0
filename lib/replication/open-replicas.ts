/**
 * The replicas of files that are open: looks at their logs and has what was committed cut, each as often as was
 * promised of it, and knows since when the store has lacked something. Knows nothing of files at rest.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { InstanceId } from '../base/ids.ts';
import type { ShippedMark } from '../storage/shipped-mark.ts';
import { compareSeries } from './names/replica-names.ts';
import type { SeriesPoint } from './names/series-point.ts';
import type { PromisedRow } from './promise/answer-barrier.ts';
import type { OwnerProof } from './promise/owner-proof.ts';
import { everyMsOf, type ReplicateClass, shipsCommits } from './promise/replicate-class.ts';
import type { ShippedFile } from './shipped-file.ts';
import type { SegmentUploads } from './shipping/segment-uploads.ts';
import { SharedRounds } from './shipping/shared-rounds.ts';
import type { SpoolRefusal } from './spool/spool-room.ts';
import type { SpooledSegment } from './spool/spooled-segment.ts';
import { isSameReach, type Reached, type StoredOutcome, StoredPoints } from './stored-points.ts';

/** How often the logs are looked at, in milliseconds. */
const LOOK_MS = 1000;
/** A log of which so much was cut at once is written fast: its writer may wait for a confirmation. */
const FAST_BYTES = 4 * 1024 * 1024;
const FAST_LOOK_MS = 50;
/** How often the logs of `sync` sandboxes are looked at: what commits without an answer is shipped soon too. */
const SYNC_LOOK_MS = 200;
/** Until a file that is about to be open, or to rest, is. */
const TURNING_MS = 20;
/** Cuts that are noted of each, until the store has them; of more the last ones. */
const MOST_CUTS = 64;

export interface OpenReplica {
  readonly file: ShippedFile;
  readonly mark: ShippedMark;
  /** Absolute. */
  readonly path: string;
  row: PromisedRow;
  /** How long the store may lack what was committed; 0: an answer waits until it has it. */
  everyMs: number;
  /** Waits of answers, several in one. */
  readonly rounds: SharedRounds<StoredOutcome>;
  /** Monotonic milliseconds since when it is open, or about to be. */
  readonly addedMs: number;
  /** Monotonic milliseconds of the last look. */
  lookedMs: number;
  /** Monotonic milliseconds since when something was seen that the store has not; null: it has everything. */
  behindSinceMs: number | null;
  /** Whether the store had everything until then: not where an earlier process left it so. */
  isLagKnown: boolean;
  /** The last cuts of which the store lacks something: what was committed before `beganMs` is in them or earlier. */
  readonly cuts: { point: SeriesPoint; beganMs: number }[];
  /** Up to where the store had it when it was last proved to be this host's. */
  proven: Reached | null;
  /** Its process may commit. */
  isOpen: boolean;
}

export class OpenReplicas {
  readonly #uploads: SegmentUploads;
  readonly #open = new Map<InstanceId, OpenReplica>();
  /** Those that are awake and not shipped: a class that ships applies from their next wake on. */
  readonly #others = new Map<InstanceId, PromisedRow>();
  readonly points: StoredPoints;
  /** Those whose log is written fast. */
  readonly #fast = new Set<InstanceId>();
  /** Monotonic milliseconds of the last look at all of them. */
  #allLookedMs = 0;
  #timer: NodeJS.Timeout | null = null;
  #fastTimer: NodeJS.Timeout | null = null;
  #syncTimer: NodeJS.Timeout | null = null;

  readonly #proof: OwnerProof | null;
  #onTaken: (id: InstanceId) => void = () => undefined;

  /** `proof`: before an answer that waits for the store is given; null: nobody else has these files. */
  constructor(uploads: SegmentUploads, proof: OwnerProof | null = null) {
    this.#uploads = uploads;
    this.#proof = proof;
    this.points = new StoredPoints(uploads);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    this.#syncTimer ??= setInterval(() => this.#lookAtSync(), SYNC_LOOK_MS).unref();
  }

  /** Ships each once more, and looks no more. */
  async stop(): Promise<void> {
    for (const timer of [this.#timer, this.#syncTimer]) if (timer !== null) clearInterval(timer);
    if (this.#fastTimer !== null) clearTimeout(this.#fastTimer);
    await Promise.allSettled([...this.#open.values()].map(({ file }) => file.ship()));
  }

  /** Tells of each that is another host's by now. */
  onTaken(listener: (id: InstanceId) => void): void {
    this.#onTaken = listener;
  }

  has(id: InstanceId): boolean {
    return this.#open.has(id);
  }

  get(id: InstanceId): OpenReplica | undefined {
    return this.#open.get(id);
  }

  /** A process is about to open a file, in place of one before. `stored`: what the store has of it; null: nothing. */
  add(
    row: PromisedRow,
    { everyMs, ...open }: Pick<OpenReplica, 'file' | 'mark' | 'path' | 'everyMs' | 'behindSinceMs' | 'isLagKnown'>,
    stored: SeriesPoint | null,
  ): void {
    const { id } = row;
    this.letGo(id);
    const rounds = new SharedRounds(() => this.#round(id, added));
    const nowMs = performance.now();
    const added: OpenReplica = {
      ...{ ...open, row: promised(row), everyMs, rounds },
      ...{ addedMs: nowMs, lookedMs: nowMs, cuts: [], proven: stored, isOpen: false },
    };
    this.#open.set(id, added);
    this.points.follow(id, stored);
    this.#uploads.putFirst(id, everyMs === 0);
  }

  /** A process is about to open a file that is not shipped. */
  addOther(row: PromisedRow): void {
    this.letGo(row.id);
    this.#others.set(row.id, promised(row));
  }

  /** The row of one was changed. */
  note(row: PromisedRow): void {
    const open = this.#open.get(row.id);
    if (open !== undefined) open.row = promised(row);
    else if (this.#others.has(row.id)) this.#others.set(row.id, promised(row));
  }

  /** What is promised may have changed: between classes that ship it holds at once. */
  reclassify(classOf: (row: PromisedRow) => ReplicateClass): void {
    for (const [id, open] of this.#open) {
      const replicate = classOf(open.row);
      if (!shipsCommits(replicate)) continue;
      open.everyMs = everyMsOf(replicate);
      this.#uploads.putFirst(id, open.everyMs === 0);
    }
  }

  /** Whether a class holds of one only once its process was started anew. */
  isFromNextWake(id: InstanceId, replicate: ReplicateClass): boolean {
    return this.#open.has(id) ? !shipsCommits(replicate) : this.#others.has(id) && shipsCommits(replicate);
  }

  /** Whether answers about one wait for the store; null: its process is not here. */
  isSync(id: InstanceId): boolean | null {
    const open = this.#open.get(id);
    if (open !== undefined) return open.everyMs === 0;
    return this.#others.has(id) ? false : null;
  }

  /** Whether the spool took nothing of one when it was last tried. */
  isRefused(id: InstanceId): boolean {
    return (this.#open.get(id)?.file.room.refusal ?? null) !== null;
  }

  /** What the spool refuses of all of them now. */
  refusals(): SpoolRefusal[] {
    return [...this.#open.values()].flatMap(({ file }) => file.room.refusal ?? []);
  }

  /** Whether an answer about one can be given at once. False for one whose process is not here. */
  isInStep(id: InstanceId): boolean {
    const open = this.#open.get(id);
    if (open === undefined) return this.#others.has(id);
    if (open.everyMs > 0) return true;
    if (!open.isOpen || this.#uploads.waiting(id).length > 0 || !this.points.isStored(id, open.file)) return false;
    const { point } = open.file;
    return this.#proof === null || (point !== null && open.proven !== null && isSameReach(open.proven, point));
  }

  /** Resolves once the store has what was committed by now, where answers wait for it. `gone`: it is not open. */
  async whenInStep(id: InstanceId): Promise<StoredOutcome> {
    const open = this.#open.get(id);
    if (open === undefined) return this.#others.has(id) ? 'stored' : 'gone';
    return open.everyMs > 0 ? 'stored' : open.rounds.join();
  }

  /** It is open no more; what is under way of it is done. Null: it was not. */
  take(id: InstanceId): OpenReplica | null {
    this.#others.delete(id);
    const open = this.#open.get(id);
    if (open === undefined) return null;
    this.#open.delete(id);
    this.points.unfollow(id);
    open.mark.close();
    return open;
  }

  /** The same, without its log. */
  letGo(id: InstanceId): void {
    this.take(id)?.file.letLogGo();
  }

  /**
   * Milliseconds for which the store has lacked something of one; 0: it has everything; null: nobody knows. What was
   * committed since the last look counts as if that had been right after it.
   */
  behindMs(id: InstanceId): number | null {
    const open = this.#open.get(id);
    if (open === undefined || !open.isLagKnown) return null;
    const isSeen = open.behindSinceMs !== null || !open.file.isBehind;
    const sinceMs = isSeen ? open.behindSinceMs : Math.max(this.#allLookedMs, open.addedMs);
    return sinceMs === null ? 0 : Math.max(1, performance.now() - sinceMs);
  }

  /** How far each is behind, and how far it may be, in milliseconds. */
  lags(): { behindMs: number; promisedMs: number }[] {
    const now = performance.now();
    return [...this.#open.values()].map(({ behindSinceMs, everyMs }) => ({
      behindMs: behindSinceMs === null ? 0 : now - behindSinceMs,
      promisedMs: everyMs,
    }));
  }

  /** A segment of one is in the store. */
  shipped(id: InstanceId, { series, max }: SpooledSegment): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    const at = open.cuts.findLastIndex(({ point }) => point.txid <= max && compareSeries(point.series, series) === 0);
    const [cut] = open.cuts.splice(0, at + 1).slice(-1);
    if (cut !== undefined) hasUntil(open, cut.beganMs);
    this.#noteWhole(id, open);
  }

  async #round(id: InstanceId, open: OpenReplica): Promise<StoredOutcome> {
    const isGone = () => this.#open.get(id) !== open;
    while (!open.isOpen && !isGone()) await pause(TURNING_MS);
    const beganMs = performance.now();
    open.behindSinceMs ??= beganMs;
    const outcome = await this.points.whenStored(id, open.file, isGone);
    if (outcome === 'stored') hasUntil(open, beganMs);
    this.#noteWhole(id, open);
    return outcome === 'stored' && this.#proof !== null ? this.#prove(this.#proof, id, open) : outcome;
  }

  async #prove(proof: OwnerProof, id: InstanceId, open: OpenReplica): Promise<StoredOutcome> {
    const reached = this.points.reached(id);
    const verdict = await proof.of(id);
    if (verdict === 'unknown') return verdict;
    // Its process ended meanwhile: the row says what became of it.
    if (this.#open.get(id) !== open) return 'gone';
    if (verdict === 'taken') this.#onTaken(id);
    else open.proven = reached;
    return verdict === 'taken' ? verdict : 'stored';
  }

  #lookAtSync(): void {
    if (this.#uploads.away !== null) return;
    for (const open of this.#open.values()) {
      if (open.everyMs === 0 && open.isOpen && open.file.isBehind) void open.rounds.join();
    }
  }

  #noteWhole(id: InstanceId, open: OpenReplica): void {
    if (open.file.isBehind || this.#uploads.waiting(id).length > 0) return;
    open.behindSinceMs = null;
    open.isLagKnown = true;
  }

  #look(): void {
    const now = performance.now();
    this.#allLookedMs = now;
    for (const [id, open] of this.#open) {
      if (!open.isOpen || !open.file.isBehind) continue;
      open.behindSinceMs ??= now;
      if (now - open.lookedMs < open.everyMs - LOOK_MS / 2 && !open.file.isLong) continue;
      open.lookedMs = now;
      void this.#ship(id, open);
    }
  }

  async #ship(id: InstanceId, open: OpenReplica): Promise<void> {
    const beganMs = performance.now();
    const bytes = await open.file.ship();
    const { point } = open.file;
    if (bytes > 0 && point !== null && open.cuts.push({ point, beganMs }) > MOST_CUTS) open.cuts.shift();
    if (bytes >= FAST_BYTES) this.#lookSoon(id);
    this.#noteWhole(id, open);
  }

  #lookSoon(id: InstanceId): void {
    this.#fast.add(id);
    this.#fastTimer ??= setTimeout(() => {
      this.#fastTimer = null;
      const due = [...this.#fast];
      this.#fast.clear();
      for (const one of due) {
        const open = this.#open.get(one);
        if (open?.isOpen) void this.#ship(one, open);
      }
    }, FAST_LOOK_MS).unref();
  }
}

/** The store has what was committed until then (monotonic milliseconds): what it lacks is later. */
function hasUntil(open: OpenReplica, ms: number): void {
  if (open.behindSinceMs === null) return;
  open.behindSinceMs = Math.max(open.behindSinceMs, ms);
  open.isLagKnown = true;
}

function promised({ id, tenant, replicate }: PromisedRow): PromisedRow {
  return { id, tenant, replicate };
}
