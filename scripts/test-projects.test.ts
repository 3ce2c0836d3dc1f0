import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './build.ts';
import { LONGEST, needsOwnProcess, sortTests } from './test-projects.ts';

const sorted = sortTests(ROOT);

test('a test file is in one project, by what it imports and not by where it lies', () => {
  const all = Object.values(sorted).flat();
  expect(new Set(all).size).toBe(all.length);
  expect(sorted.unit).toEqual(
    expect.arrayContaining(['lib/lifecycle/lifecycle.test.ts', 'components/ui/amounts.test.ts']),
  );
  expect(sorted.engine).toEqual(
    expect.arrayContaining(['lib/sandboxes/sandboxes.test.ts', 'lib/http/dispatch.test.ts', 'lib/vfs/tree.test.ts']),
  );
  expect(sorted.slow).toEqual(expect.arrayContaining(['e2e/hostile-requests.test.ts', 'scripts/package.test.ts']));
  expect(sorted.isolated).toEqual(
    expect.arrayContaining([
      'lib/sandboxes/slow-registry.test.ts',
      'lib/http/uploads.test.ts',
      'lib/vfs/readers.test.ts',
    ]),
  );
});

test('what needs the build is in the project that waits for it', () => {
  const needing = Object.values(sorted)
    .flat()
    .filter((path) => /\bensureBuilt\(\)/.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(sorted.slow).toEqual(expect.arrayContaining(needing.filter((path) => !path.includes('test-projects'))));
});

test('no file that needs a process to itself is in a project whose files share theirs', () => {
  const needing = (files: readonly string[]) =>
    files.filter((path) => needsOwnProcess(readFileSync(join(ROOT, path), 'utf8')));
  expect(needing(['lib/sandboxes/slow-registry.test.ts'])).toHaveLength(1);
  expect(needing([...sorted.engine, ...sorted.slow])).toEqual([]);
});

test('the files that begin first are there', () => {
  expect(Object.values(sorted).flat()).toEqual(expect.arrayContaining([...LONGEST]));
});
