/** Vitest's projects: `vitest run --project unit` takes seconds. scripts/test-projects.ts says what is in which. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { filesLeftOut, OF_THE_DAY, TEST_FILES } from './scripts/test-days.ts';
import { TEST_ENVIRONMENT } from './scripts/test-environment.ts';
import { CHOSEN, filesOnPostgres } from './scripts/test-postgres.ts';
import { LONGEST, sortTests, type TestProject } from './scripts/test-projects.ts';
import { TEST_TIMES } from './scripts/test-times.ts';
import { POSTGRES as POSTGRES_PROGRAMS } from './testing/peers/postgres.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** The path as a pattern that means itself: names of routes have brackets. */
const literally = (path: string) => path.replaceAll(/[[\]()]/g, '\\$&');

const sorted = sortTests(ROOT);
const leftOut = new Set(filesLeftOut(process.env));
const filesOf = (project: TestProject) => sorted[project].filter((file) => !leftOut.has(file)).map(literally);

/**
 * One project after the other, because its files share a process only while no file of another comes between them.
 * `slow` begins with files that need no build; the shortest files end the run.
 */
const ORDER = ['slow', 'isolated', 'engine', 'postgres', 'postgres-isolated', 'unit'];

/**
 * How many files run at a time, for the two processors that the suite is measured on: a test waits for more than half
 * of its time. The first project runs beside the build and the browser's tests, the others after it, when those are
 * nearly done. Another number for all is VITEST_MAX_WORKERS; the option of the command line does not reach a project's
 * own number.
 */
const BESIDE_BROWSER = { maxWorkers: 2, sequence: { groupOrder: 0 } };
const AFTER_BROWSER = { maxWorkers: 3, sequence: { groupOrder: 1 } };

/** A larger young generation: with V8’s own a sixth of the processor time of these processes is collections. */
const FORKS = { pool: 'forks' as const, execArgv: ['--max-semi-space-size=32'] };

/** Orders the files of a project by chance, to prove that none needs another. Vitest's own option would drop ORDER. */
const SEED = process.env.WB_TEST_SHUFFLE;

/** The value of WB_TEST_REGISTRY with which nothing else runs than what runs on Postgres, and all of that. */
const POSTGRES = 'postgres';
const isOnPostgres = process.env.WB_TEST_REGISTRY === POSTGRES;
/** What every test on Postgres has. */
const ON_POSTGRES = {
  globalSetup: ['./scripts/postgres-setup.ts'],
  setupFiles: ['./scripts/postgres-file-setup.ts'],
  runner: './scripts/postgres-runner.ts',
  env: { WB_TEST_REGISTRY: POSTGRES },
};

/** Engine and API on Postgres. A run of everything has the chosen ones, one that names files none. */
function filesOfPostgres(): { shared: string[]; isolated: string[] } {
  const isForAll = process.env[TEST_FILES] === OF_THE_DAY && POSTGRES_PROGRAMS !== null;
  if (!isOnPostgres && !isForAll) return { shared: [], isolated: [] };
  const { shared, isolated } = filesOnPostgres(ROOT);
  if (isOnPostgres) return { shared, isolated };
  const isChosen = (file: string) => CHOSEN.includes(file);
  return { shared: shared.filter(isChosen), isolated: isolated.filter(isChosen) };
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longest = LONGEST.map((path) => ROOT + path);
    const rankOf = ({ moduleId }: TestSpecification): number | string => {
      if (SEED !== undefined) return createHash('sha256').update(`${SEED} ${moduleId}`).digest('hex');
      return longest.includes(moduleId) ? longest.indexOf(moduleId) : longest.length;
    };
    return (await super.sort(files))
      .map((file) => ({ file, project: ORDER.indexOf(file.project.name), rank: rankOf(file) }))
      .sort((one, other) => one.project - other.project || (one.rank < other.rank ? -1 : Number(one.rank > other.rank)))
      .map(({ file }) => file);
  }
}

const PROJECTS: TestProjectConfiguration[] = [
  // Nothing that these reach outlives a file, so they share their processes.
  {
    extends: true,
    test: { ...AFTER_BROWSER, name: 'unit', include: filesOf('unit'), isolate: false, pool: 'threads' },
  },
  { extends: true, test: { ...FORKS, ...AFTER_BROWSER, name: 'engine', include: filesOf('engine'), isolate: false } },
  { extends: true, test: { ...FORKS, ...AFTER_BROWSER, name: 'isolated', include: filesOf('isolated') } },
  { extends: true, test: { ...FORKS, ...BESIDE_BROWSER, name: 'slow', include: filesOf('slow'), isolate: false } },
];

const onPostgres = filesOfPostgres();
const postgresProject = (name: string, files: readonly string[], isolate: boolean): TestProjectConfiguration => ({
  extends: true,
  test: { ...FORKS, ...AFTER_BROWSER, ...ON_POSTGRES, name, include: files.map(literally), isolate },
});
const POSTGRES_PROJECTS = [
  postgresProject('postgres', onPostgres.shared, false),
  postgresProject('postgres-isolated', onPostgres.isolated, true),
];

export default defineConfig({
  test: {
    globalSetup: './scripts/test-setup.ts',
    setupFiles: [
      './scripts/clock-setup.ts',
      ...(process.env[TEST_TIMES] === undefined ? [] : ['./scripts/test-times-setup.ts']),
    ],
    env: TEST_ENVIRONMENT,
    sequence: { sequencer: LongestFirst },
    // A busy machine is no failure: what is waited for comes, or never does. A sandbox's process gives way to all
    // others: beside twelve that burned, its first command took 30 s.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // A failure on another machine has nothing but its message.
    chaiConfig: { truncateThreshold: 2000 },
    projects: isOnPostgres ? POSTGRES_PROJECTS : [...PROJECTS, ...POSTGRES_PROJECTS],
  },
});
