/**
 * What the parts of the benchmark found, and how docs/bench.json keeps it with the time of each. Pure; measures nothing
 * and writes no text.
 */
import type { BarName } from './bars.ts';
import { type Estimate, type Slices, type Summary, summarize } from './statistics.ts';

/** Times or sizes of one contender. */
export interface Series extends Summary {
  what: string;
  unit: string;
  /** The series of the same part that this one is compared with; null for a floor itself. */
  floor: string | null;
  /** One sentence: what this does not measure. */
  excludes: string;
}

/** One figure that is made of samples: a ratio, a rate, a total. */
export interface Figure extends Estimate {
  what: string;
  unit: string;
  bar: BarName | null;
  /** One sentence: what this does not measure. */
  excludes: string;
}

export interface PartResult {
  series: Series[];
  figures: Figure[];
}

/** One part as docs/bench.json keeps it: when and where it was taken. */
export interface KeptPart extends PartResult {
  taken: string;
  node: string;
  cpu: string;
}

/** docs/bench.json: the last run of each part, by its name. */
export type Kept = Record<string, KeptPart>;

/** Milliseconds unless a unit is given. */
export function seriesOf(
  what: string,
  slices: Slices,
  { unit = 'ms', floor = null, excludes }: { unit?: string; floor?: string | null; excludes: string },
): Series {
  return { what, unit, ...summarize(slices), floor, excludes };
}

export function figureOf(
  what: string,
  estimate: Estimate,
  { unit, bar = null, excludes }: { unit: string; bar?: BarName | null; excludes: string },
): Figure {
  return { what, ...estimate, unit, bar, excludes };
}

/** A number that was measured once. */
export const single = (measured: number): Estimate => ({ measured, low: null, high: null });

/** Three digits after the point: more would only be noise. */
function rounded<T extends object>(figures: T): T {
  const entries = Object.entries(figures).map(([name, value]) => [
    name,
    typeof value === 'number' ? Math.round(value * 1000) / 1000 : value,
  ]);
  return Object.fromEntries(entries) as T;
}

/** What is kept of a part that was just taken. */
export function keptPart({ series, figures }: PartResult, where: Pick<KeptPart, 'taken' | 'node' | 'cpu'>): KeptPart {
  return { ...where, series: series.map(rounded), figures: figures.map(rounded) };
}

/**
 * Lays what was just taken over what was there, in the order of `names`; parts that did not run stay as they were,
 * those without a name go.
 */
export function mergeParts(before: Kept, taken: Kept, names: readonly string[]): Kept {
  return Object.fromEntries(
    names.flatMap((name) => {
      const part = taken[name] ?? before[name];
      return part === undefined ? [] : [[name, part]];
    }),
  );
}
