/** What is in bundles and lacks something, by the minute in which it was committed. */
import { minuteOf } from '../names/bundle-names.ts';
import type { StoredSegment } from '../names/level-groups.ts';
import { seriesName } from '../names/replica-names.ts';

type Pending = Pick<StoredSegment, 'id' | 'series' | 'min' | 'max' | 'timeMs'>;

export class PendingMinutes {
  /** By minute and series: the first number of each segment. */
  readonly #minutes = new Map<number, Map<string, Set<number>>>();

  add(segment: Pending): void {
    const minute = minuteOf(segment.timeMs);
    const series = this.#minutes.get(minute) ?? new Map<string, Set<number>>();
    const key = keyOf(segment);
    this.#minutes.set(minute, series.set(key, (series.get(key) ?? new Set()).add(segment.min)));
  }

  /** Nothing of a minute lacks anything that is in a segment. */
  remove(segment: Pending): void {
    const minute = minuteOf(segment.timeMs);
    const series = this.#minutes.get(minute);
    const firsts = series?.get(keyOf(segment));
    if (series === undefined || firsts === undefined) return;
    for (const min of firsts) if (min >= segment.min && min <= segment.max) firsts.delete(min);
    if (firsts.size === 0) series.delete(keyOf(segment));
    if (series.size === 0) this.#minutes.delete(minute);
  }

  /** The first minute of them, or `other` when that is earlier. */
  first(other: number): number {
    return Math.min(other, ...this.#minutes.keys());
  }
}

const keyOf = ({ id, series }: Pending) => `${id} ${seriesName(series)}`;
