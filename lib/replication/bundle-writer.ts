/**
 * Writes bundles: what several sandboxes of a tenant have to send is one object, so that a store is asked as often as
 * there are tenants, and not sandboxes. Knows of each tenant what of its bundles is not in segments of level 1 yet, and
 * says so in each bundle: whoever looks for a moment reads no bundle of before.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeFolder, removeTree, unlinkFile, writeFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { isCode } from '../storage/files.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { type BundledSegment, bundleParts, encodeIndex } from './bundle-format.ts';
import { type BundlePart, bundleName, minuteOf, parseBundleName } from './bundle-names.ts';
import { TenantBundles } from './bundle-reader.ts';
import { BundleUnmade } from './bundle-unmade.ts';
import type { StoredSegment } from './level-groups.ts';
import { newSeries, seriesName } from './replica-names.ts';
import { SegmentGone } from './segment-gone.ts';
import type { SpooledSegment } from './spooled-segment.ts';

/** Bytes of a bundle, about: one request stores it. */
const MOST_BYTES = 4 * 1024 * 1024;
/** A segment with more goes by itself. */
const MOST_SEGMENT_BYTES = 1024 * 1024;

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
  /** Those of segments in bundles that no segment of level 1 has. Throws what the store throws. */
  lacking: (segments: readonly BundledSegment[]) => Promise<BundledSegment[]>;
  /** Has them merged. */
  merge: (segments: readonly BundledSegment[]) => void;
}

/** What is known of one tenant's bundles. */
interface Book {
  previous: string | null;
  /** By minute: the segments in bundles that no segment of level 1 has. */
  readonly pending: Map<number, Set<string>>;
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
    return level === 0 && bytes <= MOST_SEGMENT_BYTES ? (this.#tenants.get(id) ?? null) : null;
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
        const fits = sum + segment.bytes <= MOST_BYTES;
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
    const { store, clock, term, folder } = this.#parts;
    const book = await this.#bookOf(tenant, signal);
    const minute = minuteOf(segments[0]?.timeMs ?? 0);
    const place = { tenant, minute, mark: newSeries(term, clock.now()) };
    const name = bundleName(place);
    const bodies = await Promise.all(segments.map(bodyOf));
    const entries = segments.map((segment, at) => ({ ...segment, crc: crc32(bodies[at] ?? '') }));
    const index = encodeIndex(place, { since: sinceOf(book, minute), previous: book.previous }, entries);
    this.#files += 1;
    const path = join(folder, `${this.#files}`);
    try {
      const whole = Buffer.concat([index, ...bodies]);
      await writeFile(path, whole).catch((error: unknown) => {
        throw new BundleUnmade(error);
      });
      await store.upload(name, path, { signal });
      book.previous = name;
      const pending = book.pending.get(minute) ?? new Set();
      book.pending.set(minute, pending);
      for (const segment of segments) pending.add(keyOf(segment));
      return { parts: bundleParts(name, index.length, entries), bytes: whole.length };
    } finally {
      await unlinkFile(path).catch(() => undefined);
    }
  }

  /** Segments of one sandbox are in one of level 1, which the store has. */
  merged(segments: readonly StoredSegment[]): void {
    for (const segment of segments) {
      const tenant = segment.bundled === undefined ? null : parseBundleName(segment.bundled.name)?.tenant;
      if (!tenant) continue;
      void this.#books.get(tenant)?.then(({ pending }) => {
        const minute = minuteOf(segment.timeMs);
        const keys = pending.get(minute);
        keys?.delete(keyOf(segment));
        if (keys?.size === 0) pending.delete(minute);
      });
    }
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
    const book: Book = { previous: null, pending: new Map(), left: newest?.since ?? null, isOver: false };
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
    const { segments } = await bundles.inMinutes(book.left, last);
    const lacking = await this.#parts.lacking(segments);
    if (this.#isStopped || book.isOver) return;
    for (const segment of lacking) {
      const minute = minuteOf(segment.timeMs);
      book.pending.set(minute, (book.pending.get(minute) ?? new Set()).add(keyOf(segment)));
    }
    book.left = null;
    this.#parts.merge(lacking);
  }
}

/** The first minute of which a bundle has something that no segment of level 1 has. */
const sinceOf = ({ pending, left }: Book, minute: number) => Math.min(minute, left ?? minute, ...pending.keys());

const keyOf = ({ id, series, min }: Pick<StoredSegment, 'id' | 'series' | 'min'>) =>
  `${id} ${seriesName(series)} ${min}`;

async function bodyOf({ id, path, bytes }: SpooledSegment): Promise<Buffer> {
  const body = await readFile(path).catch((error: unknown) => {
    throw isCode(error, 'ENOENT') ? new SegmentGone(id, error) : error;
  });
  if (body.length !== bytes) throw new SegmentGone(id, new Error(`It has ${body.length} bytes instead of ${bytes}.`));
  return body;
}
