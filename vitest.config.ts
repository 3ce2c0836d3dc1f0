/** Vitest's projects: `vitest run --project unit` takes seconds. scripts/test-projects.ts says what is in which. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { TEST_ENVIRONMENT } from './scripts/test-environment.ts';
import { LONGEST, sortTests } from './scripts/test-projects.ts';

const ROOT = fileURLToPath(new URL('.', import.meta.url));

/** The path as a pattern that means itself: names of routes have brackets. */
const literally = (path: string) => path.replaceAll(/[[\]()]/g, '\\$&');

const { unit, engine, isolated, slow } = sortTests(ROOT);

/** One project after the other, because its files share a process only while no file of another comes between them. */
const ORDER = ['slow', 'isolated', 'engine', 'unit'];

/** Orders the files of a project by chance, to prove that none needs another. Vitest's own option would drop ORDER. */
const SEED = process.env.WB_TEST_SHUFFLE;

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

export default defineConfig({
  test: {
    globalSetup: './scripts/test-setup.ts',
    env: TEST_ENVIRONMENT,
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A busy machine is no failure: what is waited for comes, or never does.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      // Nothing that these reach outlives a file, so they share their processes.
      { extends: true, test: { name: 'unit', include: unit.map(literally), isolate: false, pool: 'threads' } },
      { extends: true, test: { name: 'engine', include: engine.map(literally), isolate: false } },
      { extends: true, test: { name: 'isolated', include: isolated.map(literally) } },
      { extends: true, test: { name: 'slow', include: slow.map(literally) } },
    ],
  },
});
