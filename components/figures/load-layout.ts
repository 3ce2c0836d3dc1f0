/** What the charts of load show of each point, where it goes, and how it is said. Pure. */
import type { InstanceLoad } from '#lib/contract/schema.ts';
import { sizeInWords } from '../ui/durations.ts';

export type LoadPoint = InstanceLoad['points'][number];

/** Epoch seconds; `to` is exclusive. */
export interface ShownTime {
  from: number;
  to: number;
}

interface Line {
  /** Before its value, where a chart has more than one. */
  name: string;
  /** Null: not known. */
  value(point: LoadPoint, step: number): number | null;
}

interface Chart {
  name: string;
  lines: readonly Line[];
  inWords(value: number): string;
}

const figures = (value: number, digits: number) => value.toLocaleString('en', { maximumFractionDigits: digits });

/** Processors used at once, on average, in percent of one. */
function shareInWords(share: number): string {
  const percent = share * 100;
  return `${figures(percent, percent < 10 ? 1 : 0)} % of a core`;
}

export const CHARTS: readonly Chart[] = [
  {
    name: 'Processor',
    // Less than a second is too little to say how much of a core it was.
    lines: [{ name: '', value: ({ cpu_s, measured_s }, step) => cpu_s / Math.max(1, measured_s ?? step) }],
    inWords: shareInWords,
  },
  { name: 'Memory', lines: [{ name: '', value: ({ memory_bytes }) => memory_bytes }], inWords: sizeInWords },
  {
    name: 'Calls and writes',
    lines: [{ name: '', value: ({ calls }) => calls }],
    inWords: (count) => figures(count, 0),
  },
  {
    name: 'Network',
    lines: [
      { name: 'in', value: ({ bytes_in }) => bytes_in },
      { name: 'out', value: ({ bytes_out }) => bytes_out },
    ],
    inWords: sizeInWords,
  },
  { name: 'Disk', lines: [{ name: '', value: ({ disk_bytes }) => disk_bytes }], inWords: sizeInWords },
];

/** The values of a point: `in 3 kB · out 1 kB`; null where nothing is known. */
export function valueInWords({ lines, inWords }: Chart, point: LoadPoint, step: number): string | null {
  const words = lines.flatMap(({ name, value }) => {
    const known = value(point, step);
    return known === null ? [] : [`${name} ${inWords(known)}`.trim()];
  });
  return words.length === 0 ? null : words.join(' · ');
}

/** The greatest value of a chart; null where nothing is known. */
export function greatestOf({ lines }: Chart, points: readonly LoadPoint[], step: number): number | null {
  let most: number | null = null;
  for (const point of points)
    for (const { value } of lines) {
      const known = value(point, step);
      if (known !== null) most = Math.max(most ?? 0, known);
    }
  return most;
}

/** The whole of a chart, across and down. */
export const WHOLE = 1000;
/** Above the greatest value. */
const HEADROOM = 60;
const rounded = (value: number) => Math.round(value * 10) / 10;

export function shareOfTime(time: number, { from, to }: ShownTime): number {
  return (time - from) / (to - from);
}

/**
 * A line as one path: each point is level for its step, and what follows another is joined to it. What is not known is
 * left out, and nothing joins across it. `area`: down to the base, to be filled.
 */
export function linePath(
  points: readonly LoadPoint[],
  { value }: Line,
  { span, step, most, area = false }: { span: ShownTime; step: number; most: number; area?: boolean },
): string {
  const x = (time: number) => rounded(shareOfTime(time, span) * WHOLE);
  const y = (known: number) => rounded(WHOLE - (most === 0 ? 0 : (known / most) * (WHOLE - HEADROOM)));
  let path = '';
  let end: number | null = null;
  for (const point of points) {
    const known = value(point, step);
    if (known === null) continue;
    const isJoined = end === point.time;
    if (!isJoined && end !== null && area) path += `V${WHOLE}z`;
    if (isJoined) path += `V${y(known)}`;
    else path += area ? `M${x(point.time)} ${WHOLE}V${y(known)}` : `M${x(point.time)} ${y(known)}`;
    end = point.time + step;
    path += `H${x(end)}`;
  }
  return area && end !== null ? `${path}V${WHOLE}z` : path;
}

/** The point of a moment; null where nothing was measured. `points` in order. */
export function pointAt(points: readonly LoadPoint[], step: number, time: number): LoadPoint | null {
  const found = points.findLast((point) => point.time <= time);
  return found !== undefined && time < found.time + step ? found : null;
}

/** The time between two moments in their order, at least `least` long, within `whole`. */
export function spanBetween(one: number, other: number, least: number, whole: ShownTime): ShownTime {
  const middle = (one + other) / 2;
  const half = Math.max(Math.abs(one - other), least) / 2;
  const from = Math.max(whole.from, Math.min(Math.floor(middle - half), whole.to - least));
  return { from, to: Math.min(whole.to, Math.max(Math.ceil(middle + half), from + least)) };
}

const PARTS_OF_A_SCALE = 4;

/** Moments of a scale between the ends of a time. */
export function marksOf({ from, to }: ShownTime): number[] {
  return Array.from({ length: PARTS_OF_A_SCALE - 1 }, (_, n) => from + ((to - from) * (n + 1)) / PARTS_OF_A_SCALE);
}
