/** Runs the tests of a file on Postgres: passes over those that are SQLite's alone. */
import { relative } from 'node:path';
import { TestRunner } from 'vitest';
import { ROOT } from './build.ts';
import { SQLITE_ALONE } from './test-postgres.ts';

type Test = Parameters<TestRunner['onBeforeRunTask']>[0];

/** Vitest makes it by the file's path. */
export default class PostgresRunner extends TestRunner {
  override async onBeforeRunTask(test: Test): Promise<void> {
    if (`${relative(ROOT, test.file.filepath)} > ${test.name}` in SQLITE_ALONE) {
      test.mode = 'skip';
      // The runner skips it from here on without a word of how it ended.
      test.result = { state: 'skip' };
    }
    await super.onBeforeRunTask(test);
  }
}
