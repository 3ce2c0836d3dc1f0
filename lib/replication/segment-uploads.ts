/**
 * Segments on their way to the store: each sandbox's own in order, several sandboxes at once. What waits lies in the
 * spool, and what an earlier process left there goes first. A store that is away is tried without end.
 */
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { removeFolder, unlinkFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isCode } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { type SegmentPlace, segmentName } from './replica-names.ts';

/** Sandboxes whose segments go at the same time. */
const AT_ONCE = 8;
/** Pauses after a failure, in milliseconds: doubled up to the longest. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const MOST_DOUBLINGS = 10;

export interface SpooledSegment extends SegmentPlace {
  /** Absolute. */
  path: string;
  bytes: number;
  /** Of the last commit in it, in epoch milliseconds. */
  timeMs: number;
}

export interface SegmentUploadsParts {
  /** Fails soon while it is away. */
  store: Pick<ObjectStore, 'upload' | 'head'>;
  log: Logger;
  /** Whether the store can be used: asked now and then after a failure. */
  isBack: () => Promise<boolean>;
}

export class SegmentUploads {
  readonly #parts: SegmentUploadsParts;
  readonly #waiting = new Map<string, SpooledSegment[]>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #empty = new Map<string, Set<() => void>>();
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(segment: SpooledSegment) => void>();
  readonly #lostListeners = new Set<(id: string) => void>();
  #probing: Promise<void> = Promise.resolve();
  #bytes = 0;
  #failures = 0;
  #away: { sinceMs: number; why: string } | null = null;

  constructor(parts: SegmentUploadsParts) {
    this.#parts = parts;
  }

  /** Bytes in the spool that the store has not. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Since when nothing could be stored (monotonic milliseconds), and why; null: it can. */
  get away(): { sinceMs: number; why: string } | null {
    return this.#away;
  }

  /** The segments of a sandbox that the store has not, the oldest first. */
  waiting(id: string): readonly SpooledSegment[] {
    return this.#waiting.get(id) ?? [];
  }

  /** Calls back with a sandbox whose segments were lost before they were stored. */
  onLost(listener: (id: string) => void): void {
    this.#lostListeners.add(listener);
  }

  /** Calls back with each segment that is whole in the store. */
  onShipped(listener: (segment: SpooledSegment) => void): void {
    this.#listeners.add(listener);
  }

  add(segment: SpooledSegment): void {
    const list = this.#waiting.get(segment.id);
    if (list === undefined) this.#waiting.set(segment.id, [segment]);
    else list.push(segment);
    this.#bytes += segment.bytes;
    this.#begin();
  }

  /** Gives up what waits of a sandbox, and removes it from the spool. A segment that is being sent may still arrive. */
  async drop(id: string): Promise<void> {
    const list = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const segment of list) {
      this.#bytes -= segment.bytes;
      await this.#remove(segment);
    }
    this.#tell(id);
  }

  /** Resolves once the store has every segment that a sandbox has now, or they were given up. */
  async whenShipped(id: string): Promise<void> {
    if (!this.#waiting.has(id) && !this.#running.has(id)) return;
    await new Promise<void>((resolve) => {
      const told = this.#empty.get(id) ?? new Set();
      this.#empty.set(id, told.add(resolve));
    });
  }

  /** Ends, after `patienceMs` at the latest. What waits then stays in the spool. */
  async stop(patienceMs = 0): Promise<void> {
    if (patienceMs > 0 && this.#failures === 0) {
      const all = Promise.all([...this.#waiting.keys()].map((id) => this.whenShipped(id)));
      await Promise.race([all, pause(patienceMs, undefined, { ref: false })]);
    }
    this.#ending.abort();
    await Promise.allSettled([...this.#running.values(), this.#probing]);
  }

  #begin(): void {
    if (this.#away !== null) return;
    const atOnce = this.#failures > 0 ? 1 : AT_ONCE;
    for (const id of this.#waiting.keys()) {
      if (this.#ending.signal.aborted || this.#running.size >= atOnce) return;
      if (this.#running.has(id)) continue;
      const done = this.#ship(id).finally(() => {
        this.#running.delete(id);
        if (!this.#waiting.has(id)) this.#tell(id);
        this.#begin();
      });
      this.#running.set(id, done);
    }
  }

  #tell(id: string): void {
    const told = this.#empty.get(id);
    this.#empty.delete(id);
    for (const resolve of told ?? []) resolve();
  }

  /** Sends what waits of one sandbox, until it fails. */
  async #ship(id: string): Promise<void> {
    const { store } = this.#parts;
    const { signal } = this.#ending;
    for (let isFirst = true; ; isFirst = false) {
      const segment = this.#waiting.get(id)?.[0];
      if (segment === undefined || signal.aborted) return;
      const name = segmentName(segment);
      try {
        // The answer of an earlier attempt may have been lost; what has this name is this segment.
        const there = isFirst && this.#failures > 0 ? await store.head(name, { signal }) : null;
        if (there?.bytes !== segment.bytes) await store.upload(name, segment.path, { signal });
        this.#failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        // It was given up before it was opened.
        if (this.#waiting.get(id)?.[0] !== segment) continue;
        if (isCode(error, 'ENOENT')) await this.#lost(id);
        else this.#failed(id, error);
        return;
      }
      this.#shipped(id, segment);
      for (const listener of this.#listeners) listener(segment);
      await this.#remove(segment);
    }
  }

  /** Without a segment those after it are of no use. */
  async #lost(id: string): Promise<void> {
    this.#parts.log.warn({ id }, 'a segment is gone from the spool');
    await this.drop(id);
    for (const listener of this.#lostListeners) listener(id);
  }

  #failed(id: string, error: unknown): void {
    this.#failures += 1;
    this.#parts.log.warn({ id, error: messageOf(error) }, 'a segment could not be stored');
    if (this.#away !== null) return;
    this.#away = { sinceMs: performance.now(), why: messageOf(error) };
    this.#probing = this.#probe();
  }

  /** Asks until the store can be used again, also when nothing waits any more. */
  async #probe(): Promise<void> {
    const { signal } = this.#ending;
    for (let asked = 0; ; asked += 1) {
      const wait = FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1 + asked, MOST_DOUBLINGS);
      await pause(Math.min(wait, LONGEST_PAUSE_MS), undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      if (await this.#parts.isBack().catch(() => false)) break;
    }
    this.#away = null;
    this.#begin();
  }

  #shipped(id: string, segment: SpooledSegment): void {
    const list = this.#waiting.get(id);
    if (list?.[0] !== segment) return;
    list.shift();
    this.#bytes -= segment.bytes;
    if (list.length === 0) this.#waiting.delete(id);
  }

  async #remove({ path }: SpooledSegment): Promise<void> {
    try {
      await unlinkFile(path);
      await removeFolder(dirname(path)).catch(() => undefined);
    } catch (error) {
      this.#parts.log.warn({ error: messageOf(error) }, 'a segment was not removed from the spool');
    }
  }
}
