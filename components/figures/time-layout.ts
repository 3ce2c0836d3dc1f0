/** Where the bands of a life and the bars of a series go. Pure. Positions are shares of the whole, from 0 to 1000. */
import type { InstanceLife } from '#lib/contract/schema.ts';
import type { State } from '#lib/lifecycle/state-map.ts';

const WHOLE = 1000;

export interface Band {
  state: State;
  x: number;
  width: number;
  /** From the top. */
  y: number;
  height: number;
}

const rounded = (value: number) => Math.round(value * 100) / 100;

/**
 * The bands of a life: each stretch in one state, or, when these are too many, columns with the time in each state
 * stacked. Neighbours that look the same are one band, so there are never more than a few for each column.
 */
export function bandsOf({ from, to, stretches, columns }: InstanceLife): Band[] {
  const at = (time: number) => ((time - from) / (to - from)) * WHOLE;
  const bands: Band[] = [];
  const add = (state: State, begin: number, end: number, y: number, height: number) => {
    const last = bands.at(-1);
    const isSame = last?.state === state && last.y === y && last.height === height && height === WHOLE;
    if (last !== undefined && isSame) last.width = rounded(at(end) - last.x);
    else bands.push({ state, x: rounded(at(begin)), width: rounded(at(end) - at(begin)), y, height });
  };
  if (stretches !== null) {
    for (const { state, from: begin, to: end } of stretches) add(state, begin, end, 0, WHOLE);
    return bands;
  }
  for (const { from: begin, to: end, states } of columns) {
    const whole = states.reduce((sum, { seconds }) => sum + seconds, 0);
    let y = 0;
    for (const { state, seconds } of states) {
      const height = rounded((seconds / whole) * WHOLE);
      add(state, begin, end, rounded(y), states.length === 1 ? WHOLE : height);
      y += height;
    }
  }
  return bands;
}

/** Seconds in each state, the longest first. */
export function timeInStates({ columns }: Pick<InstanceLife, 'columns'>): { state: State; seconds: number }[] {
  const sums = new Map<State, number>();
  for (const { states } of columns)
    for (const { state, seconds } of states) sums.set(state, (sums.get(state) ?? 0) + seconds);
  return [...sums].map(([state, seconds]) => ({ state, seconds })).sort((one, other) => other.seconds - one.seconds);
}

export interface Bar {
  time: number;
  value: number;
}

/** The bars of a series as one path, however many there are; a value above nothing is at least a line. */
export function barPath(
  bars: readonly Bar[],
  { from, to, step, most }: { from: number; to: number; step: number; most: number },
): string {
  const width = (step / (to - from)) * WHOLE;
  return bars
    .filter(({ value }) => value > 0)
    .map(({ time, value }) => {
      const x = rounded(((time - from) / (to - from)) * WHOLE);
      const height = rounded(Math.max(20, (value / most) * WHOLE));
      return `M${x} ${WHOLE}V${rounded(WHOLE - height)}h${rounded(width * 0.9)}V${WHOLE}z`;
    })
    .join('');
}

/** A span cut into equal parts of whole seconds. `to` is exclusive. */
export function partsOf({ from, to }: { from: number; to: number }, count: number): { from: number; to: number }[] {
  const edge = (n: number) => Math.round(from + ((to - from) * n) / count);
  return Array.from({ length: count }, (_, n) => ({ from: edge(n), to: edge(n + 1) })).filter(
    (part) => part.to > part.from,
  );
}
