/**
 * Merges what was shipped: the segments of a minute into one of level 1, and those of an hour into one of level 2. What
 * was shipped lies on this disk until it is merged, within a bound, so that a merge costs the store one write; what
 * does not is read from the store. Nothing in the store is removed or replaced here, so a merge that never comes is no
 * gap; it is tried again, and what a stop or a failure left out is found by whoever looks through the store.
 */
import { join } from 'node:path';
import {
  copyFileNow,
  makeFolder,
  makeFolderNow,
  removeTree,
  renameFileNow,
  unlinkFile,
  unlinkFileNow,
} from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { isThere } from '../base/is-there.ts';
import type { Logger } from '../base/log.ts';
import { isCode } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import type { BundlePart } from './bundle-names.ts';
import { bringPart } from './bundle-reader.ts';
import type { Cutter } from './cutter.ts';
import {
  isWindowOver,
  type LevelGroup,
  levelGroups,
  type MergedLevel,
  mergedPlace,
  type StoredSegment,
  takes,
} from './level-groups.ts';
import { badSegment } from './ltx-header.ts';
import type { Merged } from './merge.ts';
import { compareSeries, segmentFile, segmentName, seriesName } from './replica-names.ts';
import type { SpooledSegment } from './spooled-segment.ts';

/** How often it is looked whether a minute is over, in milliseconds. */
const LOOK_MS = 5000;
/** Sandboxes whose segments are merged at the same time. */
const AT_ONCE = 4;
const AGAIN_MS = 10_000;
/** How often it is tried: about ten minutes. */
const MOST_TRIES = 6;

export interface SegmentLevelsParts {
  /** Absolute; nothing in it has to survive. */
  folder: string;
  /** Waits while it is away. */
  store: Pick<ObjectStore, 'upload' | 'head' | 'download' | 'open'>;
  cutter: Pick<Cutter, 'merge'>;
  /** Of the segments' times. */
  clock: { now(): number };
  log: Logger;
  /** Bytes on this disk that wait to be merged, at most. */
  keptBytes: number;
  /** Hears of each object that was written. */
  traffic?: { wrote(bytes: number): void };
  /** Hears of segments that are in one of level 1, which the store has. */
  onMerged?: (segments: readonly StoredSegment[]) => void;
  /** Pause after a failure, in milliseconds, doubled each time. Default: 10 s. */
  againMs?: number;
}

interface Source extends StoredSegment {
  /** Absolute, on this disk; null: only in the store. */
  path: string | null;
}

interface Job {
  group: LevelGroup<Source>;
  /** Made of what the store lacked, and not of what was shipped just now. */
  isLate: boolean;
  tries: number;
  /** Monotonic milliseconds before which it is not tried. */
  notBeforeMs: number;
}

/** What is still to be merged of one sandbox. */
interface Waiting {
  open: Partial<Record<MergedLevel, LevelGroup<Source>>>;
  jobs: Job[];
  running: { ending: AbortController; done: Promise<void> } | null;
}

export class SegmentLevels {
  readonly #parts: SegmentLevelsParts;
  readonly #waiting = new Map<string, Waiting>();
  readonly #settled = new Set<() => void>();
  #kept = 0;
  #running = 0;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: SegmentLevelsParts) {
    this.#parts = parts;
  }

  /** Removes what an earlier process left. Before anything is shipped. */
  async prepare(): Promise<void> {
    await removeTree(this.#parts.folder);
  }

  start(): void {
    this.#timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Ends without waiting for what is still to be merged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await Promise.all([...this.#waiting.keys()].map((id) => this.drop(id)));
  }

  /** Takes a segment that the store has now, and its file where there is room, in the order of its series. */
  take({ id, series, level, min, max, bytes, timeMs, path }: SpooledSegment, bundled?: BundlePart): void {
    if (level !== 0 || this.#isStopped) return;
    const source: Source = { id, series, level, min, max, bytes, timeMs, path: null, ...(bundled && { bundled }) };
    this.#keep(source, path);
    this.#collect(1, source);
  }

  /**
   * Has segments merged that a level lacks, of one series and in order, each as the store has it. Those that are about
   * to be merged anyway are passed over.
   */
  add(level: MergedLevel, segments: readonly StoredSegment[]): void {
    const [first] = segments;
    if (first === undefined || this.#isStopped) return;
    const waiting = this.#of(first.id);
    const known = [...waiting.jobs.map(({ group }) => group), ...Object.values(waiting.open)];
    for (const group of levelGroups(
      level,
      segments.map((segment) => ({ ...segment, path: null })),
    )) {
      const { series, min, max } = mergedPlace(group);
      const isKnown = known.some((each) => {
        const place = mergedPlace(each);
        const overlaps = place.min <= max && place.max >= min;
        return each.level === level && overlaps && compareSeries(place.series, series) === 0;
      });
      if (!isKnown) waiting.jobs.push({ group, isLate: true, tries: 0, notBeforeMs: 0 });
    }
    this.#begin();
    this.#tidy(first.id);
  }

  /** Nothing more comes of a sandbox for now: what is there is merged, and its minute is over. */
  finish(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || this.#isStopped) return;
    if (waiting.open[1] !== undefined) this.#close(waiting, waiting.open[1]);
    this.#begin();
  }

  /** Gives up what is to be merged of a sandbox. Resolves once nothing of it can reach the store any more. */
  async drop(id: string): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    waiting.running?.ending.abort(new Error('It was given up.'));
    await waiting.running?.done;
    const groups = [...Object.values(waiting.open), ...waiting.jobs.map(({ group }) => group)];
    for (const { segments } of groups) for (const source of segments) await this.#letGo(source);
    await removeTree(join(this.#parts.folder, id)).catch((error: unknown) => this.#warn(id, error));
    this.#tell();
  }

  /** Merges what is of a minute, or an hour, that is over. */
  look(): void {
    const now = this.#parts.clock.now();
    for (const waiting of this.#waiting.values()) {
      const { 1: minute, 2: hour } = waiting.open;
      if (minute !== undefined && isWindowOver(minute, now)) this.#close(waiting, minute);
      // An hour ends with its last minute.
      const isWhole = waiting.jobs.every(({ group }) => group.level !== 1);
      if (hour !== undefined && isWhole && isWindowOver(hour, now)) this.#close(waiting, hour);
    }
    this.#begin();
  }

  /** Resolves once nothing is to be merged but what belongs to minutes and hours that are not over. */
  async whenMerged(): Promise<void> {
    if ([...this.#waiting.values()].every(({ jobs, running }) => jobs.length === 0 && running === null)) return;
    await new Promise<void>((resolve) => this.#settled.add(resolve));
  }

  #of(id: string): Waiting {
    const known = this.#waiting.get(id);
    if (known !== undefined) return known;
    const waiting: Waiting = { open: {}, jobs: [], running: null };
    this.#waiting.set(id, waiting);
    return waiting;
  }

  #collect(level: MergedLevel, source: Source): void {
    const waiting = this.#of(source.id);
    const open = waiting.open[level];
    if (open !== undefined && takes(open, source)) {
      open.segments.push(source);
      return;
    }
    if (open !== undefined) this.#close(waiting, open);
    waiting.open[level] = { level, segments: [source] };
    this.#begin();
  }

  #close(waiting: Waiting, group: LevelGroup<Source>): void {
    delete waiting.open[group.level];
    waiting.jobs.push({ group, isLate: false, tries: 0, notBeforeMs: 0 });
  }

  #begin(): void {
    if (this.#isStopped) return;
    const now = performance.now();
    for (const [id, waiting] of this.#waiting) {
      if (this.#running >= AT_ONCE) return;
      const job = waiting.jobs[0];
      if (waiting.running !== null || job === undefined || job.notBeforeMs > now) continue;
      const ending = new AbortController();
      this.#running += 1;
      const done = this.#run(id, waiting, job, ending.signal).finally(() => {
        this.#running -= 1;
        waiting.running = null;
        this.#tidy(id);
        this.#begin();
      });
      waiting.running = { ending, done };
    }
  }

  #tidy(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined && waiting.running === null && waiting.jobs.length === 0) {
      if (Object.keys(waiting.open).length === 0) this.#waiting.delete(id);
      this.#tell();
    }
  }

  #tell(): void {
    if ([...this.#waiting.values()].some(({ jobs, running }) => jobs.length > 0 || running !== null)) return;
    for (const resolve of this.#settled) resolve();
    this.#settled.clear();
  }

  /** One job, first of its sandbox. Never rejects. */
  async #run(id: string, waiting: Waiting, job: Job, signal: AbortSignal): Promise<void> {
    const { group, isLate } = job;
    try {
      const made = await this.#merge(group, job.tries > 0, signal);
      waiting.jobs.shift();
      if (group.level === 1) this.#parts.onMerged?.(group.segments);
      for (const source of group.segments) await this.#letGo(source);
      const isNext = group.level === 1 && !isLate && !signal.aborted;
      const source: Source = { ...mergedPlace(group), bytes: made.bytes, timeMs: made.timeMs, path: null };
      if (isNext) {
        this.#keep(source, made.path);
        this.#collect(2, source);
      }
      await unlinkFile(made.path);
    } catch (error) {
      if (signal.aborted) return;
      this.#warn(id, error);
      // What is damaged here is whole in the store.
      for (const source of group.segments) await this.#letGo(source);
      job.tries += 1;
      job.notBeforeMs = performance.now() + (this.#parts.againMs ?? AGAIN_MS) * 2 ** (job.tries - 1);
      if (job.tries >= MOST_TRIES) waiting.jobs.shift();
    }
  }

  async #merge(
    group: LevelGroup<Source>,
    mayBeThere: boolean,
    signal: AbortSignal,
  ): Promise<Merged & { path: string }> {
    const { store, cutter } = this.#parts;
    const place = mergedPlace(group);
    const folder = this.#folderOf(place);
    await makeFolder(folder);
    const brought: string[] = [];
    try {
      const segments: string[] = [];
      for (const source of group.segments) {
        if (source.path !== null && isThere(source.path)) segments.push(source.path);
        else {
          const path = join(folder, `from-${source.level}-${segmentFile(source.min, source.max)}`);
          await unlinkFile(path);
          brought.push(path);
          if (source.bundled !== undefined) await bringPart(store, source.bundled, path, signal);
          else await store.download(segmentName(source), path, { signal });
          segments.push(path);
        }
      }
      const path = join(folder, `to-${place.level}-${segmentFile(place.min, place.max)}`);
      const merged = await cutter.merge({ segments, target: path, sync: false });
      signal.throwIfAborted();
      if (merged.minTxid !== place.min || merged.maxTxid !== place.max) {
        throw badSegment(segmentName(place), 'it is of other segments');
      }
      const name = segmentName(place);
      // The answer of an earlier attempt may have been lost: what has this name has these bytes.
      const there = mayBeThere ? await store.head(name, { signal }) : null;
      if (there?.bytes !== merged.bytes) await store.upload(name, path, { timeMs: merged.timeMs, signal });
      this.#parts.traffic?.wrote(merged.bytes);
      return { ...merged, path };
    } finally {
      for (const path of brought) await unlinkFile(path);
    }
  }

  #folderOf({ id, series }: StoredSegment | ReturnType<typeof mergedPlace>): string {
    return join(this.#parts.folder, id, seriesName(series));
  }

  /** Keeps a file (absolute) for a source, where there is room; without it the store has the bytes. Never throws. */
  #keep(source: Source, path: string): void {
    if (this.#kept + source.bytes > this.#parts.keptBytes) return;
    const folder = this.#folderOf(source);
    const kept = join(folder, `${source.level}-${segmentFile(source.min, source.max)}`);
    try {
      makeFolderNow(folder);
      moveOrCopyNow(path, kept);
      source.path = kept;
      this.#kept += source.bytes;
    } catch (error) {
      this.#warn(source.id, error);
    }
  }

  async #letGo(source: Source): Promise<void> {
    if (source.path === null) return;
    this.#kept -= source.bytes;
    const { path } = source;
    source.path = null;
    await unlinkFile(path).catch((error: unknown) => this.#warn(source.id, error));
  }

  #warn(id: string, error: unknown): void {
    this.#parts.log.warn({ id, error: messageOf(error) }, 'segments were not merged');
  }
}

/** Where the spool is a filesystem of its own the file stays there too, and whoever gave it removes it. */
function moveOrCopyNow(path: string, to: string): void {
  try {
    renameFileNow(path, to);
  } catch (error) {
    if (!isCode(error, 'EXDEV')) throw error;
    try {
      copyFileNow(path, to);
    } catch (refused) {
      unlinkFileNow(to);
      throw refused;
    }
  }
}
