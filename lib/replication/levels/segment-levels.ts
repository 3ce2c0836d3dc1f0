/**
 * Merges what was shipped: the segments of a minute into one of level 1, and those of an hour into one of level 2.
 * Where more sandboxes commit than the store is to be asked for, their minutes travel together, and each has one of
 * level 1 for each span of them. What was shipped lies on this disk until it is merged, within a bound, so that a merge
 * costs the store one write; what does not is read from the store. Nothing in the store is removed or replaced here, so
 * a merge that never comes is no gap; it is tried again, and what a stop or a failure left out is found by whoever
 * looks through the store.
 */
import { join } from 'node:path';
import { makeFolder, unlinkFile } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { isThere } from '../../base/is-there.ts';
import type { Logger } from '../../base/log.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { Cutter } from '../log/cutter.ts';
import { badSegment } from '../ltx/ltx-header.ts';
import type { Merged } from '../ltx/merge.ts';
import type { BundlePart } from '../names/bundle-names.ts';
import {
  isWindowOver,
  type LevelGroup,
  levelGroups,
  type MergeStep,
  mergedPlace,
  type StoredSegment,
  takes,
} from '../names/level-groups.ts';
import { compareSeries, segmentFile, segmentName } from '../names/replica-names.ts';
import { bringPart } from '../segment-bundles/bundle-reader.ts';
import type { MinuteBundles } from '../segment-bundles/minute-bundles.ts';
import { KeptSegments, type KeptSource } from '../shipping/kept-segments.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';

/** How often it is looked whether a minute is over, in milliseconds. */
const LOOK_MS = 5000;
/** Sandboxes whose segments are merged at the same time. */
const AT_ONCE = 4;
const AGAIN_MS = 10_000;
/** How often it is tried: about ten minutes. */
const MOST_TRIES = 6;
/** Sandboxes whose minutes lie by themselves: a request a second. The minutes of more travel together. */
const MOST_ALONE = 60;

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
  /** Takes the minutes of many sandboxes; without it each lies by itself. */
  minutes?: Pick<MinuteBundles, 'tenantFor' | 'put'>;
  /** Sandboxes whose minutes lie by themselves, at most. Default: 60. */
  mostAlone?: number;
  /** Pause after a failure, in milliseconds, doubled each time. Default: 10 s. */
  againMs?: number;
}

interface Job {
  group: LevelGroup<KeptSource>;
  /** Made of what the store lacked, and not of what was shipped just now. */
  isLate: boolean;
  tries: number;
  /** Monotonic milliseconds before which it is not tried. */
  notBeforeMs: number;
}

/** What is still to be merged of one sandbox. */
interface Waiting {
  open: Partial<Record<MergeStep, LevelGroup<KeptSource>>>;
  jobs: Job[];
  /** Nothing more comes for now: what is open is not waited for. */
  isFinished: boolean;
  running: { ending: AbortController; done: Promise<void> } | null;
}

export class SegmentLevels {
  readonly #parts: SegmentLevelsParts;
  readonly #kept: KeptSegments;
  readonly #waiting = new Map<string, Waiting>();
  readonly #settled = new Set<() => void>();
  #running = 0;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: SegmentLevelsParts) {
    this.#parts = parts;
    this.#kept = new KeptSegments(parts);
  }

  /** Removes what an earlier process left. Before anything is shipped. */
  async prepare(): Promise<void> {
    await this.#kept.clear();
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
    const source: KeptSource = { id, series, level, min, max, bytes, timeMs, path: null, ...(bundled && { bundled }) };
    this.#kept.keep(source, path);
    this.#of(id).isFinished = false;
    this.#collect('minute', source);
  }

  /**
   * Has segments merged that a level lacks, of one series and in order, each as the store has it. Those that are about
   * to be merged anyway are passed over.
   */
  add(step: MergeStep, segments: readonly StoredSegment[]): void {
    const [first] = segments;
    if (first === undefined || this.#isStopped) return;
    const waiting = this.#of(first.id);
    const known = [...waiting.jobs.map(({ group }) => group), ...Object.values(waiting.open)];
    for (const group of levelGroups(
      step,
      segments.map((segment) => ({ ...segment, path: null })),
    )) {
      const { series, level, min, max } = mergedPlace(group);
      const isKnown = known.some((each) => {
        const place = mergedPlace(each);
        const overlaps = place.min <= max && place.max >= min;
        return place.level === level && overlaps && compareSeries(place.series, series) === 0;
      });
      if (!isKnown) waiting.jobs.push({ group, isLate: true, tries: 0, notBeforeMs: 0 });
    }
    this.#begin();
    this.#tidy(first.id);
  }

  /** Nothing more comes of a sandbox for now: what is there is merged, and its minute and its span are over. */
  finish(id: string): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || this.#isStopped) return;
    waiting.isFinished = true;
    if (waiting.open.minute !== undefined) this.#close(waiting, waiting.open.minute);
    this.#endSpan(waiting, () => true);
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
    for (const { segments } of groups) await this.#kept.letGo(segments);
    await this.#kept.remove(id);
    this.#tell();
  }

  /** Merges what is of a minute, a span or an hour that is over. */
  look(): void {
    const now = this.#parts.clock.now();
    for (const waiting of this.#waiting.values()) {
      const { minute, hour } = waiting.open;
      if (minute !== undefined && isWindowOver(minute, now)) this.#close(waiting, minute);
      this.#endSpan(waiting, (span) => isWindowOver(span, now));
      // An hour ends with its last minute.
      const isWhole = waiting.open.span === undefined && waiting.jobs.every(({ group }) => group.step === 'hour');
      if (hour !== undefined && isWhole && isWindowOver(hour, now)) this.#close(waiting, hour);
    }
    this.#begin();
  }

  /** A span ends with its last minute. */
  #endSpan(waiting: Waiting, isOver: (span: LevelGroup<KeptSource>) => boolean): void {
    const { span } = waiting.open;
    const isWhole = waiting.jobs.every(({ group }) => group.step !== 'minute');
    if (span !== undefined && isWhole && isOver(span)) this.#close(waiting, span);
  }

  /** Resolves once nothing is to be merged but what belongs to minutes and hours that are not over. */
  async whenMerged(): Promise<void> {
    if ([...this.#waiting.values()].every(({ jobs, running }) => jobs.length === 0 && running === null)) return;
    await new Promise<void>((resolve) => this.#settled.add(resolve));
  }

  #of(id: string): Waiting {
    const known = this.#waiting.get(id);
    if (known !== undefined) return known;
    const waiting: Waiting = { open: {}, jobs: [], isFinished: false, running: null };
    this.#waiting.set(id, waiting);
    return waiting;
  }

  #collect(step: MergeStep, source: KeptSource): void {
    const waiting = this.#of(source.id);
    const open = waiting.open[step];
    if (open !== undefined && takes(open, source)) {
      open.segments.push(source);
      return;
    }
    if (open !== undefined) this.#close(waiting, open);
    waiting.open[step] = { step, segments: [source] };
    this.#begin();
  }

  #close(waiting: Waiting, group: LevelGroup<KeptSource>): void {
    delete waiting.open[group.step];
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
      let isBusy = true;
      const isFree = () => {
        if (isBusy) this.#running -= 1;
        isBusy = false;
      };
      const done = this.#run(id, waiting, job, { signal: ending.signal, isFree }).finally(() => {
        isFree();
        waiting.running = null;
        if (waiting.isFinished) this.#endSpan(waiting, () => true);
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

  /** One job, first of its sandbox; `isFree`: others may begin. Never rejects. */
  async #run(
    id: string,
    waiting: Waiting,
    job: Job,
    { signal, isFree }: { signal: AbortSignal; isFree: () => void },
  ): Promise<void> {
    const { group, isLate } = job;
    try {
      const made = await this.#merge(group, signal);
      const source: KeptSource = { ...mergedPlace(group), bytes: made.bytes, timeMs: made.timeMs, path: null };
      const tenant = this.#tenantOf(waiting, job, source);
      if (tenant === null || this.#parts.minutes === undefined) await this.#store(source, made.path, job, signal);
      else {
        isFree();
        this.#begin();
        source.bundled = await this.#parts.minutes.put(tenant, { ...source, path: made.path }, group.segments, signal);
      }
      waiting.jobs.shift();
      if (group.step !== 'hour' && source.bundled === undefined) this.#parts.onMerged?.(group.segments);
      await this.#kept.letGo(group.segments);
      if (group.step !== 'hour' && !isLate && !signal.aborted) {
        const isOfSpan = source.bundled !== undefined || (group.step === 'minute' && waiting.open.span !== undefined);
        this.#kept.keep(source, made.path);
        this.#collect(isOfSpan ? 'span' : 'hour', source);
      }
      await unlinkFile(made.path);
    } catch (error) {
      if (signal.aborted) return;
      this.#warn(id, error);
      // What is damaged here is whole in the store.
      await this.#kept.letGo(group.segments);
      job.tries += 1;
      job.notBeforeMs = performance.now() + (this.#parts.againMs ?? AGAIN_MS) * 2 ** (job.tries - 1);
      if (job.tries >= MOST_TRIES) waiting.jobs.shift();
    }
  }

  /** With whose minutes one travels; null: it lies by itself, as one does that failed to travel. */
  #tenantOf({ open }: Waiting, { group, isLate, tries }: Job, minute: KeptSource): string | null {
    if (group.step !== 'minute' || isLate || tries > 0 || this.#parts.minutes === undefined) return null;
    const tenant = this.#parts.minutes.tenantFor(group.segments, minute.bytes);
    if (tenant === null || open.span !== undefined) return tenant;
    let committing = 0;
    for (const { open: other, jobs } of this.#waiting.values()) {
      if (other.minute !== undefined || jobs.some((job) => job.group.step === 'minute')) committing += 1;
    }
    return committing > (this.#parts.mostAlone ?? MOST_ALONE) ? tenant : null;
  }

  /** Resolves with the file (absolute) of what a group becomes, which is in nobody's store yet. */
  async #merge(group: LevelGroup<KeptSource>, signal: AbortSignal): Promise<Merged & { path: string }> {
    const { store, cutter } = this.#parts;
    const place = mergedPlace(group);
    const folder = this.#kept.folderOf(place);
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
      return { ...merged, path };
    } finally {
      for (const path of brought) await unlinkFile(path);
    }
  }

  async #store(merged: KeptSource, path: string, { tries }: Job, signal: AbortSignal): Promise<void> {
    const { store, traffic } = this.#parts;
    const name = segmentName(merged);
    // The answer of an earlier attempt may have been lost: what has this name has these bytes.
    const there = tries > 0 ? await store.head(name, { signal }) : null;
    if (there?.bytes !== merged.bytes) await store.upload(name, path, { timeMs: merged.timeMs, signal });
    traffic?.wrote(merged.bytes);
  }

  #warn(id: string, error: unknown): void {
    this.#parts.log.warn({ id, error: messageOf(error) }, 'segments were not merged');
  }
}
