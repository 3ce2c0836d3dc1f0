/** The layout of the trade-off curve: points, lines, labels, and each point in words. Pure. */
import type { Simulation } from '#lib/contract/schema.ts';
import { lengthInWords, thresholdInWords } from '../../../components/ui/durations.ts';

export type TradeTally = Simulation['was'];

export interface TradePoint {
  /** Idle seconds before a suspension. */
  threshold: number;
  would: TradeTally;
  /** How many of the cold wakes are estimated. */
  estimated: number;
}

/**
 * Height in pixels. Horizontal positions are in percent, so that the plot fills its room and its text keeps its size.
 */
export const HEIGHT = 260;
const TOP = 26;
const BOTTOM = 208;
const LEFT = 6;
const RIGHT = 92;
/** Labels nearer than this, in percent and pixels, would overlap. */
const LABEL_WIDTH = 16;
const LABEL_HEIGHT = 18;
const ABOVE = -10;
const BELOW = 20;

interface Mark {
  /** Percent from the left, or pixels from the top. */
  at: number;
  value: number;
}

export interface TradeLayout {
  /** `label`: the offset of the label below its point, in pixels; null: no label. */
  points: { x: number; y: number; label: number | null }[];
  wakes: Mark[];
  hours: Mark[];
}

/** Round numbers between two bounds, usually two to four. */
export function roundsBetween(from: number, to: number, least = 0): number[] {
  const raw = Math.max((to - from) / 4, least, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(least, ([1, 2, 5, 10].find((size) => size * power >= raw) ?? 10) * power);
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

/** `first`: points that are labelled before others, as far as there is room, the most important first. */
export function tradeLayout(points: readonly TradePoint[], first: readonly number[]): TradeLayout {
  const across = scale(
    points.map(({ would }) => would.cold_wakes),
    LEFT,
    RIGHT,
  );
  const down = scale(
    points.map(({ would }) => would.process_hours),
    BOTTOM,
    TOP,
  );
  const placed = points.map(({ would }) => ({ x: across.at(would.cold_wakes), y: down.at(would.process_hours) }));
  const taken: { x: number; y: number }[] = [];
  const labels = new Map<number, number>();
  for (const index of new Set([...first, 0, points.length - 1, ...points.keys()])) {
    const place = placed[index];
    if (place === undefined) continue;
    // A required label goes below its point where there is no room above.
    const ways = first.includes(index) ? [ABOVE, BELOW] : [ABOVE];
    const way = ways.find((dy) => !taken.some((label) => overlap(label, { x: place.x, y: place.y + dy })));
    if (way === undefined) continue;
    taken.push({ x: place.x, y: place.y + way });
    labels.set(index, way);
  }
  return {
    points: placed.map((place, index) => ({ ...place, label: labels.get(index) ?? null })),
    wakes: roundsBetween(across.from, across.to, 1).map((value) => ({ at: across.at(value), value })),
    hours: roundsBetween(down.from, down.to).map((value) => ({ at: down.at(value), value })),
  };
}

function overlap(a: { x: number; y: number }, b: { x: number; y: number }): boolean {
  return Math.abs(a.x - b.x) < LABEL_WIDTH && Math.abs(a.y - b.y) < LABEL_HEIGHT;
}

function scale(values: readonly number[], start: number, end: number) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const spare = most > least ? 0 : Math.max(1, most / 2);
  const from = Math.max(0, least - spare);
  const to = most + spare;
  const at = (value: number) => Math.round((start + ((value - from) / (to - from)) * (end - start)) * 100) / 100;
  return { from, to, at };
}

/** Process-hours, with one decimal below ten. */
export function hoursInFigures(hours: number): string {
  return Math.abs(hours) < 10 ? hours.toFixed(1) : Math.round(hours).toLocaleString('en');
}

function apart(now: number, before: number, words: (amount: number) => string, what: string): string {
  const more = words(Math.abs(now - before));
  if (Number(more.replaceAll(',', '')) === 0) return `as many ${what}`;
  return `${more} ${now > before ? 'more' : 'fewer'} ${what}`;
}

const DAY = 86_400;
const figures = (count: number) => count.toLocaleString('en');
const counted = (count: number, one: string, many: string) => (count === 1 ? one : many);

/** The length of a period: `day`, `7 days`, `3 hours`. */
export function spanInWords(seconds: number): string {
  const days = Math.round(seconds / DAY);
  if (seconds < DAY) return lengthInWords(seconds);
  return days === 1 ? 'day' : `${days} days`;
}

/**
 * A point in a sentence: `Suspending after 10 min in the last 7 days: 4.2 fewer process-hours, …`. `seconds`: the
 * length of the period.
 */
export function tradeInWords({ threshold, would, estimated }: TradePoint, was: TradeTally, seconds: number): string {
  const hours = apart(would.process_hours, was.process_hours, hoursInFigures, 'process-hours');
  const difference = Math.abs(would.cold_wakes - was.cold_wakes);
  const wakes = apart(would.cold_wakes, was.cold_wakes, figures, counted(difference, 'cold wake', 'cold wakes'));
  const guessed =
    estimated === 0
      ? ''
      : ` (${figures(estimated)} of the wakes ${counted(estimated, 'is', 'are')} estimated: an awake sandbox leaves no line when it is used)`;
  const thaws =
    would.thaws === was.thaws
      ? ''
      : `, ${apart(would.thaws, was.thaws, figures, counted(Math.abs(would.thaws - was.thaws), 'thaw', 'thaws'))}`;
  return `Suspending after ${thresholdInWords(threshold)} in the last ${spanInWords(seconds)}: ${hours}, ${wakes}${guessed}${thaws}.`;
}
