/**
 * Statistics of what is measured: percentiles, and how far they spread. Samples come in slices, one for each time that
 * a contender had its turn; samples of one slice share its noise, so intervals are drawn from whole slices. Pure.
 */

/** Samples of one contender, a list for each turn that it had. */
export type Slices = readonly (readonly number[])[];

/** An interval around an estimate; both null where one slice says nothing of how another would be. */
export interface Spread {
  low: number | null;
  high: number | null;
}

/**
 * Percentiles of samples, null where there are too few of them for one: the 95th needs 20, the 99th needs 100. `low`
 * and `high` are the spread of the median.
 */
export interface Summary extends Spread {
  slices: number;
  samples: number;
  p50: number;
  p95: number | null;
  p99: number | null;
}

const FEWEST_FOR_P95 = 20;
const FEWEST_FOR_P99 = 100;
/** With fewer slices than this a bootstrap only repeats them. */
const FEWEST_FOR_BOOTSTRAP = 5;
/** Share of the resamples that the interval leaves out at each end. */
const TAIL = 0.025;
/** Samples that are drawn at most for one interval, and the resamples at least and at most. */
const DRAWN = 2_000_000;
const RESAMPLES = { least: 100, most: 1000 };

/** Nearest-rank percentile; `share` from 0 to 1. NaN without samples. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

const median = (samples: readonly number[]) => percentile(samples, 0.5);

/** Numbers from 0 to 1, the same in each run (mulberry32): an interval is a function of its samples. */
function createRandom(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * 95 % interval of an estimate by a bootstrap over slices. With fewer than five slices it reaches from the least to the
 * greatest of their own estimates and that of all together. `estimate` is given the indexes of the slices to use.
 */
function spreadOf(slices: number, samples: number, estimate: (indexes: number[]) => number): Spread {
  if (slices < 2) return { low: null, high: null };
  if (slices < FEWEST_FOR_BOOTSTRAP) {
    const each = Array.from({ length: slices }, (_, index) => estimate([index]));
    const whole = estimate(each.map((_, index) => index));
    return { low: Math.min(whole, ...each), high: Math.max(whole, ...each) };
  }
  const resamples = Math.max(RESAMPLES.least, Math.min(RESAMPLES.most, Math.floor(DRAWN / samples)));
  const random = createRandom();
  const estimates = Array.from({ length: resamples }, () =>
    estimate(Array.from({ length: slices }, () => Math.floor(random() * slices))),
  );
  return { low: percentile(estimates, TAIL), high: percentile(estimates, 1 - TAIL) };
}

const pick = (slices: Slices, indexes: number[]) => indexes.flatMap((index) => slices[index] ?? []);

/** Percentiles of all samples, and the spread of the median. */
export function summarize(slices: Slices): Summary {
  const samples = slices.flat();
  return {
    slices: slices.length,
    samples: samples.length,
    p50: median(samples),
    p95: samples.length < FEWEST_FOR_P95 ? null : percentile(samples, 0.95),
    p99: samples.length < FEWEST_FOR_P99 ? null : percentile(samples, 0.99),
    ...spreadOf(slices.length, samples.length, (indexes) => median(pick(slices, indexes))),
  };
}

/** An estimate with its spread. */
export interface Estimate extends Spread {
  measured: number;
}

/**
 * A percentile of one contender, the median unless `share` says another, over the median of another from the same
 * turns. Slices of the same turn are drawn together, so that noise which hit both cancels out.
 */
export function ratioOf(over: Slices, under: Slices, share = 0.5): Estimate {
  if (over.length !== under.length) throw new Error(`${over.length} slices over ${under.length}: not the same turns.`);
  const all = over.map((_, index) => index);
  const ratio = (indexes: number[]) => percentile(pick(over, indexes), share) / median(pick(under, indexes));
  const samples = over.flat().length + under.flat().length;
  return { measured: ratio(all), ...spreadOf(over.length, samples, ratio) };
}

/** Median of numbers that were measured once a slice, such as rates and totals. */
export function estimateOf(perSlice: readonly number[], share = 0.5): Estimate {
  const estimate = (indexes: number[]) =>
    percentile(
      indexes.flatMap((index) => perSlice[index] ?? []),
      share,
    );
  return { measured: percentile(perSlice, share), ...spreadOf(perSlice.length, perSlice.length, estimate) };
}

/** A percentile of samples in slices, with its spread. */
export function percentileOf(slices: Slices, share: number): Estimate {
  const estimate = (indexes: number[]) => percentile(pick(slices, indexes), share);
  return {
    measured: percentile(slices.flat(), share),
    ...spreadOf(slices.length, slices.flat().length, estimate),
  };
}
