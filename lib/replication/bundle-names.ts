/**
 * Names of bundles: objects that have what several sandboxes of one tenant committed within one minute of the clock, as
 * the segments that each of them would have by itself. By the minute in the name those of a moment are found. Pure.
 */
import { compareSeries, type SegmentSeries, seriesName } from './replica-names.ts';

/** Of the clock of segments; one of level 1 is of the same minute at most. */
const MINUTE_MS = 60_000;
/** `2026-11-29T06-39`: what begins it is a longer time. */
const MINUTE_TEXT = 16;
const BUNDLE =
  /^bundles\/([a-z0-9_][a-z0-9_-]{0,62})\/(\d{4}-\d\d-\d\dT\d\d-\d\d)\/t(\d{1,15})-([0-9a-z]{9}-[0-9a-f]{12})$/;

/** All bundles, of all tenants. */
export const ALL_BUNDLES = 'bundles/';

export interface BundlePlace {
  readonly tenant: string;
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

/** The bundles of one minute, or of all minutes of its hour or day. */
export function bundlePrefix(tenant: string, minute: number, of: 'minute' | 'hour' | 'day'): string {
  const text = { minute: `${minuteText(minute)}/`, hour: minuteText(minute).slice(0, 14), day: dayText(minute) }[of];
  return `${tenantPrefix(tenant)}${text}`;
}

const dayText = (minute: number) => minuteText(minute).slice(0, 11);

export function bundleName({ tenant, minute, mark }: BundlePlace): string {
  return `${bundlePrefix(tenant, minute, 'minute')}${seriesName(mark)}`;
}

/** What a name in a store says; null when it is none of a bundle. */
export function parseBundleName(name: string): BundlePlace | null {
  const [, tenant, text, term, token] = BUNDLE.exec(name) ?? [];
  if (tenant === undefined || text === undefined || token === undefined) return null;
  const minute = minuteOf(Date.parse(`${text.slice(0, 13)}:${text.slice(14)}:00Z`));
  return Number.isNaN(minute) ? null : { tenant, minute, mark: { term: Number(term), token } };
}

/** Later bundles come later. */
export function compareBundles(one: BundlePlace, other: BundlePlace): number {
  return one.minute - other.minute || compareSeries(one.mark, other.mark);
}
