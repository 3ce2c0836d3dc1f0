/** Which segments of bundles are in segments of higher levels, which lie by themselves. */
import type { ObjectStore } from '../../storage/object-store/object-store.ts';
import type { BundleLevel } from '../names/bundle-names.ts';
import { parseSegmentName, replicaPrefix, type SegmentSeries, seriesName } from '../names/replica-names.ts';
import type { BundledSegment } from '../segment-bundles/bundle-format.ts';
import { manyAtOnce, type TenantBundles } from '../segment-bundles/bundle-reader.ts';
import type { SegmentLevels } from './segment-levels.ts';
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
    // What lies by itself is a cover of a minute in a bundle as well.
    return (await this.#of(segment.id)).get(seriesName(segment.series))?.coverOf({ ...segment, level: 0 }) ?? null;
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

/**
 * What bundles of some minutes have, both included, that no object of level 1 has: minutes, and the commits that are in
 * none. Throws what the store throws.
 */
export async function lackingInLevels(
  store: Pick<ObjectStore, 'list' | 'head'>,
  bundles: Pick<TenantBundles, 'inMinutes'>,
  from: number,
  to: number,
): Promise<BundledSegment[]> {
  const objects = new OwnObjects(store);
  const lacking = async (level: BundleLevel) => {
    const { segments } = await bundles.inMinutes(level, from, to);
    const covers = await manyAtOnce(segments, (segment) => objects.coverOf(segment));
    return segments.filter((_, at) => covers[at] === null);
  };
  const minutes = await lacking(1);
  const byItsSeries = new Map<string, BundledSegment[]>();
  for (const minute of minutes) byItsSeries.set(keyOf(minute), [...(byItsSeries.get(keyOf(minute)) ?? []), minute]);
  const isIn = (commit: BundledSegment) =>
    byItsSeries.get(keyOf(commit))?.some(({ min, max }) => min <= commit.min && commit.max <= max) ?? false;
  return [...minutes, ...(await lacking(0)).filter((commit) => !isIn(commit))];
}

/** Has merged what lacks an object of level 1: minutes to spans of them, and commits to minutes. */
export function mergeLacking(levels: Pick<SegmentLevels, 'add'>, segments: readonly BundledSegment[]): void {
  for (const level of [1, 0]) {
    const own = bySeries(segments.filter((segment) => segment.level === level));
    for (const one of own) levels.add(level === 1 ? 'span' : 'minute', one);
  }
}

const keyOf = ({ id, series }: BundledSegment) => `${id} ${seriesName(series)}`;

/** Segments of a level by their series, each of them once and in order. */
function bySeries(segments: readonly BundledSegment[]): BundledSegment[][] {
  const found = new Map<string, Map<number, BundledSegment>>();
  for (const segment of segments) {
    const key = keyOf(segment);
    const known = found.get(key) ?? new Map<number, BundledSegment>();
    found.set(key, known.set(segment.min, segment));
  }
  return [...found.values()].map((own) => [...own.values()].sort((one, other) => one.min - other.min));
}
