/**
 * Which segments of a series are of no more use, because a segment of a higher level has everything that is in them and
 * can be made use of itself. Pure; what the store really has is asked through `isThere`.
 */
import type { SegmentPlace } from '../names/replica-names.ts';

/** A segment as a list shows it. */
export interface ListedSegment extends SegmentPlace {
  name: string;
  bytes: number;
  /** When it was stored, in epoch milliseconds by the store's clock. */
  at: number;
}

/** The numbers of the states that segments make, from a base on. They may overlap. */
function endsIn(segments: Iterable<SegmentPlace>): Set<number> {
  const ends = new Set([0]);
  for (const { min, max } of [...segments].sort((one, other) => one.min - other.min || one.max - other.max)) {
    if (ends.has(min - 1)) ends.add(max);
  }
  return ends;
}

const contains = (cover: SegmentPlace, segment: SegmentPlace) => cover.min <= segment.min && segment.max <= cover.max;

/** For each segment one of the covers that has all of it, and is of a higher level; none where there is none. */
export function coverOf(covers: readonly ListedSegment[]): (segment: SegmentPlace) => ListedSegment | null {
  const sorted = covers.toSorted((one, other) => one.min - other.min || other.max - one.max || other.level - one.level);
  /** Of the covers up to each, the one that reaches farthest. */
  const farthest: ListedSegment[] = [];
  for (const cover of sorted) {
    const before = farthest.at(-1);
    farthest.push(before !== undefined && before.max >= cover.max ? before : cover);
  }
  return (segment) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle]?.min ?? 0) <= segment.min) low = middle + 1;
      else high = middle;
    }
    const cover = farthest[low - 1];
    return cover !== undefined && contains(cover, segment) && cover.level > segment.level ? cover : null;
  };
}

/** The segments that a level lacks: no segment of it, or of a higher one, has them. In order. */
export function lackingIn(segments: readonly ListedSegment[], level: number): ListedSegment[] {
  const cover = coverOf(segments.filter((segment) => segment.level >= level));
  return segments
    .filter((segment) => segment.level === level - 1 && segment.min > 1 && cover(segment) === null)
    .sort((one, other) => one.min - other.min || one.max - other.max);
}

/**
 * What goes of a series: segments that a cover has, whose age `isOld` says. `isThere` asks the store for a segment.
 * A cover counts only where its state can be made of nothing but segments that are there and stay; and every state
 * that ends a segment that stays can be made as before, or nothing goes.
 */
export async function uselessIn(
  segments: readonly ListedSegment[],
  isOld: (cover: ListedSegment) => boolean,
  isThere: (segment: ListedSegment) => Promise<boolean>,
): Promise<ListedSegment[]> {
  const candidates = segments.filter((segment) => segment.level > 0 && isOld(segment));
  const isCandidateOf = coverOf(candidates);
  if (!segments.some((segment) => isCandidateOf(segment) !== null)) return [];
  const solid: ListedSegment[] = [];
  for (const segment of segments) {
    if ((segment.level > 0 || segment.min === 1) && (await isThere(segment))) solid.push(segment);
  }
  let gone = new Set<ListedSegment>();
  // The highest level first: what it makes useless makes nothing else so.
  for (const level of [...new Set(candidates.map((cover) => cover.level))].sort((one, other) => other - one)) {
    const covers = candidates.filter((cover) => cover.level === level && solid.includes(cover) && !gone.has(cover));
    const covered = coverOf(covers);
    const ends = endsIn(solid.filter((segment) => !gone.has(segment) && covered(segment) === null));
    const good = coverOf(covers.filter((cover) => ends.has(cover.max)));
    gone = new Set([...gone, ...segments.filter((segment) => good(segment) !== null)]);
  }
  const before = endsIn(segments);
  const after = endsIn(segments.filter((segment) => !gone.has(segment)));
  const last = Math.max(...before);
  const isKept = segments.every(({ max }, at) => {
    const segment = segments[at];
    return segment === undefined || gone.has(segment) || !before.has(max) || after.has(max);
  });
  return isKept && after.has(last) ? [...gone] : [];
}
