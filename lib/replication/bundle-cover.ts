/** Which segments of bundles are in segments of higher levels, which lie by themselves. */
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import type { BundledSegment } from './bundle-format.ts';
import { manyAtOnce } from './bundle-reader.ts';
import { parseSegmentName, replicaPrefix, type SegmentSeries, seriesName } from './replica-names.ts';
import { coverOf, type ListedSegment } from './series-cover.ts';

/** What lies by itself of one series. */
interface OwnSeries {
  hasBase: boolean;
  coverOf: (segment: BundledSegment) => ListedSegment | null;
}

/** What lies by itself of some sandboxes, listed once each. */
export class OwnObjects {
  readonly #store: Pick<ObjectStore, 'list' | 'head'>;
  readonly #sinceMs: number;
  readonly #listed = new Map<string, Promise<Map<string, OwnSeries>>>();
  readonly #asked = new Map<string, Promise<boolean>>();

  /** `sinceMs`: what was stored before that (epoch milliseconds) is no cover of anything that is asked for. */
  constructor(store: Pick<ObjectStore, 'list' | 'head'>, sinceMs = 0) {
    this.#store = store;
    this.#sinceMs = sinceMs;
  }

  /** The object of a higher level that has everything in a segment of a bundle, as lists say; null: there is none. */
  async coverOf(segment: BundledSegment): Promise<ListedSegment | null> {
    return (await this.#of(segment.id)).get(seriesName(segment.series))?.coverOf(segment) ?? null;
  }

  /** Whether a list has a base of a series: nothing can be made of it otherwise. */
  async hasBase(id: string, series: SegmentSeries): Promise<boolean> {
    return (await this.#of(id)).get(seriesName(series))?.hasBase ?? false;
  }

  /** Asks the store for an object, once: whether it is as the list says. */
  isThere({ name, bytes }: ListedSegment): Promise<boolean> {
    const asked = this.#asked.get(name) ?? this.#store.head(name).then((found) => found?.bytes === bytes);
    this.#asked.set(name, asked);
    return asked;
  }

  #of(id: string): Promise<Map<string, OwnSeries>> {
    const listed = this.#listed.get(id) ?? this.#list(id);
    this.#listed.set(id, listed);
    return listed;
  }

  async #list(id: string): Promise<Map<string, OwnSeries>> {
    const covers = new Map<string, ListedSegment[]>();
    const bases = new Set<string>();
    for await (const page of this.#store.list(replicaPrefix(id))) {
      for (const { name, bytes, at } of page) {
        const place = parseSegmentName(name);
        if (place === null) continue;
        const key = seriesName(place.series);
        const known = covers.get(key) ?? [];
        covers.set(key, known);
        if (place.min === 1) bases.add(key);
        if (place.level > 0 && at >= this.#sinceMs) known.push({ ...place, name, bytes, at });
      }
    }
    return new Map([...covers].map(([key, own]) => [key, { hasBase: bases.has(key), coverOf: coverOf(own) }]));
  }
}

/** Those segments of bundles that no object of a higher level has. Throws what the store throws. */
export async function lackingInLevels(
  store: Pick<ObjectStore, 'list' | 'head'>,
  segments: readonly BundledSegment[],
): Promise<BundledSegment[]> {
  const objects = new OwnObjects(store);
  const covers = await manyAtOnce(segments, (segment) => objects.coverOf(segment));
  return segments.filter((_, at) => covers[at] === null);
}

/** Segments by their series, each of them once and in order. */
export function bySeries(segments: readonly BundledSegment[]): BundledSegment[][] {
  const found = new Map<string, Map<number, BundledSegment>>();
  for (const segment of segments) {
    const key = `${segment.id} ${seriesName(segment.series)}`;
    const known = found.get(key) ?? new Map<number, BundledSegment>();
    found.set(key, known.set(segment.min, segment));
  }
  return [...found.values()].map((own) => [...own.values()].sort((one, other) => one.min - other.min));
}
