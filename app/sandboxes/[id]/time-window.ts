/** The time that the Time tab shows, and the part of it that is chosen: from the address, and back into one. Pure. */
import { type SearchParams, singleValues } from '../../search-params.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
/** The shortest time that is drawn. */
const LEAST = 60;

/** Epoch seconds; `to` is exclusive. */
export interface Span {
  from: number;
  to: number;
}

export interface TimeWindow {
  shown: Span;
  /** Whether all of its life is shown. */
  isWhole: boolean;
  chosen: Span | null;
}

export const LENGTHS: readonly [name: string, seconds: number][] = [
  ['Hour', HOUR],
  ['Day', DAY],
  ['Week', 7 * DAY],
  ['Month', 30 * DAY],
];

function spanIn(values: Record<string, string>, first: string, last: string): Span | null {
  const [from, to] = [values[first], values[last]].map((text) => (/^\d{1,11}$/.test(text ?? '') ? Number(text) : null));
  return typeof from === 'number' && typeof to === 'number' && to > from ? { from, to } : null;
}

/** `life`: from its creation to now. What the address says beyond it is cut off, and nonsense is left out. */
export function timeWindowOf(search: SearchParams, life: Span): TimeWindow {
  const values = singleValues(search);
  const asked = spanIn(values, 'begin', 'end');
  const shown = asked === null ? life : within(asked, life);
  const chosen = spanIn(values, 'from', 'to');
  return { shown, isWhole: asked === null, chosen: chosen === null ? null : within(chosen, life) };
}

function within(span: Span, life: Span): Span {
  const to = Math.max(Math.min(span.to, life.to), Math.min(life.to, life.from + LEAST));
  return { from: Math.max(life.from, Math.min(span.from, to - 1)), to };
}

export function timeAddress(id: string, { shown, isWhole, chosen }: TimeWindow): string {
  const search = new URLSearchParams({ tab: 'time' });
  if (!isWhole) {
    search.set('begin', String(shown.from));
    search.set('end', String(shown.to));
  }
  if (chosen !== null) {
    search.set('from', String(chosen.from));
    search.set('to', String(chosen.to));
  }
  return `/sandboxes/${id}?${search}#parts`;
}

/** The time of this length that ends where the shown one does. */
export function ofLength({ shown }: TimeWindow, seconds: number, life: Span): TimeWindow {
  return { shown: within({ from: shown.to - seconds, to: shown.to }, life), isWhole: false, chosen: null };
}

/** The shown time, moved by its own length; null where there is no more of its life. */
export function moved({ shown, isWhole }: TimeWindow, by: -1 | 1, life: Span): TimeWindow | null {
  if (isWhole || (by < 0 ? shown.from <= life.from : shown.to >= life.to)) return null;
  const length = shown.to - shown.from;
  const to = Math.min(life.to, Math.max(life.from + length, shown.to + by * length));
  return { shown: within({ from: to - length, to }, life), isWhole: false, chosen: null };
}
