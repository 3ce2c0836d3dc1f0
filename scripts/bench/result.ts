/** What the parts of the benchmark found: kept in docs/bench.json with the time of each, and set in tables. Pure; measures nothing. */
import type { Figures } from './measure.ts';

/** One figure that is claimed; `limit` is the most that it may be, null where none is promised. */
export interface Bar {
  what: string;
  measured: number;
  limit: number | null;
  unit: string;
}

export interface PartResult {
  rows: { what: string; figures: Figures }[];
  bars: Bar[];
}

/** One part as docs/bench.json keeps it: when and where it was taken, times in milliseconds. */
export interface KeptPart {
  taken: string;
  node: string;
  cpu: string;
  rows: { what: string; samples: number; p50_ms: number; p99_ms: number }[];
  bars: Bar[];
}

/** docs/bench.json: the last run of each part, by its name. */
export type Kept = Record<string, KeptPart>;

const round = (value: number) => Math.round(value * 1000) / 1000;

/** What is kept of a part that was just taken. */
export function keep({ rows, bars }: PartResult, where: Pick<KeptPart, 'taken' | 'node' | 'cpu'>): KeptPart {
  return {
    ...where,
    rows: rows.map(({ what, figures }) => ({
      what,
      samples: figures.samples,
      p50_ms: round(figures.p50),
      p99_ms: round(figures.p99),
    })),
    bars: bars.map((bar) => ({ ...bar, measured: round(bar.measured) })),
  };
}

/** Lays what was just taken over what was there, in the order of `names`; parts that did not run stay as they were, those without a name go. */
export function merge(before: Kept, taken: Kept, names: readonly string[]): Kept {
  return Object.fromEntries(
    names.flatMap((name) => {
      const part = taken[name] ?? before[name];
      return part === undefined ? [] : [[name, part]];
    }),
  );
}

/** Bars of the parts as a Markdown table. */
export function barTable(parts: readonly KeptPart[]): string {
  return [
    '| | measured | bar |',
    '|---|---:|---:|',
    ...parts
      .flatMap(({ bars }) => bars)
      .map(
        ({ what, measured, limit, unit }) =>
          `| ${what} | ${measured.toFixed(2)} ${unit} | ${limit === null ? '–' : `≤ ${limit} ${unit}`} |`,
      ),
  ].join('\n');
}

/** Times of the parts as a Markdown table. */
export function timeTable(parts: readonly KeptPart[]): string {
  return [
    '| | samples | p50 ms | p99 ms |',
    '|---|---:|---:|---:|',
    ...parts
      .flatMap(({ rows }) => rows)
      .map(
        ({ what, samples, p50_ms, p99_ms }) => `| ${what} | ${samples} | ${p50_ms.toFixed(2)} | ${p99_ms.toFixed(2)} |`,
      ),
  ].join('\n');
}

/** Puts the tables of what is kept between the marks of a text: every bar, and the times of the part named `timed`. */
export function withTables(text: string, kept: Kept, timed: string): string {
  const times = kept[timed];
  const tables = [barTable(Object.values(kept)), ...(times === undefined ? [] : [timeTable([times])])].join('\n\n');
  return text.replace(/(<!-- bench -->)[\s\S]*?(<!-- \/bench -->)/, (_, start, end) => `${start}\n${tables}\n${end}`);
}

/** Bars that were missed. */
export const missed = (parts: readonly KeptPart[]): Bar[] =>
  parts.flatMap(({ bars }) => bars).filter(({ measured, limit }) => limit !== null && measured > limit);
