/**
 * What the Past tab shows: the part of the life that is drawn, the moment that is open, the one that it is compared
 * with. From the address, and back into one. Pure.
 */
import type { FilesPage } from '#components/files/file-address.ts';
import { parseMoment } from '#components/ui/moments.ts';
import { UTC_ZONE } from '#components/ui/zones.ts';
import { epochOf, isTimeZone, wallTimeOf } from '#lib/base/zoned-time.ts';
import { type SearchParams, singleValues } from '../../../search-params.ts';
import { type Span, type TimeWindow, timeWindowOf } from '../time-window.ts';

/** Epoch seconds with at most four digits of fractions, as `exactTime` writes them. */
const EXACT = /^\d{1,11}\.\d{1,4}$/;
const WHOLE = /^\d+$/;

/** A time of the address: as it was given, and in epoch seconds, null where it is none. */
interface GivenTime {
  text: string;
  time: number | null;
}

export interface PastView {
  /** What the strip of the life shows. */
  window: TimeWindow;
  /** Up to when it is looked at; null: no moment is chosen. */
  at: GivenTime | null;
  /** What it is compared with; null: nothing is. */
  to: 'now' | GivenTime | null;
  /** The middle of the list of moments; null: the newest are listed. */
  near: number | null;
  /** What is open, or was when another moment was chosen. */
  volume: string | null;
  path: string | null;
}

/** Epoch seconds of what somebody typed in a zone, or of an address of the console; null for anything else. */
export function parseTime(text: string, zone: string = UTC_ZONE): number | null {
  if (EXACT.test(text)) return Number(text);
  const read = parseMoment(text, 'last');
  // Seconds of the epoch are those of every zone.
  return read === null || WHOLE.test(text) || zone === UTC_ZONE ? read : epochOf(wallTimeOf(read, UTC_ZONE), zone);
}

function given(text: string | undefined, zone: string): GivenTime | null {
  return text === undefined ? null : { text, time: parseTime(text, zone) };
}

/** `life`: from its creation to now. */
export function pastViewOf(search: SearchParams, life: Span): PastView {
  const values = singleValues(search);
  const { shown, isWhole } = timeWindowOf({ begin: search.begin, end: search.end }, life);
  // The zone of a form's fields; times of other addresses are of the epoch, or in UTC.
  const zone = values.zone !== undefined && isTimeZone(values.zone) ? values.zone : UTC_ZONE;
  const at = given(values.at, zone);
  const opened = at?.time ?? null;
  const isInSight = opened !== null && (isWhole || (opened >= shown.from && opened <= shown.to));
  const asked = parseTime(values.near ?? '');
  const path = Array.isArray(search.path) ? search.path[0] : search.path;
  return {
    window: { shown, isWhole, chosen: null },
    at,
    to: values.to === 'now' ? 'now' : given(values.to, zone),
    near: asked ?? (isInSight ? opened : isWhole ? null : shown.to),
    volume: values.volume ?? null,
    // File names may begin or end with spaces, so the path is not trimmed.
    path: path === undefined || path === '' ? null : path,
  };
}

/** What is in the address of each page of a view, `at` and `to` besides. */
function windowValues({ window: { shown, isWhole } }: Pick<PastView, 'window'>): Record<string, string> {
  return isWhole ? {} : { begin: String(shown.from), end: String(shown.to) };
}

/** The address of a view. `near` is kept where it is given: the list then stays as it is while one steps through it. */
export function pastAddress(
  id: string,
  view: Pick<PastView, 'window' | 'volume' | 'path'>,
  { at, to, near }: { at: string | null; to?: string | null; near?: string | null },
): string {
  const search = new URLSearchParams({ tab: 'past', ...windowValues(view) });
  if (at !== null) search.set('at', at);
  if (to !== undefined && to !== null) search.set('to', to);
  if (near !== undefined && near !== null) search.set('near', near);
  if (view.volume !== null) search.set('volume', view.volume);
  if (view.path !== null) search.set('path', view.path);
  return `/sandboxes/${id}?${search}#${to === undefined || to === null ? 'past' : 'inside'}`;
}

/**
 * Epoch seconds of exactly this moment, as the API takes them: a whole second would mean its end, so that one that is
 * whole has a fraction that no moment has.
 */
export function exactTime(timeMs: number): string {
  return timeMs % 1000 === 0 ? `${timeMs / 1000}.0004` : String(timeMs / 1000);
}

/** The files of a moment, as pages address them. */
export function filesPageOf(
  id: string,
  view: PastView,
  timeMs: number,
  near: number | null,
): FilesPage & { at: string } {
  const at = exactTime(timeMs);
  return { id, at, keep: { tab: 'past', ...windowValues(view), ...(near === null ? {} : { near: String(near) }), at } };
}
