/**
 * Segments on their way to the store: each sandbox's own in order, several sandboxes at once. What waits lies in the
 * spool, and what an earlier process left there goes first. A store that is away is tried without end.
 */
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { unlinkFile } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import { isThere } from '../../base/is-there.ts';
import type { Logger } from '../../base/log.ts';
import { isCode } from '../../storage/files.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { SegmentLevels } from '../levels/segment-levels.ts';
import type { Cutter } from '../log/cutter.ts';
import { segmentName } from '../names/replica-names.ts';
import { BundleUnmade } from '../segment-bundles/bundle-unmade.ts';
import type { BundleWriter } from '../segment-bundles/bundle-writer.ts';
import { SegmentGone } from '../spool/segment-gone.ts';
import { removeEmpty } from '../spool/spool.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';
import { joinable, joinSegments } from './segment-joining.ts';
import { StorePresence } from './store-presence.ts';

/** Sandboxes whose segments go at the same time. */
const AT_ONCE = 8;
/** Of those for which somebody waits, so many more. */
const FIRST_AT_ONCE = 56;
/** What several sandboxes have within so many milliseconds goes as one. */
const GATHER_MS = 200;
/** How long each goes by itself once a bundle could not be written here. */
const ALONE_MS = 10_000;

export interface SegmentUploadsParts {
  /** Fails soon while it is away. */
  store: Pick<ObjectStore, 'upload' | 'head'>;
  log: Logger;
  /** Whether the store can be used: asked now and then after a failure. */
  isBack: () => Promise<boolean>;
  /** Joins what waits while the store is slower than all sandboxes; without it each segment goes by itself. */
  cutter?: Pick<Cutter, 'merge'>;
  /** Sends what several sandboxes of a tenant have as one; without it each goes by itself. */
  bundles?: Pick<BundleWriter, 'tenantFor' | 'choose' | 'send' | 'forget'>;
  /** Hears of each object that was written. */
  traffic?: { wrote(bytes: number): void };
  /** Takes each segment that is whole in the store, with its file, and hears what is given up. */
  levels?: Pick<SegmentLevels, 'take' | 'finish' | 'drop'>;
}

export class SegmentUploads {
  readonly #parts: SegmentUploadsParts;
  readonly #waiting = new Map<string, SpooledSegment[]>();
  /** Of each sandbox whose segments are being sent, by themselves or in a bundle. */
  readonly #running = new Map<string, Promise<void>>();
  /** How many such sendings there are. */
  #sendings = 0;
  /** Tenants of which a bundle is being sent. */
  readonly #bundling = new Set<string>();
  /** Tenants of which one is about to be. */
  readonly #gathering = new Map<string, NodeJS.Timeout>();
  readonly #empty = new Map<string, Set<() => void>>();
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(segment: SpooledSegment) => void>();
  readonly #lostListeners = new Set<(id: string) => void>();
  /** Sandboxes for whose segments somebody waits. */
  readonly #first = new Set<string>();
  readonly #awayListeners = new Set<() => void>();
  readonly #presence: StorePresence;
  #isKept: (id: string) => boolean = () => true;
  #bytes = 0;
  /** Monotonic milliseconds before which nothing is bundled. */
  #aloneUntilMs = 0;

  constructor(parts: SegmentUploadsParts) {
    this.#parts = parts;
    this.#presence = new StorePresence({
      isBack: parts.isBack,
      ending: this.#ending.signal,
      onAway: () => {
        for (const listener of this.#awayListeners) listener();
      },
      onAnswers: () => this.#begin(),
    });
  }

  /** Bytes in the spool that the store has not. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Since when nothing could be stored (monotonic milliseconds), and why; null: it can. A store that answers and takes
   * nothing, as a full one does, is away.
   */
  get away(): { sinceMs: number; why: string } | null {
    return this.#presence.away;
  }

  /** The segments of a sandbox that the store has not, the oldest first. */
  waiting(id: string): readonly SpooledSegment[] {
    return this.#waiting.get(id) ?? [];
  }

  /** Calls back with a sandbox whose segments were lost before they were stored. */
  onLost(listener: (id: string) => void): void {
    this.#lostListeners.add(listener);
  }

  /** Calls back when the store cannot be used any more. */
  onAway(listener: () => void): void {
    this.#awayListeners.add(listener);
  }

  /** Whether somebody waits for the segments of a sandbox: they go before those of others. */
  putFirst(id: string, isFirst: boolean): void {
    if (isFirst) this.#first.add(id);
    else this.#first.delete(id);
  }

  /** Somebody waits for a store that is away: it is asked soon. */
  hurry(): void {
    this.#presence.hurry();
  }

  /** Calls back with each segment that is whole in the store. */
  onShipped(listener: (segment: SpooledSegment) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Takes what an earlier process left in the spool, the oldest first. It is sent from `begin` or the first `add` on:
   * first it is compared with where each replica ends, which nobody can once the store has it.
   */
  left(segments: readonly SpooledSegment[]): void {
    for (const segment of segments) this.#wait(segment);
  }

  /** Sends what was left. */
  begin(): void {
    this.#begin();
  }

  #wait(segment: SpooledSegment): void {
    const list = this.#waiting.get(segment.id);
    if (list === undefined) this.#waiting.set(segment.id, [segment]);
    else list.push(segment);
    this.#bytes += segment.bytes;
  }

  add(segment: SpooledSegment): void {
    this.#wait(segment);
    const tenant = this.#tenantOf(segment.id);
    if (tenant === null) this.#begin();
    else this.#gather(tenant);
  }

  /**
   * Gives up what waits of a sandbox, and removes it from the spool. A segment that is being sent may still arrive;
   * what was stored before is merged.
   */
  async drop(id: string): Promise<void> {
    await this.#giveUp(id);
    this.#parts.levels?.finish(id);
    this.#tell(id);
  }

  /** The same of one of which nothing may be stored any more, once this and `whenShipped` have resolved. */
  async forget(id: string): Promise<void> {
    await this.#giveUp(id);
    await this.#parts.bundles?.forget(id);
    await this.#parts.levels?.drop(id);
    this.#tell(id);
  }

  async #giveUp(id: string): Promise<void> {
    const list = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    for (const segment of list) {
      this.#bytes -= segment.bytes;
      await this.#remove(segment);
    }
    if (this.#waiting.size === 0) this.#presence.hasNothing();
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
    if (patienceMs > 0 && !this.#presence.hasFailed) {
      const all = Promise.all([...this.#waiting.keys()].map((id) => this.whenShipped(id)));
      await Promise.race([all, pause(patienceMs, undefined, { ref: false })]);
    }
    this.#ending.abort();
    for (const timer of this.#gathering.values()) clearTimeout(timer);
    await Promise.allSettled([...this.#running.values(), this.#presence.settled()]);
  }

  #begin(): void {
    if (this.#waiting.size === 0) this.#presence.hasNothing();
    for (const id of this.#inTurn()) {
      if (this.#running.has(id)) continue;
      const tenant = this.#tenantOf(id);
      if (tenant !== null) this.#gather(tenant);
      else if (this.#hasRoom(this.#first.has(id))) this.#send([id], this.#ship(id));
    }
  }

  #hasRoom(isFirst = false): boolean {
    return this.#sendings < this.#presence.room(AT_ONCE + (isFirst ? FIRST_AT_ONCE : 0));
  }

  #send(ids: readonly string[], work: Promise<void>): void {
    this.#sendings += 1;
    const done = work.finally(() => {
      this.#sendings -= 1;
      for (const id of ids) {
        this.#running.delete(id);
        if (!this.#waiting.has(id)) this.#tell(id);
      }
      this.#begin();
    });
    for (const id of ids) this.#running.set(id, done);
  }

  /** Whose bundle the next segment of a sandbox may be in; null: it goes by itself. */
  #tenantOf(id: string): string | null {
    const [first] = this.#waiting.get(id) ?? [];
    const { bundles } = this.#parts;
    // Nobody waits for a bundle: what somebody waits for goes at once.
    if (bundles === undefined || first === undefined || this.#first.has(id)) return null;
    return performance.now() < this.#aloneUntilMs ? null : bundles.tenantFor(first);
  }

  /** Sends what a tenant has by then, in a moment. */
  #gather(tenant: string): void {
    if (this.#bundling.has(tenant) || this.#gathering.has(tenant) || !this.#hasRoom()) return;
    const timer = setTimeout(() => {
      this.#gathering.delete(tenant);
      this.#sendOf(tenant);
    }, GATHER_MS).unref();
    this.#gathering.set(tenant, timer);
  }

  #sendOf(tenant: string): void {
    const { bundles } = this.#parts;
    // Once there is room it is begun again.
    if (bundles === undefined || !this.#hasRoom()) return;
    const ids = [...this.#waiting.keys()].filter((id) => !this.#running.has(id) && this.#tenantOf(id) === tenant);
    const chosen = bundles.choose(ids.map((id) => this.waiting(id)));
    const of = [...new Set(chosen.map(({ id }) => id))];
    const [only] = of;
    if (only === undefined) return;
    if (of.length === 1) {
      this.#send(of, this.#ship(only));
      return;
    }
    this.#bundling.add(tenant);
    const work = this.#shipBundle(bundles, tenant, chosen);
    this.#send(
      of,
      work.finally(() => this.#bundling.delete(tenant)),
    );
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
      const [first] = this.#waiting.get(id) ?? [];
      if (first === undefined || signal.aborted) return;
      // The next one may go with those of others.
      if (!isFirst && this.#tenantOf(id) !== null) return;
      const { segment, parts } = await this.#turnOf(id, first);
      const name = segmentName(segment);
      try {
        // The answer of an earlier attempt may have been lost; what has this name is this segment.
        const there = isFirst && this.#presence.hasFailed ? await store.head(name, { signal }) : null;
        if (there?.bytes !== segment.bytes) await store.upload(name, segment.path, { timeMs: segment.timeMs, signal });
        this.#took(segment.bytes);
      } catch (error) {
        if (signal.aborted) return;
        // It was given up before it was opened.
        if (this.#waiting.get(id)?.[0] !== first) continue;
        if (isCode(error, 'ENOENT') && parts.some(({ path }) => !isThere(path))) await this.#lost(id);
        else this.#failed(id, error);
        return;
      }
      let isWanted = true;
      for (const part of parts) isWanted = this.#stored(part) && isWanted;
      if (isWanted) this.#parts.levels?.take(segment);
      if (!parts.includes(segment)) await this.#remove(segment);
      for (const part of parts) await this.#remove(part);
    }
  }

  /** Sends segments of several sandboxes as one. */
  async #shipBundle(bundles: Pick<BundleWriter, 'send'>, tenant: string, chosen: SpooledSegment[]): Promise<void> {
    const { signal } = this.#ending;
    let sent: Awaited<ReturnType<BundleWriter['send']>>;
    try {
      sent = await bundles.send(tenant, chosen, signal);
      this.#took(sent.bytes);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof BundleUnmade) this.#aloneUntilMs = performance.now() + ALONE_MS;
      else if (!(error instanceof SegmentGone)) this.#failed(tenant, error);
      // It may have been given up before it was read.
      else if (chosen.some((one) => one.id === error.id && this.waiting(one.id)[0] === one)) await this.#lost(error.id);
      return;
    }
    for (const [at, segment] of chosen.entries()) {
      if (this.#stored(segment)) this.#parts.levels?.take(segment, sent.parts[at]);
      await this.#remove(segment);
    }
  }

  /** A segment is whole in the store. False: it was given up meanwhile. */
  #stored(segment: SpooledSegment): boolean {
    const isWanted = this.#shipped(segment.id, segment);
    for (const listener of this.#listeners) listener(segment);
    return isWanted;
  }

  /** What is sent of a sandbox now: its first segment, or one of several while others wait for their turn. */
  async #turnOf(id: string, first: SpooledSegment): Promise<{ segment: SpooledSegment; parts: SpooledSegment[] }> {
    const { cutter } = this.#parts;
    const alone = { segment: first, parts: [first] };
    if (cutter === undefined || this.#waiting.size <= AT_ONCE) return alone;
    const [, ...others] = joinable(this.#waiting.get(id) ?? []);
    if (others.length === 0) return alone;
    try {
      return { segment: await joinSegments(cutter, [first, ...others]), parts: [first, ...others] };
    } catch (error) {
      // Each goes by itself, which says what is wrong with it.
      this.#parts.log.warn({ id, error: messageOf(error) }, 'segments that wait were not joined');
      return alone;
    }
  }

  /** Without a segment those after it are of no use. */
  async #lost(id: string): Promise<void> {
    this.#parts.log.warn({ id }, 'a segment is gone from the spool');
    await this.drop(id);
    for (const listener of this.#lostListeners) listener(id);
  }

  #failed(id: string, error: unknown): void {
    this.#parts.log.warn({ id, error: messageOf(error) }, 'a segment could not be stored');
    this.#presence.failed(messageOf(error));
  }

  #took(bytes: number): void {
    this.#parts.traffic?.wrote(bytes);
    this.#presence.took();
  }

  /** Says of which sandboxes the folders of the spool are needed again soon. Default: of all. */
  keepFoldersOf(isKept: (id: string) => boolean): void {
    this.#isKept = isKept;
  }

  /** Whose turn is when: a store is tried with what is smallest. */
  #inTurn(): string[] {
    const ids = [...this.#waiting.keys()];
    const bytesOf = (id: string) => this.waiting(id)[0]?.bytes ?? 0;
    return this.#presence.isTrying ? ids.sort((one, other) => bytesOf(one) - bytesOf(other)) : ids;
  }

  /** False: it was given up meanwhile. */
  #shipped(id: string, segment: SpooledSegment): boolean {
    const list = this.#waiting.get(id);
    if (list?.[0] !== segment) return false;
    list.shift();
    this.#bytes -= segment.bytes;
    if (list.length === 0) this.#waiting.delete(id);
    return true;
  }

  async #remove({ id, path }: SpooledSegment): Promise<void> {
    try {
      await unlinkFile(path);
      await removeEmpty(dirname(path), this.#isKept(id) ? 1 : 2);
    } catch (error) {
      this.#parts.log.warn({ error: messageOf(error) }, 'a segment was not removed from the spool');
    }
  }
}
