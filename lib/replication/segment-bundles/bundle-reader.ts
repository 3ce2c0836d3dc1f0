/**
 * Finds what a tenant's bundles have of a time, by their names: no more is listed than the minutes, or hours, that are
 * asked for. What was read once is not read again. A bundle that is damaged is passed over: others, and what is before
 * it, can be had all the same.
 */
import { crc32 } from 'node:zlib';
import { writeFile } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import type { ListedObject, ObjectStore } from '../../storage/object-store/object-store.ts';
import {
  type BundleLevel,
  type BundlePart,
  type BundlePlace,
  bundlePrefix,
  compareBundles,
  minuteOf,
  parseBundleName,
  tenantPrefix,
} from '../names/bundle-names.ts';
import {
  BUNDLE_HEAD_BYTES,
  type BundledSegment,
  type BundleIndex,
  badBundle,
  decodeIndex,
  indexBytesOf,
  isObjectLost,
} from './bundle-format.ts';

/** Read of each bundle at first: the whole index of some hundred segments. */
const FIRST_BYTES = 16 * 1024;
const AT_ONCE = 16;
/** So many minutes are listed one by one: of minutes there are few in an hour. */
const MOST_MINUTES: Readonly<Record<BundleLevel, number>> = { 0: 6, 1: 1 };
/** So many hours are listed hour by hour. */
const MOST_HOURS = 36;
/** How far a writer's clock may be before that of a reader, in minutes. */
const AHEAD = 60;

type ReadStore = Pick<ObjectStore, 'list' | 'open'>;

/** A bundle as a list shows it. */
export interface ListedBundle extends BundlePlace {
  name: string;
  bytes: number;
}

/** What bundles have of some minutes. */
export interface FoundInBundles {
  segments: readonly BundledSegment[];
  /** Whether a bundle that another one follows is not there, or one is damaged. */
  isShort: boolean;
  /** Whether one is damaged. */
  isDamaged: boolean;
}

export class TenantBundles {
  readonly #store: ReadStore;
  readonly #tenant: string;
  readonly #nowMs: () => number;
  readonly #signal: AbortSignal | undefined;
  readonly #lists = new Map<string, Promise<ListedBundle[]>>();
  readonly #indexes = new Map<string, Promise<BundleIndex>>();
  /** Segments that are damaged, by their bundle and place. */
  readonly #damaged = new Set<string>();
  #newest: Promise<BundleIndex | null> | null = null;
  #hasDamage = false;

  /** `nowMs`: epoch milliseconds, about those of whoever writes. */
  constructor(
    store: ReadStore,
    tenant: string,
    { nowMs = Date.now, signal }: { nowMs?: () => number; signal?: AbortSignal } = {},
  ) {
    this.#store = store;
    this.#tenant = tenant;
    this.#nowMs = nowMs;
    this.#signal = signal;
  }

  /** Whether a bundle was passed over as damaged. */
  get hasDamage(): boolean {
    return this.#hasDamage;
  }

  /** A segment is damaged: from now on it is as if it was not there. */
  passOver(part: BundlePart): void {
    this.#damaged.add(keyOf(part));
  }

  /** The last bundle that is sound; null: there is none. Throws `storage_unavailable`. */
  newest(): Promise<BundleIndex | null> {
    this.#newest ??= this.#findNewest();
    return this.#newest;
  }

  /** What bundles of a level have of the minutes `from` to `to`, both included. Throws `storage_unavailable`. */
  async inMinutes(level: BundleLevel, from: number, to: number): Promise<FoundInBundles> {
    const listed = (await this.#listedIn(level, from, Math.min(to, minuteOf(this.#nowMs()) + AHEAD))).filter(
      (bundle) => bundle.level === level && bundle.minute >= from && bundle.minute <= to,
    );
    const found = await manyAtOnce(listed, (bundle) => this.#soundIndexOf(bundle));
    const indexes = found.filter((index) => index !== null);
    const names = new Set(listed.map(({ name }) => name));
    const isMissing = ({ previous }: BundleIndex) => {
      const minute = previous === null ? undefined : parseBundleName(previous)?.minute;
      return previous !== null && minute !== undefined && minute >= from && !names.has(previous);
    };
    const all = indexes.flatMap(({ segments }) => segments);
    const segments = all.filter(({ bundled }) => !this.#damaged.has(keyOf(bundled)));
    const isDamaged = segments.length < all.length || indexes.length < found.length;
    return { segments, isDamaged, isShort: isDamaged || indexes.some(isMissing) };
  }

  /** The shortest lists first: one of now has something while somebody writes. */
  async #findNewest(): Promise<BundleIndex | null> {
    const now = minuteOf(this.#nowMs());
    const [hour, day] = [60, 24 * 60];
    const of = { tenant: this.#tenant, level: 0 } as const;
    const minutes = [now + 1, now, now - 1].map((minute) => bundlePrefix(of, minute, 'minute'));
    // They are asked for at once: while somebody writes, one of them has something.
    for (const prefix of minutes) this.#listed(prefix).catch(() => undefined);
    const prefixes = [
      ...minutes,
      ...[now, now - hour].map((minute) => bundlePrefix(of, minute, 'hour')),
      ...[now, now - day].map((minute) => bundlePrefix(of, minute, 'day')),
      tenantPrefix(this.#tenant),
    ];
    for (const prefix of prefixes) {
      const listed = (await this.#listed(prefix)).filter(({ level }) => level === 0);
      for (const bundle of listed.sort(compareBundles).reverse()) {
        const index = await this.#soundIndexOf(bundle);
        if (index !== null) return index;
      }
    }
    return null;
  }

  async #listedIn(level: BundleLevel, from: number, to: number): Promise<ListedBundle[]> {
    if (from > to) return [];
    const prefixes = new Set<string>();
    const of = { tenant: this.#tenant, level };
    const hours = Math.floor(to / 60) - Math.floor(from / 60) + 1;
    if (to - from < MOST_MINUTES[level]) {
      for (let minute = from; minute <= to; minute += 1) prefixes.add(bundlePrefix(of, minute, 'minute'));
    } else if (hours <= MOST_HOURS) {
      for (let at = 0; at < hours; at += 1) prefixes.add(bundlePrefix(of, from + at * 60, 'hour'));
    } else prefixes.add(tenantPrefix(this.#tenant));
    return (await Promise.all([...prefixes].map((prefix) => this.#listed(prefix)))).flat();
  }

  #listed(prefix: string): Promise<ListedBundle[]> {
    const known = this.#lists.get(prefix) ?? listBundles(this.#store, prefix, this.#signal);
    this.#lists.set(prefix, known);
    return known;
  }

  /** Null: it is damaged, or was removed since it was listed. */
  async #soundIndexOf(bundle: ListedBundle): Promise<BundleIndex | null> {
    try {
      return await this.#indexOf(bundle);
    } catch (error) {
      if (!isObjectLost(error)) throw error;
      this.#hasDamage = true;
      return null;
    }
  }

  #indexOf(bundle: ListedBundle): Promise<BundleIndex> {
    const known = this.#indexes.get(bundle.name) ?? readIndex(this.#store, bundle, this.#signal);
    this.#indexes.set(bundle.name, known);
    return known;
  }
}

const keyOf = ({ name, at }: BundlePart) => `${name} ${at}`;

async function listBundles(store: ReadStore, prefix: string, signal?: AbortSignal): Promise<ListedBundle[]> {
  const found: ListedBundle[] = [];
  for await (const page of store.list(prefix, signal ? { signal } : {})) found.push(...bundlesOf(page));
  return found;
}

/** What of a page of a list is bundles. */
export function bundlesOf(page: readonly ListedObject[]): ListedBundle[] {
  return page.flatMap(({ name, bytes }) => {
    const place = parseBundleName(name);
    return place === null ? [] : [{ ...place, name, bytes }];
  });
}

/** Throws `corrupt`, `missing_file`, `storage_unavailable`. */
export async function readIndex(
  store: Pick<ObjectStore, 'open'>,
  { name, bytes }: Pick<ListedBundle, 'name' | 'bytes'>,
  signal?: AbortSignal,
): Promise<BundleIndex> {
  let read = await readRange(store, name, 0, Math.min(FIRST_BYTES, bytes), signal);
  const end = BUNDLE_HEAD_BYTES + indexBytesOf(name, read);
  if (end > bytes) throw badBundle(name, 'it is cut off');
  if (end > read.length) {
    read = Buffer.concat([read, await readRange(store, name, read.length, end - read.length, signal)]);
  }
  return decodeIndex(name, read.subarray(0, BUNDLE_HEAD_BYTES), read.subarray(BUNDLE_HEAD_BYTES, end), bytes);
}

/** Writes the segment of a bundle to a file (absolute). Throws `corrupt`, `missing_file`, `storage_unavailable`. */
export async function bringPart(
  store: Pick<ObjectStore, 'open'>,
  part: BundlePart,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const { name, at, bytes, crc } = part;
  const segment = await readRange(store, name, at, bytes, signal);
  if (segment.length !== bytes) throw badBundle(name, 'it is cut off', part);
  if (crc32(segment) !== crc) throw badBundle(name, `what is at ${at} has another checksum`, part);
  await writeFile(path, segment);
}

async function readRange(
  store: Pick<ObjectStore, 'open'>,
  name: string,
  first: number,
  bytes: number,
  signal?: AbortSignal,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  if (bytes === 0) return Buffer.alloc(0);
  try {
    const range = { first, last: first + bytes - 1 };
    for await (const piece of await store.open(name, { range, ...(signal && { signal }) })) pieces.push(piece);
  } catch (error) {
    // It ends before that.
    if (!isWinterdockError(error) || error.code !== 'range_not_satisfiable') throw error;
  }
  return Buffer.concat(pieces);
}

/** What `work` makes of each, some at the same time, in order. Rejects with the first failure. */
export async function manyAtOnce<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const made: R[] = [];
  const left = all.entries();
  const run = async () => {
    for (const [at, one] of left) made[at] = await work(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
  return made;
}
