/**
 * Writes bundles: what several sandboxes of a tenant have to send is one object, so that a store is asked as often as
 * there are tenants, and not sandboxes. Knows of each tenant what of its bundles is not in segments of level 1 yet, and
 * says so in each bundle: whoever looks for a moment reads no bundle of before.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder, removeTree, unlinkFile, writeFile } from '../../base/effects.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { isCode } from '../../storage/files.ts';
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import {
  type BundleLevel,
  type BundlePart,
  type BundlePlace,
  bundleName,
  minuteOf,
  parseBundleName,
} from '../names/bundle-names.ts';
import type { StoredSegment } from '../names/level-groups.ts';
import { newSeries } from '../names/replica-names.ts';
import { SegmentGone } from '../spool/segment-gone.ts';
import type { SpooledSegment } from '../spool/spooled-segment.ts';
import { type BundledSegment, type BundleIndex, bundleParts, encodeIndex } from './bundle-format.ts';
import { TenantBundles } from './bundle-reader.ts';
import { BundleUnmade } from './bundle-unmade.ts';
import { PendingMinutes } from './pending-minutes.ts';

/** Bytes of a bundle, about: one request stores it. */
export const MOST_BUNDLE_BYTES = 4 * 1024 * 1024;
/** A segment with more goes by itself. */
export const MOST_BUNDLED_BYTES = 1024 * 1024;

export interface BundleWriterParts {
  /** Fails soon while it is away. */
  store: Pick<ObjectStore, 'upload' | 'list' | 'open'>;
  /** Absolute; nothing in it has to survive. */
  folder: string;
  /** Of the segments' times. */
  clock: { now(): number };
  log: Logger;
  /** The term of this host. */
  term: number;
  /** What of some minutes, both included, no object of level 1 has. Throws what the store throws. */
  lacking: (bundles: TenantBundles, from: number, to: number) => Promise<BundledSegment[]>;
  /** Has them merged. */
  merge: (segments: readonly BundledSegment[]) => void;
}

/** What is known of one tenant's bundles. */
interface Book {
  previous: string | null;
  /** What no object of level 1 has. */
  readonly pending: PendingMinutes;
  /** What no bundle of minutes has either. */
  readonly unmerged: PendingMinutes;
  /** The first minute of what an earlier process left; null: nothing. */
  left: number | null;
  isOver: boolean;
}

export class BundleWriter {
  readonly #parts: BundleWriterParts;
  readonly #tenants = new Map<string, string>();
  readonly #books = new Map<string, Promise<Book>>();
  readonly #looking = new Set<Promise<void>>();
  #isStopped = false;
  #files = 0;

  constructor(parts: BundleWriterParts) {
    this.#parts = parts;
  }

  /** Removes what an earlier process left. Before anything is sent. */
  async prepare(): Promise<void> {
    await removeTree(this.#parts.folder);
    await makeFolder(this.#parts.folder);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled(this.#looking);
  }

  /** Whose a sandbox is: it may be in bundles from now on. */
  note(id: string, tenant: string): void {
    this.#tenants.set(id, tenant);
  }

  /** Whose bundles a segment may be in; null: it goes by itself. */
  tenantFor({ id, level, bytes }: SpooledSegment): string | null {
    return level === 0 && bytes <= MOST_BUNDLED_BYTES ? (this.#tenants.get(id) ?? null) : null;
  }

  /**
   * What of the segments that wait (of each sandbox in order) goes in one bundle: those of the oldest minute, of each
   * sandbox from its first one on.
   */
  choose(waiting: readonly (readonly SpooledSegment[])[]): SpooledSegment[] {
    const firsts = waiting.flatMap(([first]) => (first === undefined ? [] : [minuteOf(first.timeMs)]));
    const minute = Math.min(...firsts);
    const chosen: SpooledSegment[] = [];
    let sum = 0;
    for (const segments of waiting) {
      for (const segment of segments) {
        const fits = sum + segment.bytes <= MOST_BUNDLE_BYTES;
        if (!fits || this.tenantFor(segment) === null || minuteOf(segment.timeMs) !== minute) break;
        chosen.push(segment);
        sum += segment.bytes;
      }
    }
    return chosen;
  }

  /**
   * Stores segments (of one minute, of sandboxes of `tenant`) as one object; resolves with where each is, and with the
   * bytes of the object, once it is whole in the store. Throws `SegmentGone` for one whose file is gone, `BundleUnmade`
   * when this disk refuses, and what the store throws.
   */
  async send(
    tenant: string,
    segments: readonly SpooledSegment[],
    signal: AbortSignal,
  ): Promise<{ parts: BundlePart[]; bytes: number }> {
    const book = await this.#bookOf(tenant, signal);
    const minute = minuteOf(segments[0]?.timeMs ?? 0);
    const { pending, unmerged, left, previous } = book;
    const known = {
      since: Math.min(left ?? minute, pending.first(minute)),
      merged: Math.min(left ?? minute, unmerged.first(minute)),
      previous,
    };
    const sent = await this.#send(this.#placeOf(tenant, 0, minute), known, segments, signal);
    book.previous = sent.name;
    for (const segment of segments) {
      pending.add(segment);
      unmerged.add(segment);
    }
    return sent;
  }

  /** The same of the minutes of sandboxes, each merged. */
  sendMinutes(
    tenant: string,
    minutes: readonly SpooledSegment[],
    signal: AbortSignal,
  ): Promise<{ parts: BundlePart[]; bytes: number }> {
    const minute = minuteOf(minutes[0]?.timeMs ?? 0);
    const known = { since: minute, merged: minute, previous: null };
    return this.#send(this.#placeOf(tenant, 1, minute), known, minutes, signal);
  }

  #placeOf(tenant: string, level: BundleLevel, minute: number): BundlePlace {
    const { term, clock } = this.#parts;
    return { tenant, level, minute, mark: newSeries(term, clock.now()) };
  }

  async #send(
    place: BundlePlace,
    known: Pick<BundleIndex, 'since' | 'merged' | 'previous'>,
    segments: readonly SpooledSegment[],
    signal: AbortSignal,
  ): Promise<{ name: string; parts: BundlePart[]; bytes: number }> {
    const { store, folder } = this.#parts;
    const name = bundleName(place);
    const bodies = await Promise.all(segments.map(bodyOf));
    const entries = segments.map((segment, at) => ({ ...segment, crc: crc32(bodies[at] ?? '') }));
    const index = encodeIndex(place, known, entries);
    this.#files += 1;
    const path = join(folder, `${this.#files}`);
    try {
      const whole = Buffer.concat([index, ...bodies]);
      await writeFile(path, whole).catch((error: unknown) => {
        throw new BundleUnmade(error);
      });
      await store.upload(name, path, { signal });
      return { name, parts: bundleParts(name, index.length, entries), bytes: whole.length };
    } finally {
      await unlinkFile(path).catch(() => undefined);
    }
  }

  /** Segments of one sandbox are in an object of level 1, which the store has. */
  merged(segments: readonly StoredSegment[]): void {
    for (const segment of segments) {
      const tenant = segment.bundled === undefined ? null : parseBundleName(segment.bundled.name)?.tenant;
      if (!tenant) continue;
      void this.#books.get(tenant)?.then(({ pending, unmerged }) => {
        pending.remove(segment);
        unmerged.remove(segment);
      });
    }
  }

  /** Segments of one sandbox of a tenant are in a bundle of minutes, which the store has. */
  gathered(tenant: string, segments: readonly StoredSegment[]): void {
    void this.#books.get(tenant)?.then(({ unmerged }) => {
      for (const segment of segments) unmerged.remove(segment);
    });
  }

  /** A sandbox is forgotten: nothing more of its tenant is merged from bundles that an earlier process left. */
  async forget(id: string): Promise<void> {
    const tenant = this.#tenants.get(id);
    this.#tenants.delete(id);
    if (tenant === undefined) return;
    const book = await this.#books.get(tenant)?.catch(() => null);
    if (book) book.isOver = true;
    this.#books.delete(tenant);
  }

  #bookOf(tenant: string, signal: AbortSignal): Promise<Book> {
    const known = this.#books.get(tenant);
    if (known !== undefined) return known;
    const book = this.#openBook(tenant, signal);
    this.#books.set(tenant, book);
    book.catch(() => this.#books.delete(tenant));
    return book;
  }

  /** What an earlier process said of its last bundle holds on, until what it left is merged. */
  async #openBook(tenant: string, signal: AbortSignal): Promise<Book> {
    const { store, clock } = this.#parts;
    const bundles = new TenantBundles(store, tenant, { nowMs: () => clock.now(), signal });
    const newest = await bundles.newest();
    const [pending, unmerged] = [new PendingMinutes(), new PendingMinutes()];
    const book: Book = { previous: null, pending, unmerged, left: newest?.since ?? null, isOver: false };
    if (newest !== null) {
      const looking = this.#takeOver(bundles, book, newest.place.minute).catch((error: unknown) =>
        this.#parts.log.warn({ tenant, error: messageOf(error) }, 'what is left in bundles was not looked through'),
      );
      this.#looking.add(looking);
      void looking.finally(() => this.#looking.delete(looking));
    }
    return book;
  }

  async #takeOver(bundles: TenantBundles, book: Book, last: number): Promise<void> {
    if (book.left === null) return;
    const lacking = await this.#parts.lacking(bundles, book.left, last);
    if (this.#isStopped || book.isOver) return;
    for (const segment of lacking) {
      book.pending.add(segment);
      if (segment.level === 0) book.unmerged.add(segment);
    }
    book.left = null;
    this.#parts.merge(lacking);
  }
}

async function bodyOf({ id, path, bytes }: SpooledSegment): Promise<Buffer> {
  const body = await readFile(path).catch((error: unknown) => {
    throw isCode(error, 'ENOENT') ? new SegmentGone(id, error) : error;
  });
  if (body.length !== bytes) throw new SegmentGone(id, new Error(`It has ${body.length} bytes instead of ${bytes}.`));
  return body;
}
