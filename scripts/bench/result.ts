/**
 * What the parts of the benchmark found: kept in docs/bench.json with the time of each, and set in tables. Pure;
 * measures nothing.
 */
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

/**
 * Lays what was just taken over what was there, in the order of `names`; parts that did not run stay as they were,
 * those without a name go.
 */
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

/** What stands between the marks of `name` in a text, marks included. Throws when they are not there. */
function between(text: string, name: string, content: string): string {
  const found = new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!found.test(text)) throw new Error(`The text has no marks of ${name}.`);
  return text.replace(found, (_, start, end) => `${start}\n${content}\n${end}`);
}

/** When and where a part was taken, and its tables. */
function sectionOf(part: KeptPart): string {
  const { taken, node, cpu, rows, bars } = part;
  const where = `Taken ${taken.slice(0, 16).replace('T', ' ')} UTC, Node ${node}, ${cpu}.`;
  const tables = [...(bars.length > 0 ? [barTable([part])] : []), ...(rows.length > 0 ? [timeTable([part])] : [])];
  return [where, ...tables].join('\n\n');
}

/** Puts everything that is kept between the marks of a text, each part between its own. Throws when a part has none. */
export function withSections(text: string, kept: Kept): string {
  return Object.entries(kept).reduce((done, [name, part]) => between(done, `bench:${name}`, sectionOf(part)), text);
}

/** One figure of a part that stands for the rest, in words for who reads nothing else. `as` gives it with its unit. */
export interface Headline {
  part: string;
  what: string;
  words: string;
  as: (figure: number) => string;
}

/**
 * The figure that a headline is about: a bar's, or the median of a time in milliseconds. Throws when it was not
 * measured.
 */
function figureOf(kept: Kept, { part, what }: Headline): number {
  const bar = kept[part]?.bars.find((bar) => bar.what === what)?.measured;
  const figure = bar ?? kept[part]?.rows.find((row) => row.what === what)?.p50_ms;
  if (figure === undefined) throw new Error(`There is no figure of "${what}" in ${part}.`);
  return figure;
}

/** Puts the headlines between the marks of a text. */
export function withHeadlines(text: string, kept: Kept, headlines: readonly Headline[]): string {
  const lines = headlines.map((headline) => `| ${headline.words} | ${headline.as(figureOf(kept, headline))} |`);
  return between(text, 'bench', ['| | measured |', '|---|---:|', ...lines].join('\n'));
}

/** Bars that were missed. */
export const missed = (parts: readonly KeptPart[]): Bar[] =>
  parts.flatMap(({ bars }) => bars).filter(({ measured, limit }) => limit !== null && measured > limit);
