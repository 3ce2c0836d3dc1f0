/**
 * Moments that are open for reading: files at rest in a folder, which who reads the same one shares. Those that nobody
 * reads go after a while, and before that, the least recently used first, where others need their room. Knows nothing
 * of what is read.
 */
import { basename, join } from 'node:path';
import { makeFolder, renameFile } from '../../base/effects.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { FairQueue } from '../../base/fair-queue.ts';
import { serverIsStopping } from '../../base/fair-slots.ts';
import { discard } from '../../storage/files.ts';
import { awayOf } from '../../storage/object-store/store-errors.ts';
import type { LocatedMoment, MadeMoment, MomentOwner, MomentSource } from './moment-source.ts';

/** How long one stays after it was read last, in milliseconds. */
const KEEP_MS = 5 * 60_000;
/** Moments that are made at the same time. */
const MADE_AT_ONCE = 2;
/** Moments that may wait until they are made, in all and of one tenant. Each comes from a request. */
const MOST_WAITING = 512;
const MOST_WAITING_EACH = 128;
/** Files at the same time, however small they are. */
const MOST_FILES = 512;
/** Times by which one moment is found again without asking the store. */
const MOST_TIMES = 100;

export interface OpenedMomentsOptions {
  source: Pick<MomentSource, 'find' | 'make'>;
  /** Absolute, and there. A file in it is called by the id of its sandbox, a dot, and more. */
  folder: string;
  /** Absolute, on the same filesystem: for what is not whole yet. */
  staging: string;
  /** Bytes of all files together. */
  mostBytes: number;
  keepMs?: number;
}

/** A moment that can be read as long as its user says so. */
export interface ReadableMoment {
  /** Absolute, of a file at rest. */
  path: string;
  /** When it was committed, in epoch milliseconds. */
  timeMs: number;
}

interface Opened {
  readonly key: string;
  readonly whose: MomentOwner;
  /** Absolute. No other file has had this name. */
  readonly path: string;
  readonly ready: PromiseWithResolvers<ReadableMoment>;
  readonly calledOff: AbortController;
  /** Times by which it was found for good. */
  readonly times: Set<string>;
  /** Null once it was asked. */
  make: ((target: string, signal: AbortSignal) => Promise<MadeMoment>) | null;
  /** Of its file. */
  bytes: number;
  users: number;
  /** `kept`: its file is there, and its bytes are counted; `making`: the bytes are. */
  state: 'waiting' | 'making' | 'kept' | 'gone';
  /** Nobody may come to it any more: it goes with its last user. */
  isDropped: boolean;
  timer: NodeJS.Timeout | null;
}

export class OpenedMoments {
  readonly #options: OpenedMomentsOptions;
  /** The least recently used comes first. */
  readonly #opened = new Map<string, Opened>();
  readonly #byTime = new Map<string, Opened>();
  readonly #finding = new Map<string, Promise<LocatedMoment>>();
  /** Looks that are under way, and whether their sandbox was deleted meanwhile. */
  readonly #looks = new Set<{ readonly id: string; isGone: boolean }>();
  readonly #waiting = new FairQueue<Opened>();
  /** Whose turn it is while there is no room for it. */
  #next: Opened | null = null;
  readonly #removing = new Set<Promise<void>>();
  #making = 0;
  /** Of what is made or kept: bytes, and how many there are. */
  #bytes = 0;
  #files = 0;
  /** Names so far. */
  #names = 0;
  #isStopped = false;

  constructor(options: OpenedMomentsOptions) {
    this.#options = options;
  }

  /** Bytes of the files that are there, or are being made. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Runs `read` on the newest moment of a sandbox up to `atMs` (epoch milliseconds); its file stays until that ends.
   * `isFinal`: nothing that comes to the store later belongs before that time. Throws `moment_gone` when there is none,
   * `too_large` for one that has no room, `rate_limited`, `corrupt`, `storage_unavailable`.
   */
  async use<T>(
    whose: MomentOwner,
    { atMs, isFinal }: { atMs: number; isFinal: boolean },
    read: (moment: ReadableMoment) => Promise<T>,
  ): Promise<T> {
    const opened = await this.#hold(whose, atMs, isFinal);
    try {
      return await read(await opened.ready.promise);
    } catch (error) {
      // Something else than this class removed or changed it: the next one gets another file.
      if (isWinterdockError(error) && error.code === 'missing_file') this.#drop(opened, error);
      throw error;
    } finally {
      this.#release(opened);
    }
  }

  /** Removes the moments of a sandbox; those that are read go with their last reader. Nothing else is left of it. */
  async forget(id: string): Promise<void> {
    const gone = deleted(id);
    for (const look of this.#looks) if (look.id === id) look.isGone = true;
    await this.#dropAll(
      [...this.#opened.values()].filter(({ whose }) => whose.id === id),
      gone,
    );
  }

  /** Refuses what waits, calls off what is made, and removes everything. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#dropAll([...this.#opened.values()], serverIsStopping());
  }

  async #dropAll(all: readonly Opened[], why: WinterdockError): Promise<void> {
    for (const opened of all) this.#drop(opened, why);
    await Promise.allSettled(all.map(({ ready }) => ready.promise));
    await Promise.all(this.#removing);
  }

  /** One more user of the newest moment up to a time. */
  async #hold(whose: MomentOwner, atMs: number, isFinal: boolean): Promise<Opened> {
    this.#requireRunning();
    const time = `${whose.id} ${atMs}`;
    const known = this.#byTime.get(time);
    if (known !== undefined) return this.#used(known);
    const { found, key, bytes } = await this.#look(whose, () =>
      isFinal ? this.#findOnce(whose, atMs, time) : this.#find(whose, atMs),
    );
    const there = this.#opened.get(`${whose.id}.${key}`);
    const opened =
      there ??
      this.#open(whose, `${whose.id}.${key}`, bytes, (target, signal) =>
        this.#options.source.make(whose, { atMs, found, target }, signal),
      );
    if (isFinal) this.#note(opened, time);
    return this.#used(opened);
  }

  async #look({ id }: MomentOwner, find: () => Promise<LocatedMoment>): Promise<LocatedMoment> {
    const look = { id, isGone: false };
    this.#looks.add(look);
    try {
      const located = await find();
      this.#requireRunning();
      if (look.isGone) throw deleted(id);
      return located;
    } finally {
      this.#looks.delete(look);
    }
  }

  #find(whose: MomentOwner, atMs: number): Promise<LocatedMoment> {
    return this.#options.source.find(whose, atMs);
  }

  /** Those who look for the same moment at the same time look once. */
  #findOnce(whose: MomentOwner, atMs: number, time: string): Promise<LocatedMoment> {
    const known = this.#finding.get(time);
    if (known !== undefined) return known;
    const finding = this.#find(whose, atMs).finally(() => this.#finding.delete(time));
    this.#finding.set(time, finding);
    return finding;
  }

  #note(opened: Opened, time: string): void {
    if (opened.times.size >= MOST_TIMES) {
      const [oldest = ''] = opened.times;
      opened.times.delete(oldest);
      this.#byTime.delete(oldest);
    }
    opened.times.add(time);
    this.#byTime.set(time, opened);
  }

  #open(whose: MomentOwner, key: string, bytes: number, make: Opened['make']): Opened {
    const { folder, mostBytes } = this.#options;
    if (bytes > mostBytes) throw tooLarge(whose.id, bytes, mostBytes);
    if (this.#waiting.length >= MOST_WAITING || this.#waiting.lengthOf(whose.tenant) >= MOST_WAITING_EACH) {
      throw new WinterdockError('rate_limited', 'Too many moments wait to be opened.', { retryAfterSeconds: 5 });
    }
    this.#names += 1;
    const opened: Opened = {
      ...{ key, whose, bytes, make, path: join(folder, `${key}-${this.#names}.sqlite`) },
      ...{ ready: Promise.withResolvers(), calledOff: new AbortController(), times: new Set() },
      ...{ users: 0, state: 'waiting', isDropped: false, timer: null },
    };
    // Its users are told; when all of them are gone nobody is.
    opened.ready.promise.catch(() => undefined);
    this.#opened.set(key, opened);
    this.#waiting.add(whose.tenant, opened);
    this.#makeNext();
    return opened;
  }

  /** Begins to make the next ones, as far as there is room for their files. */
  #makeNext(): void {
    while (this.#making < MADE_AT_ONCE) {
      this.#next ??= this.#waiting.take() ?? null;
      const opened = this.#next;
      if (opened === null || !this.#makeRoom(opened.bytes)) return;
      this.#next = null;
      this.#making += 1;
      this.#files += 1;
      this.#bytes += opened.bytes;
      opened.state = 'making';
      void this.#make(opened).finally(() => {
        this.#making -= 1;
        this.#tidy(opened);
        this.#makeNext();
      });
    }
  }

  /** Never rejects. */
  async #make(opened: Opened): Promise<void> {
    const { staging } = this.#options;
    const { path, calledOff, ready, make } = opened;
    opened.make = null;
    const target = join(staging, basename(path));
    try {
      await makeFolder(staging);
      const made = await make?.(target, calledOff.signal);
      if (made === undefined) throw new Error('A moment is made once.');
      await renameFile(target, path);
      this.#bytes += made.bytes - opened.bytes;
      opened.bytes = made.bytes;
      opened.state = 'kept';
      // What was called off too late is whole, and nobody's any more.
      if (opened.isDropped) ready.reject(calledOff.signal.reason);
      else ready.resolve({ path, timeMs: made.timeMs });
    } catch (error) {
      await discard(target);
      this.#files -= 1;
      this.#bytes -= opened.bytes;
      opened.state = 'gone';
      this.#drop(opened, error);
      ready.reject(calledOff.signal.reason ?? error);
      // Each of those that wait would wait as long for the same answer.
      if (awayOf(error) !== null) this.#refuseWaiting(error);
    }
  }

  #refuseWaiting(why: unknown): void {
    for (const opened of [...this.#opened.values()]) if (opened.state === 'waiting') this.#drop(opened, why);
  }

  /** Lets go of what nobody reads, the least recently used first, until so many bytes have room. */
  #makeRoom(bytes: number): boolean {
    const hasRoom = () => this.#bytes + bytes <= this.#options.mostBytes && this.#files < MOST_FILES;
    for (const opened of this.#opened.values()) {
      if (hasRoom()) return true;
      if (opened.users === 0 && opened.state === 'kept') this.#drop(opened, null);
    }
    return hasRoom();
  }

  #used(opened: Opened): Opened {
    opened.users += 1;
    if (opened.timer !== null) clearTimeout(opened.timer);
    opened.timer = null;
    this.#opened.delete(opened.key);
    this.#opened.set(opened.key, opened);
    return opened;
  }

  #release(opened: Opened): void {
    opened.users -= 1;
    if (opened.users > 0) return;
    const { keepMs = KEEP_MS } = this.#options;
    if (!opened.isDropped) opened.timer = setTimeout(() => this.#drop(opened, null), keepMs).unref();
    this.#tidy(opened);
    this.#makeNext();
  }

  /** Nobody comes to it any more; whoever waits for it is refused with `why`. */
  #drop(opened: Opened, why: unknown): void {
    if (opened.isDropped) return;
    opened.isDropped = true;
    if (opened.timer !== null) clearTimeout(opened.timer);
    this.#opened.delete(opened.key);
    for (const time of opened.times) this.#byTime.delete(time);
    opened.calledOff.abort(why);
    if (opened.state === 'waiting') {
      this.#waiting.remove(opened);
      if (this.#next === opened) this.#next = null;
      opened.state = 'gone';
      opened.ready.reject(why);
    }
    this.#tidy(opened);
  }

  /** Removes the file of one that was dropped and has no user. */
  #tidy(opened: Opened): void {
    if (!opened.isDropped || opened.users > 0 || opened.state !== 'kept') return;
    opened.state = 'gone';
    this.#files -= 1;
    this.#bytes -= opened.bytes;
    const removing = discard(opened.path).finally(() => this.#removing.delete(removing));
    this.#removing.add(removing);
  }

  #requireRunning(): void {
    if (this.#isStopped) throw serverIsStopping();
  }
}

function tooLarge(id: string, bytes: number, most: number): WinterdockError {
  return new WinterdockError(
    'too_large',
    `A moment of "${id}" takes ${bytes} bytes, more than may be open to be read.`,
    {
      hint: 'Make a new sandbox from it, or ask whoever runs the server for a larger WB_MOMENTS_CACHE.',
      extra: { size: bytes, limit: most },
    },
  );
}

function deleted(id: string): WinterdockError {
  return new WinterdockError('gone', `The sandbox "${id}" was deleted.`);
}
