/** What was measured as Markdown: the tables of docs/performance.md and the few lines of the README. Pure. */
import { type BarName, barOf } from './bars.ts';
import { plotOf } from './plot.ts';
import type { Figure, Kept, KeptPart, Series } from './result.ts';
import type { Spread } from './statistics.ts';

const NOTHING = '–';

/** Two digits after the point, or none where that many would be noise. */
const digits = (value: number) => value.toFixed(Math.abs(value) >= 1000 ? 0 : 2);
const digitsOf = (value: number | null) => (value === null ? NOTHING : digits(value));
const spreadOf = ({ low, high }: Spread) =>
  low === null || high === null ? NOTHING : `${digits(low)} to ${digits(high)}`;

function barText(name: BarName | null, unit: string): string {
  if (name === null) return NOTHING;
  const { limit, goal, better } = barOf(name);
  const sign = better === 'more' ? '≥' : '≤';
  return `${sign} ${limit} ${unit}${goal === undefined ? '' : ` (goal ${goal})`}`;
}

/** Ratios, rates and totals with their bars. */
export function figureTable(figures: readonly Figure[]): string {
  return [
    '| | measured | spread | bar |',
    '|---|---:|---:|---:|',
    ...figures.map(
      ({ what, measured, unit, bar, ...spread }) =>
        `| ${what} | ${digits(measured)} ${unit} | ${spreadOf(spread)} | ${barText(bar, unit)} |`,
    ),
  ].join('\n');
}

/** Percentiles, each beside its floor. */
export function seriesTable(series: readonly Series[]): string {
  const units = [...new Set(series.map(({ unit }) => unit))].join(', ');
  return [
    `| ${units} | samples | p50 | spread of p50 | p95 | p99 | p50 over its floor |`,
    '|---|---:|---:|---:|---:|---:|---:|',
    ...series.map(({ what, samples, p50, p95, p99, floor, ...spread }) => {
      const under = series.find((other) => other.what === floor)?.p50;
      const over = under === undefined ? NOTHING : `${digits(p50 / under)} ×`;
      return `| ${what} | ${samples} | ${digits(p50)} | ${spreadOf(spread)} | ${digitsOf(p95)} | ${digitsOf(p99)} | ${over} |`;
    }),
  ].join('\n');
}

/** A sentence for each figure on what it does not measure; figures that share one are named together. */
export function exclusionList({ series, figures }: Pick<KeptPart, 'series' | 'figures'>): string {
  const named = new Map<string, string[]>();
  for (const { what, excludes } of [...figures, ...series]) named.set(excludes, [...(named.get(excludes) ?? []), what]);
  const items = [...named].map(([sentence, names]) =>
    named.size === 1 ? `- All of them: ${sentence}` : `- ${names.join('; ')}: ${sentence}`,
  );
  return ['What these figures do not measure:', '', ...items].join('\n');
}

/** What stands between the marks of `name` in a text, marks included. Throws when they are not there. */
function between(text: string, name: string, content: string): string {
  const found = new RegExp(`(<!-- ${name} -->)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!found.test(text)) throw new Error(`The text has no marks of ${name}.`);
  return text.replace(found, (_, start, end) => `${start}\n${content}\n${end}`);
}

/** The picture of a part, beside docs/performance.md. */
export const picturePath = (name: string) => `images/bench-${name}.svg`;

/** When and where a part was taken, its picture and its tables. */
function sectionOf(name: string, part: KeptPart): string {
  const { taken, node, cpu, series, figures } = part;
  const plot = plotOf(name, series);
  return [
    `Taken ${taken.slice(0, 16).replace('T', ' ')} UTC, Node ${node}, ${cpu}.`,
    ...(plot === null ? [] : [`![${plot.title}](${picturePath(name)})`]),
    ...(figures.length > 0 ? [figureTable(figures)] : []),
    ...(series.length > 0 ? [seriesTable(series)] : []),
    exclusionList(part),
  ].join('\n\n');
}

/**
 * Puts everything that is kept between the marks of a text, each part of `names` between its own. Throws when one has
 * none.
 */
export function withSections(text: string, kept: Kept, names: readonly string[]): string {
  return names.reduce((done, name) => {
    const part = kept[name];
    return between(done, `bench:${name}`, part === undefined ? 'Not taken yet.' : sectionOf(name, part));
  }, text);
}

/** One figure of a part that stands for the rest, in words for who reads nothing else. `as` gives it with its unit. */
export interface BenchHeadline {
  part: string;
  what: string;
  words: string;
  as: (figure: number) => string;
}

/** The figure that a headline is about, or the median of a series. Undefined when its part was not taken yet. */
function headlineValue(kept: Kept, { part, what }: BenchHeadline): number | undefined {
  const found = kept[part];
  if (found === undefined) return undefined;
  const value =
    found.figures.find((figure) => figure.what === what)?.measured ??
    found.series.find((series) => series.what === what)?.p50;
  if (value === undefined) throw new Error(`There is no figure of "${what}" in ${part}.`);
  return value;
}

/** Puts the headlines between the marks of a text. */
export function withHeadlines(text: string, kept: Kept, headlines: readonly BenchHeadline[]): string {
  const lines = headlines.flatMap((headline) => {
    const value = headlineValue(kept, headline);
    return value === undefined ? [] : [`| ${headline.words} | ${headline.as(value)} |`];
  });
  return between(text, 'bench', ['| | measured |', '|---|---:|', ...lines].join('\n'));
}
