/**
 * Names of bundles: objects that have what several sandboxes of one tenant committed within one minute of the clock, as
 * the segments that each of them would have by itself: as it was committed, or the minute of each as one. By the minute
 * in the name those of a moment are found. Pure.
 */
import { compareSeries, type SegmentSeries, seriesName } from './replica-names.ts';

/** Of the clock of segments; one of level 1 is of the same minute at most. */
const MINUTE_MS = 60_000;
/** `2026-11-29T06-39`: what begins it is a longer time. */
const MINUTE_TEXT = 16;
const BUNDLE =
  /^bundles\/([a-z0-9_][a-z0-9_-]{0,62})\/(minutes\/)?(\d{4}-\d\d-\d\dT\d\d-\d\d)\/t(\d{1,15})-([0-9a-z]{9}-[0-9a-f]{12})$/;

/** All bundles, of all tenants. */
export const ALL_BUNDLES = 'bundles/';

/** The level of what is in a bundle: 0 as it was committed, 1 the minute of each sandbox. */
export type BundleLevel = 0 | 1;

export interface BundlePlace {
  readonly tenant: string;
  readonly level: BundleLevel;
  /** Whole minutes since the epoch. */
  readonly minute: number;
  /** What makes the name one that nobody else makes: the term of the host, and a token. */
  readonly mark: SegmentSeries;
}

/** Where a segment lies that is in a bundle. */
export interface BundlePart {
  /** Of the bundle. */
  readonly name: string;
  /** Of the segment's first byte, from the bundle's. */
  readonly at: number;
  readonly bytes: number;
  /** CRC-32 of the segment. */
  readonly crc: number;
}

/** The minute of a time in epoch milliseconds. */
export const minuteOf = (timeMs: number): number => Math.floor(timeMs / MINUTE_MS);

export const minuteMs = (minute: number): number => minute * MINUTE_MS;

const minuteText = (minute: number) =>
  new Date(minuteMs(minute)).toISOString().slice(0, MINUTE_TEXT).replaceAll(':', '-');

/** All bundles of a tenant. */
export const tenantPrefix = (tenant: string): string => `${ALL_BUNDLES}${tenant}/`;

/** The bundles of a level of one minute, or of all minutes of its hour or day. */
export function bundlePrefix(
  { tenant, level }: Pick<BundlePlace, 'tenant' | 'level'>,
  minute: number,
  of: 'minute' | 'hour' | 'day',
): string {
  const text = { minute: `${minuteText(minute)}/`, hour: minuteText(minute).slice(0, 14), day: dayText(minute) }[of];
  return `${tenantPrefix(tenant)}${level === 1 ? 'minutes/' : ''}${text}`;
}

const dayText = (minute: number) => minuteText(minute).slice(0, 11);

export function bundleName(place: BundlePlace): string {
  return `${bundlePrefix(place, place.minute, 'minute')}${seriesName(place.mark)}`;
}

/** What a name in a store says; null when it is none of a bundle. */
export function parseBundleName(name: string): BundlePlace | null {
  const [, tenant, minutes, text, term, token] = BUNDLE.exec(name) ?? [];
  if (tenant === undefined || text === undefined || token === undefined) return null;
  const minute = minuteOf(Date.parse(`${text.slice(0, 13)}:${text.slice(14)}:00Z`));
  const level = minutes === undefined ? 0 : 1;
  return Number.isNaN(minute) ? null : { tenant, level, minute, mark: { term: Number(term), token } };
}

/** Later bundles come later. */
export function compareBundles(one: BundlePlace, other: BundlePlace): number {
  return one.minute - other.minute || compareSeries(one.mark, other.mark);
}
