/**
 * The bars that `npm run bench -- --check` holds figures to, as data. Each figure names its bar; a ratio stands for a
 * time wherever it can, since ratios survive a change of machine.
 *
 * `limit` is recorded: what this code is known to keep on two shared cores; raise one only with a reason in its
 * commit. `goal` is what it is meant to reach, and fails nothing. Both are the most that a figure may be, or the least
 * where `better` is `more`. A bar's name begins with the part that measures it.
 */
export interface BenchBar {
  limit: number;
  goal?: number;
  /** Default: `less`. */
  better?: 'less' | 'more';
}

export const BARS = {
  'wakes: hot exec over the floor': { limit: 2, goal: 1.5 },
  'wakes: first exec over the floor, p50': { limit: 6, goal: 4 },
  'wakes: first exec over the floor, p99': { limit: 12, goal: 8 },
  'wakes: after another': { limit: 1.5 },
  'wakes: large over small': { limit: 1.3, goal: 1.1 },
  'warm: first result over the floor': { limit: 3.5, goal: 2.5 },
  'warm: PSS': { limit: 15, goal: 12 },
  'starts: CPU of a start': { limit: 65 },
  'burst: 60 by 16, total': { limit: 3 },
  'burst: 60 by 16, p50': { limit: 900 },
  'burst: 200 by 200, total': { limit: 12 },
  'burst: sustained wakes': { limit: 17, goal: 20, better: 'more' },
  'spaced: first cat': { limit: 4.5, goal: 3 },
  'spaced: hot cat': { limit: 3, goal: 1.5 },
  'spaced: hot write': { limit: 2.5, goal: 1.5 },
  'throughput: execs': { limit: 1300, goal: 1600, better: 'more' },
  'throughput: reads': { limit: 2500, goal: 4000, better: 'more' },
  'throughput: p99 at half load': { limit: 40, goal: 4 },
  'neighbours: p50': { limit: 2 },
  'neighbours: p99': { limit: 8, goal: 5 },
  'components: js over exec': { limit: 1.5 },
  'components: wasm over js': { limit: 1.4, goal: 1 },
  'components: python over exec': { limit: 1.5 },
  'components: restored over plain': { limit: 2, goal: 1.3 },
  'components: restored objects over plain': { limit: 4.5, goal: 1.3 },
  'schedules: hot exec at midnight': { limit: 2 },
  'schedules: many over few': { limit: 1.3 },
  'workbooks: plan over parser': { limit: 1.3 },
  'workbooks: health, p99': { limit: 50 },
  'memory: PSS in use': { limit: 17 },
  'memory: PSS before use': { limit: 15.5 },
  'copies: a hundred clones': { limit: 2 },
  'copies: growth': { limit: 100 },
  'copies: wait during a restore': { limit: 150, goal: 50 },
  'bundles: growth': { limit: 100 },
  // Ten milliseconds are 100 MB a second on one core.
  'bundles: CPU of a ship': { limit: 10 },
  'bundles: CPU of an import': { limit: 10 },
  'registry: million over thousand': { limit: 1.3 },
  // A page passes the rows that do not match, up to ten for each that it shows: docs/decisions/076.
  'registry: rows passed': { limit: 6, goal: 1.3 },
  'registry: writes, million over thousand': { limit: 2.5, goal: 1.3 },
  'registry: thread held': { limit: 15, goal: 10 },
  // Those that wait for one flush of the disk are committed together; each line is hashed behind the one before.
  'registry-postgres: commits over bare updates': { limit: 0.7, better: 'more' },
  'registry-postgres: million over thousand': { limit: 1.3 },
  'registry-postgres: rows passed': { limit: 6, goal: 1.3 },
  'registry-postgres: wake': { limit: 1.6 },
  // Milliseconds: a look at a row, a signature, a check of it and one exchange.
  'fleet: more through another host': { limit: 2 },
  'store: thaw over its parts': { limit: 1 },
  'store: cached wake': { limit: 1.05 },
  // A hundred wakes show it to a twentieth.
  'store: processor time of a cached wake': { limit: 1.1, goal: 1.05 },
  'store: hot exec beside a freeze': { limit: 1.3 },
  'replica: hot write': { limit: 1.05 },
  'replica: suspension': { limit: 1.2 },
  'replica: restore': { limit: 1.5 },
  // More than without one.
  'replica: memory': { limit: 40 },
  'replica: share of a core': { limit: 3 },
  // Milliseconds from a folder; from a store, more than its bytes alone take.
  'past: first folder': { limit: 1000 },
  'past: first folder over a download': { limit: 1.5 },
  'past: second look': { limit: 50 },
  'past: comparison': { limit: 2000 },
  'past: memory of many readers': { limit: 1.3 },
  'live: share of a core': { limit: 10 },
  'pages: million over thousand': { limit: 1.3 },
  'pages: typed filter, p95': { limit: 1000, goal: 500 },
} as const satisfies Record<string, BenchBar>;

export type BarName = keyof typeof BARS;

export const barOf = (name: BarName): BenchBar => BARS[name];
