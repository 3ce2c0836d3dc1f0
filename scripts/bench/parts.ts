/**
 * The parts of the benchmark by name, and how much each takes in a whole and in a quick run. Knows nothing of where
 * results go.
 */
import { parseArgs } from 'node:util';
import { measureBundles } from './bundles.ts';
import { measureBurst } from './burst.ts';
import { measureComponents } from './components.ts';
import { measureCopies } from './copies.ts';
import { measureDensity } from './density.ts';
import { measureFiles } from './files.ts';
import { measureFleet } from './fleet.ts';
import { measureLive } from './live.ts';
import { measureMemory } from './memory.ts';
import { measureNeighbours } from './neighbours.ts';
import { measurePages } from './pages.ts';
import { measurePast } from './past.ts';
import { measureRegistry } from './registry.ts';
import { measureRegistryPostgres } from './registry-postgres.ts';
import { measureReplica, measureReplicaAtRest } from './replica.ts';
import { measureRestarts } from './restarts.ts';
import type { PartResult } from './result.ts';
import { measureSchedules } from './schedules.ts';
import { measureSpaced } from './spaced.ts';
import { measureStarts } from './starts.ts';
import { measureStore } from './store.ts';
import { measureThroughput } from './throughput.ts';
import { measureWakes } from './wakes.ts';
import { measureWarm } from './warm.ts';
import { measureWorkbooks } from './workbooks.ts';

export interface BenchPart {
  about: string;
  /** Null when there is nothing of it to measure. */
  measure(quick: boolean): Promise<PartResult | null>;
}

/** Mebibytes of the large sandbox. */
const large = (quick: boolean) => (quick ? 50 : 500);
const rounds = (quick: boolean) => (quick ? 30 : 200);
/** Sandboxes, and lines of the ledger, where a million stand beside a thousand. */
const many = (quick: boolean) => (quick ? 20_000 : 1_000_000);

export const PARTS = {
  wakes: {
    about: 'first commands of frozen sandboxes beside a hot one and a bare server',
    measure: (quick) => measureWakes({ rounds: quick ? 30 : 110, largeMebibytes: large(quick) }),
  },
  burst: {
    about: 'many frozen sandboxes asked at once beside workerd; sustained wakes',
    measure: (quick) =>
      measureBurst({
        rounds: quick ? 1 : 3,
        few: { sandboxes: 60, clients: 16 },
        many: { sandboxes: quick ? 60 : 200 },
        sustained: { wakes: quick ? 12 : 40, clients: 4 },
      }),
  },
  spaced: {
    about: 'calls as people make them, with pauses, beside workerd',
    measure: (quick) => measureSpaced(quick ? 4 : 25, 700),
  },
  warm: {
    about: 'first results of paused sandboxes, and their memory',
    measure: (quick) => measureWarm(quick ? 5 : 30, quick ? 5 : 50),
  },
  starts: {
    about: 'processor time of a worker’s start beside a bare child',
    measure: (quick) => measureStarts(quick ? 5 : 20, 1000),
  },
  throughput: {
    about: 'hot calls of sixteen clients beside workerd',
    measure: (quick) => measureThroughput(quick ? 1 : 5, quick ? 500 : 1200),
  },
  neighbours: {
    about: 'calls of one tenant while eight sandboxes of another keep the processors busy',
    measure: (quick) => measureNeighbours(quick ? 2 : 5, quick ? 1000 : 3000),
  },
  components: {
    about: 'calls of components beside a hot command, and wakes that bring their state back',
    measure: (quick) => measureComponents({ hot: quick ? 40 : 300, wakes: quick ? 5 : 30, stateBytes: 1024 * 1024 }),
  },
  schedules: {
    about: 'hot calls while 2 000 schedules are due at once, and a round out of ten thousand',
    measure: (quick) =>
      measureSchedules({
        due: quick ? 100 : 2000,
        slices: quick ? 2 : 6,
        sliceMs: quick ? 1000 : 3000,
        leadSeconds: quick ? 20 : 120,
        rounds: quick ? 10 : 60,
      }),
  },
  workbooks: {
    about: 'the plan of a thousand components beside the parser alone; health while hostile sources are refused',
    measure: (quick) =>
      measureWorkbooks({
        components: 1000,
        rounds: quick ? 3 : 10,
        slices: quick ? 2 : 6,
        sliceMs: quick ? 1000 : 3000,
      }),
  },
  restarts: {
    about: 'a start after a kill, and the first calls after it, beside workerd',
    measure: (quick) => measureRestarts(quick ? 2 : 8, quick ? 3 : 20),
  },
  files: {
    about: 'files of a hot sandbox beside agentfs-sdk and plain files',
    measure: (quick) => measureFiles(rounds(quick)),
  },
  memory: {
    about: 'memory of hot sandboxes beside a bare child',
    measure: (quick) => measureMemory(quick ? 10 : 50),
  },
  density: {
    about: 'five hundred hot sandboxes at the same time, all asked at once',
    measure: (quick) => measureDensity(quick ? 50 : 500, quick ? 1 : 3),
  },
  copies: {
    about: 'snapshots, restores and blueprints of a large sandbox beside cp',
    measure: (quick) => measureCopies(large(quick), quick ? 1 : 2),
  },
  bundles: {
    about: 'shipping, importing and checking out a large sandbox beside cp',
    measure: (quick) => measureBundles(large(quick), 1),
  },
  registry: {
    about: 'lists, counts, an idle tick and the ledger out of a million rows and out of a thousand',
    measure: (quick) => measureRegistry(many(quick), rounds(quick)),
  },
  'registry-postgres': {
    about: 'commits, lists and wakes with a registry on Postgres beside one in a file',
    measure: (quick) =>
      measureRegistryPostgres({
        writes: quick ? { rounds: 3, sliceMs: 500 } : { rounds: 15, sliceMs: 2000 },
        lists: { rows: many(quick), rounds: quick ? 10 : 60 },
        wakes: quick ? 10 : 60,
      }),
  },
  fleet: {
    about: 'a hot exec through another host, wakes by one, two and three servers, and a thousand hosts',
    measure: (quick) =>
      measureFleet({
        hops: quick ? 5 : 60,
        wakes: quick ? { rounds: 1, sandboxes: 6, clients: 3 } : { rounds: 6, sandboxes: 36, clients: 6 },
        many: { hosts: quick ? 100 : 1000, sandboxes: many(quick), rounds: quick ? 3 : 30 },
      }),
  },
  store: {
    about: 'thaws out of an object store beside a bare client, and hot calls beside a freeze into it',
    measure: (quick) =>
      measureStore({
        thaws: quick
          ? [{ mebibytes: 1, rounds: 2 }]
          : [
              { mebibytes: 1, rounds: 40 },
              { mebibytes: 100, rounds: 5 },
              { mebibytes: 500, rounds: 3 },
            ],
        cachedWakes: quick ? 2 : 100,
        freeze: quick ? { mebibytes: 50, rounds: 1 } : { mebibytes: 500, rounds: 6 },
      }),
  },
  replica: {
    about: 'writes, suspensions and a restore with a replica beside the same without one',
    measure: (quick) =>
      measureReplica(
        quick ? { rounds: 2, sliceMs: 1200, suspensions: 2 } : { rounds: 20, sliceMs: 1500, suspensions: 40 },
        { mebibytes: large(quick), rounds: quick ? 1 : 5 },
      ),
  },
  idle: {
    about: 'what a replica costs a server with thousands of sandboxes on which nothing happens',
    measure: (quick) =>
      measureReplicaAtRest(
        quick
          ? { asleep: 50, awake: 5, slices: 2, sliceMs: 5000, settleMs: 2000 }
          : { asleep: 5000, awake: 200, slices: 12, sliceMs: 5000, settleMs: 30_000 },
      ),
  },
  past: {
    about: 'first looks at a sandbox as it was, two moments compared, and many readers of different ones',
    measure: (quick) =>
      measurePast({
        looks: { mebibytes: quick ? 10 : 100, rounds: quick ? 2 : 20 },
        comparison: { files: quick ? 500 : 10_000, rounds: quick ? 2 : 10 },
        readers: { few: 10, many: quick ? 30 : 100, rounds: quick ? 1 : 6 },
      }),
  },
  live: {
    about: 'what ten browsers cost that watch 200 lines a second',
    measure: (quick) => measureLive(quick ? 10_000 : 15_000, quick ? 1 : 3),
  },
  pages: {
    about: 'pages of the console out of a million rows and out of a thousand',
    measure: (quick) => measurePages(many(quick), quick ? 10 : 60),
  },
} satisfies Record<string, BenchPart>;

export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as PartName[];

export interface BenchOptions {
  parts: PartName[];
  quick: boolean;
  check: boolean;
  draw: boolean;
  help: boolean;
}

export const USAGE = [
  'npm run bench [-- --only part,part] [--check] [--quick] [--draw]',
  '',
  '  --only   measures these parts alone; what is kept of the others stays, with its own time:',
  ...PART_NAMES.map((name) => `             ${name.padEnd(17)} ${PARTS[name].about}`),
  '  --check  exits with 1 and names each figure that is worse than its bar in scripts/bench/bars.ts',
  '  --quick  takes fewer samples, too few for a 99th percentile, and writes nothing',
  '  --draw   measures nothing: draws tables and pictures again from docs/bench.json',
  '',
].join('\n');

/** Reads the command line. Throws on an unknown flag or part, naming what there is. */
export function parseBenchOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      check: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      draw: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, ...flags } = values;
  if (only === undefined) return { parts: PART_NAMES, ...flags };
  const named = only.flatMap((list) => list.split(',')).map((name) => name.trim());
  const unknown = named.filter((name) => !PART_NAMES.some((known) => known === name));
  if (unknown.length > 0) {
    throw new Error(
      `There is no part ${unknown.map((name) => `"${name}"`).join(', ')}. There are ${PART_NAMES.join(', ')}.`,
    );
  }
  return { parts: PART_NAMES.filter((name) => named.includes(name)), ...flags };
}
