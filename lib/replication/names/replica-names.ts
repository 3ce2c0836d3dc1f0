/**
 * Names in a replica, in Litestream's layout below each series. A *series* is an unbroken chain of segments: a base
 * with every page, and what was committed since. Pure.
 */
import { randomBytes } from 'node:crypto';

/** The level of bases. */
export const BASE_LEVEL = 9;
/** Of the registry: no sandbox has such an id. */
export const REGISTRY_ID = '_registry';

/** A chain of segments. */
export interface SegmentSeries {
  /**
   * What orders it among those of its database before the time of its token: of a sandbox the number of its row
   * (lib/registry/series-order.ts), of the registry the term of its host.
   */
  readonly term: number;
  /** The time when it began, and what nobody else makes. */
  readonly token: string;
}

/** Where a segment belongs: transactions `min` to `max` of its series, at a level of Litestream's. */
export interface SegmentPlace {
  readonly id: string;
  readonly series: SegmentSeries;
  readonly level: number;
  readonly min: number;
  readonly max: number;
}

/** Milliseconds since the epoch as 9 digits of base 36, which sort as they grow until the year 5188. */
const TIME_DIGITS = 9;
const SEGMENT =
  /^replica\/([a-z0-9_][a-z0-9_-]{0,62})\/t(\d{1,15})-([0-9a-z]{9}-[0-9a-f]{12})\/ltx\/(\d)\/([0-9a-f]{16})-([0-9a-f]{16})\.ltx$/;

/** Of the last token: its time, and how many had that time before it. */
let last = { time: '', count: 0 };

/**
 * A series that begins now. Its token sorts by time among those of its term, and by turn among those of one
 * millisecond: a restore takes the last one.
 */
export function newSeries(term: number, nowMs: number): SegmentSeries {
  const time = Math.max(0, Math.floor(nowMs)).toString(36).padStart(TIME_DIGITS, '0');
  last = { time, count: time === last.time ? last.count + 1 : 0 };
  return { term, token: `${time}-${last.count.toString(16).padStart(4, '0')}${randomBytes(4).toString('hex')}` };
}

export const seriesName = ({ term, token }: SegmentSeries): string => `t${term}-${token}`;

const hex16 = (number: number) => number.toString(16).padStart(16, '0');

/** Litestream's name of a segment, without a folder. */
export const segmentFile = (min: number, max: number): string => `${hex16(min)}-${hex16(max)}.ltx`;

/** Everything of one sandbox, or of the registry. */
export const replicaPrefix = (id: string): string => `replica/${id}/`;

/** The folder that one of Litestream's own tools is given. */
const seriesPrefix = (id: string, series: SegmentSeries): string => `${replicaPrefix(id)}${seriesName(series)}/`;

export function segmentName({ id, series, level, min, max }: SegmentPlace): string {
  return `${seriesPrefix(id, series)}ltx/${level}/${segmentFile(min, max)}`;
}

/** What a name in a store says; null when it is none of a segment. */
export function parseSegmentName(name: string): SegmentPlace | null {
  const [, id, term, token, level, min, max] = SEGMENT.exec(name) ?? [];
  if (id === undefined || token === undefined) return null;
  const place = {
    id,
    series: { term: Number(term), token },
    level: Number(level),
    min: Number.parseInt(min ?? '', 16),
    max: Number.parseInt(max ?? '', 16),
  };
  const isSound = place.min >= 1 && place.min <= place.max && Number.isSafeInteger(place.max);
  return isSound ? place : null;
}

/** Later series of a sandbox come later: by term, then by time. */
export function compareSeries(one: SegmentSeries, other: SegmentSeries): number {
  return one.term - other.term || (one.token < other.token ? -1 : Number(one.token > other.token));
}

/** When a series began, in epoch milliseconds. */
export function begunMs({ token }: SegmentSeries): number {
  return Number.parseInt(token.slice(0, TIME_DIGITS), 36);
}
