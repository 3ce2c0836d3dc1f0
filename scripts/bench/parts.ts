/**
 * The parts of the benchmark by name, and how much each takes in a whole and in a quick run. Knows nothing of where
 * results go.
 */
import { parseArgs } from 'node:util';
import { measureBundles } from './bundles.ts';
import { measureCopies } from './copies.ts';
import { measureLive } from './live.ts';
import { measureMemory } from './memory.ts';
import { measurePages } from './pages.ts';
import { measureRegistry } from './registry.ts';
import type { PartResult } from './result.ts';
import { measureWakes } from './wakes.ts';

interface Part {
  about: string;
  measure(quick: boolean): Promise<PartResult>;
}

/** Mebibytes of the large sandbox. */
const large = (quick: boolean) => (quick ? 50 : 500);
const rounds = (quick: boolean) => (quick ? 30 : 200);
/** Sandboxes, and lines of the ledger, where a million stand beside a thousand. */
const many = (quick: boolean) => (quick ? 20_000 : 1_000_000);

export const PARTS = {
  wakes: {
    about: 'first commands of frozen sandboxes beside a hot one and a bare server; sustained wakes',
    measure: (quick) =>
      measureWakes({ rounds: rounds(quick), largeMebibytes: large(quick), sustained: quick ? 12 : 60 }),
  },
  memory: { about: 'memory of hot sandboxes', measure: () => measureMemory() },
  copies: {
    about: 'snapshots, restores and blueprints of a large sandbox beside cp',
    measure: (quick) => measureCopies(large(quick), quick ? 1 : 2),
  },
  bundles: {
    about: 'shipping, importing and checking out a large sandbox beside cp',
    measure: (quick) => measureBundles(large(quick), 1),
  },
  registry: {
    about: 'lists, counts and an idle tick out of a million rows and out of a thousand',
    measure: (quick) => measureRegistry(many(quick), rounds(quick)),
  },
  live: {
    about: 'what ten browsers cost that watch 200 lines a second',
    measure: (quick) => measureLive(quick ? 10_000 : 30_000, quick ? 1 : 3),
  },
  pages: {
    about: 'pages of the console out of a million rows and out of a thousand',
    measure: (quick) => measurePages(many(quick), quick ? 10 : 60),
  },
} satisfies Record<string, Part>;

export type PartName = keyof typeof PARTS;
export const PART_NAMES = Object.keys(PARTS) as PartName[];

export interface BenchOptions {
  parts: PartName[];
  quick: boolean;
  check: boolean;
  help: boolean;
}

export const USAGE = [
  'npm run bench [-- --only part,part] [--check] [--quick]',
  '',
  '  --only   measures these parts alone; what is kept of the others stays, with its own time:',
  ...PART_NAMES.map((name) => `             ${name.padEnd(9)} ${PARTS[name].about}`),
  '  --check  exits with 1 when a bar is missed by what was measured',
  '  --quick  takes fewer samples and writes nothing',
  '',
].join('\n');

/** Reads the command line. Throws on an unknown flag or part, naming what there is. */
export function parseOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', multiple: true },
      check: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
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
