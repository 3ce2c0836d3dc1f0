/**
 * Draws the percentiles of a part as SVG: a row for each series on one logarithmic axis, a dot at the median within its
 * spread, a line to the 99th percentile, and the floor as a dashed line. Readable on light and dark pages. Pure.
 */
import type { Series } from './result.ts';

const WIDTH = 860;
const LABELS = 350;
const RIGHT = 90;
const TOP = 34;
const ROW = 24;
const BOTTOM = 40;
/** Powers of ten times these are on the axis; the first that leave no more ticks than fit are taken. */
const STEPS = [[1, 2, 5], [1, 3], [1]];
const MOST_TICKS = 9;

/** A page's theme reaches a picture by this query, and the colours stay apart on both backgrounds. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #333 }
  .quiet { fill: #666 } .axis { stroke: #ddd } .tail { stroke: #7a8ca5; stroke-width: 2 }
  .spread { stroke: #1f6feb; stroke-width: 8; opacity: .35 } .dot { fill: #1f6feb }
  .tick { stroke: #7a8ca5; stroke-width: 2 } .floor { stroke: #b35900; stroke-dasharray: 4 3 } .floor-dot { fill: #b35900 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .quiet { fill: #aaa } .axis { stroke: #444 } .tail, .tick { stroke: #8b9cb3 }
    .spread { stroke: #58a6ff } .dot { fill: #58a6ff } .floor { stroke: #f0a050 } .floor-dot { fill: #f0a050 }
  }
`.trim();

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Three digits, and never an exponent. */
const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

const at = (value: number) => value.toFixed(1);

/** Round numbers that cover everything from `least` to `most`. */
function ticksOf(least: number, most: number): number[] {
  const powers = (steps: number[]) => {
    const ticks: number[] = [];
    for (let power = Math.floor(Math.log10(least)) - 1; power <= Math.ceil(Math.log10(most)) + 1; power += 1) {
      ticks.push(...steps.map((step) => Number((step * 10 ** power).toPrecision(1))));
    }
    const first = ticks.findLastIndex((tick) => tick <= least);
    const last = ticks.findIndex((tick) => tick >= most);
    return ticks.slice(first, Math.max(last, first + 1) + 1);
  };
  return STEPS.map(powers).find((ticks) => ticks.length <= MOST_TICKS) ?? powers([1]);
}

const endOf = ({ p50, p95, p99, high }: Series) => Math.max(p50, p95 ?? 0, p99 ?? 0, high ?? 0);
const startOf = ({ p50, low }: Series) => Math.min(p50, low ?? p50);

export interface Plot {
  /** What the picture shows, for who does not see it. */
  title: string;
  svg: string;
}

/**
 * Draws the series of a part; null when there are none with a size. Series of another unit than the first are left out.
 */
export function plotOf(name: string, all: readonly Series[]): Plot | null {
  const unit = all[0]?.unit;
  const series = all.filter((each) => each.unit === unit && startOf(each) > 0);
  if (unit === undefined || series.length === 0) return null;
  const ticks = ticksOf(Math.min(...series.map(startOf)), Math.max(...series.map(endOf)));
  const [first = 1, last = 1] = [ticks[0], ticks.at(-1)];
  const x = (value: number) => LABELS + ((WIDTH - LABELS - RIGHT) * Math.log(value / first)) / Math.log(last / first);
  const bottom = TOP + series.length * ROW;
  const floors = new Set(all.map(({ floor }) => floor));

  const line = (kind: string, x1: number, y1: number, x2: number, y2: number) =>
    `<line class="${kind}" x1="${at(x1)}" y1="${at(y1)}" x2="${at(x2)}" y2="${at(y2)}"/>`;
  const text = (words: string, x: number, y: number, anchor = 'start', kind = '') =>
    `<text${kind && ` class="${kind}"`} x="${at(x)}" y="${at(y)}" text-anchor="${anchor}">${escapeText(words)}</text>`;

  const axis = ticks.flatMap((tick) => [
    line('axis', x(tick), TOP - 6, x(tick), bottom),
    text(String(tick), x(tick), bottom + 15, 'middle', 'quiet'),
  ]);
  const rows = series.flatMap((each, index) => {
    const { what, p50, p95, p99, low, high } = each;
    const y = TOP + index * ROW + ROW / 2;
    const isFloor = floors.has(what);
    return [
      ...(isFloor ? [line('floor', x(p50), TOP - 6, x(p50), bottom)] : []),
      text(what.replaceAll('`', ''), LABELS - 12, y + 4, 'end'),
      line('tail', x(p50), y, x(Math.max(p50, p95 ?? p50, p99 ?? p50)), y),
      ...(low !== null && high !== null ? [line('spread', x(low), y, x(high), y)] : []),
      ...[p95, p99].flatMap((value) => (value === null ? [] : [line('tick', x(value), y - 5, x(value), y + 5)])),
      `<circle class="${isFloor ? 'floor-dot' : 'dot'}" cx="${at(x(p50))}" cy="${at(y)}" r="4"/>`,
      text(`${digits(p50)} ${unit}`, WIDTH - 4, y + 4, 'end'),
    ];
  });
  const title = `${name}: median and tail of ${series.length} series in ${unit}`;
  const legend = `${unit}, logarithmic. Dot: p50, band: its spread, marks: p95 and p99, dashed: a floor.`;
  const svg = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + BOTTOM}" width="${WIDTH}" height="${bottom + BOTTOM}" role="img" aria-label="${escapeText(title)}">`,
    `<title>${escapeText(title)}</title>`,
    `<style>${STYLE}</style>`,
    text(legend, 8, 16, 'start', 'quiet'),
    ...axis,
    ...rows,
    '</svg>',
  ];
  return { title, svg: `${svg.join('\n')}\n` };
}
