/** Before each of Vitest's files, where their times are asked for: notes what the file took when it ends. */
import { relative } from 'node:path';
import { afterAll, expect } from 'vitest';
import { ROOT } from './build.ts';
import { noteTestTime, TEST_TIMES } from './test-times.ts';

const begun = performance.now();

// Hooks of the end run in the reverse order: this one is the last.
afterAll(() => {
  const path = process.env[TEST_TIMES];
  const file = expect.getState().testPath;
  if (path !== undefined && file !== undefined) noteTestTime(path, relative(ROOT, file), begun);
});
