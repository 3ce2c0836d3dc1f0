import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './build.ts';
import { toolAt } from './run.ts';
import {
  conclude,
  type FileOutcome,
  filesToRunAgain,
  MOST_AGAIN,
  outcomeOfPlaywright,
  outcomeOfRun,
  type RunnerOutcome,
} from './test-outcome.ts';
import { TEST_REPORT } from './test-reporter.ts';

const fine = (file: string, passed = 3): FileOutcome => ({ file, passed, failures: [] });
const broken = (file: string, titles: string[], passed = 2): FileOutcome => ({
  file,
  passed,
  failures: titles.map((title) => ({ title, message: 'expected 1 to be 2' })),
});
const run = (files: FileOutcome[], errors: string[] = []): RunnerOutcome => ({ files, errors });
const alone = (...files: FileOutcome[]) => new Map(files.map((each) => [each.file, each]));

test('what failed in either runner is run again, and nothing where more than twelve files failed', () => {
  const unit = run([fine('a.test.ts'), broken('b.test.ts', ['holds'])]);
  const browser = run([broken('c.spec.ts', ['opens'])]);
  expect(filesToRunAgain([unit, browser]).map(({ file }) => file)).toEqual(['b.test.ts', 'c.spec.ts']);
  const many = (count: number) => Array.from({ length: count }, (_, at) => broken(`${at}.test.ts`, ['holds']));
  expect(filesToRunAgain([run(many(MOST_AGAIN))])).toHaveLength(12);
  expect(filesToRunAgain([run(many(MOST_AGAIN)), browser])).toEqual([]);
});

test('a file that passes alone passes, and each test that had failed is named as flaky', () => {
  const runs = [run([fine('a.test.ts'), broken('b.test.ts', ['holds', 'waits', ''])]), run([fine('c.spec.ts')])];
  expect(conclude(runs, alone(fine('b.test.ts', 4)))).toEqual({
    passed: 10,
    failed: 0,
    passedFiles: 3,
    failedFiles: 0,
    flaky: [
      'flaky: b.test.ts > holds failed beside others and passed alone',
      'flaky: b.test.ts > waits failed beside others and passed alone',
      'flaky: b.test.ts failed beside others and passed alone',
    ],
  });
});

test('a file that fails twice fails, also where another of its tests failed the second time', () => {
  const runs = [run([fine('a.test.ts'), broken('b.test.ts', ['holds'])])];
  const twice = conclude(runs, alone(broken('b.test.ts', ['waits'], 2)));
  expect(twice).toEqual({ passed: 5, failed: 1, passedFiles: 1, failedFiles: 1, flaky: [] });
});

test('what was not run again, was skipped or had no tests the second time has not passed', () => {
  const runs = [run([broken('b.test.ts', ['holds'])])];
  for (const again of [alone(), alone(fine('b.test.ts', 2)), alone(fine('b.test.ts', 0))])
    expect(conclude(runs, again)).toMatchObject({ passed: 2, failed: 1, failedFiles: 1, flaky: [] });
});

test('an error that belongs to no file fails the suite, whatever passes alone', () => {
  const runs = [run([broken('b.test.ts', ['holds'])], ['the port was taken'])];
  expect(conclude(runs, alone(fine('b.test.ts')))).toMatchObject({ passed: 3, failed: 1, failedFiles: 0 });
});

test('a runner that ends without a report, or fails and names nothing, has an error', () => {
  expect(outcomeOfRun('Vitest', null, true).errors).toEqual(['Vitest ended without a report.']);
  expect(outcomeOfRun('Vitest', run([fine('a.test.ts')]), false).errors).toHaveLength(1);
  expect(outcomeOfRun('Vitest', run([fine('a.test.ts')]), true).errors).toEqual([]);
  expect(outcomeOfRun('Vitest', run([broken('a.test.ts', ['holds'])]), false).errors).toEqual([]);
});

/** A folder of test files, which import the runners by their paths here. */
function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-outcome-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('Vitest’s run is read whole: a failed test, a file that does not load or whose process ends, a late error', () => {
  const importing = `import { beforeAll, describe, test } from ${JSON.stringify(join(ROOT, 'node_modules/vitest/dist/index.js'))};`;
  const folder = folderOf({
    'fine.test.ts': `${importing} test('holds', () => {}); test.skip('is not run', () => {});`,
    'failed.test.ts': `${importing} test('holds', () => {}); describe('a door', () => { test('opens', () => { throw new Error('stuck'); }); });`,
    'unloaded.test.ts': `${importing} throw new Error('no such key');`,
    'hook.test.ts': `${importing} describe('a server', () => { beforeAll(() => { throw new Error('port taken'); }); test('answers', () => {}); });`,
    'late.test.ts': `${importing} test('holds', async () => { Promise.reject(new Error('nobody waits')); await new Promise((done) => setTimeout(done, 200)); });`,
    'ended.test.ts': `${importing} test('ends its process', () => { process.kill(process.pid, 'SIGKILL'); });`,
    'vitest.config.ts': `export default { test: { pool: 'forks', maxWorkers: 1 } };`,
  });
  const report = join(folder, 'report.json');
  const { status, stdout } = spawnSync(
    toolAt('vitest'),
    ['run', '--root', folder, `--reporter=${join(ROOT, 'scripts', 'test-reporter.ts')}`],
    { env: { NODE_ENV: 'test', PATH: process.env.PATH, [TEST_REPORT]: report }, encoding: 'utf8' },
  );
  expect(status, stdout).toBe(1);
  const { files, errors } = JSON.parse(readFileSync(report, 'utf8')) as RunnerOutcome;
  const byName = new Map(files.map((each) => [basename(each.file), each]));
  const failuresOf = (name: string) =>
    byName.get(name)?.failures.map(({ title, message }) => [title, message.split('\n')[0]]);
  expect(byName.get('fine.test.ts')).toMatchObject({ passed: 1, failures: [] });
  expect(byName.get('failed.test.ts')?.passed).toBe(1);
  expect(failuresOf('failed.test.ts')).toEqual([['a door > opens', 'Error: stuck']]);
  expect(failuresOf('unloaded.test.ts')).toEqual([['', 'Error: no such key']]);
  expect(failuresOf('hook.test.ts')).toEqual([['', 'Error: port taken']]);
  expect(byName.get('late.test.ts')?.passed).toBe(1);
  expect(failuresOf('late.test.ts')).toEqual([['', 'Error: nobody waits']]);
  expect(failuresOf('ended.test.ts')).toEqual([
    ['ends its process', 'It has not ended.'],
    ['', 'Error: [vitest-pool]: Worker forks emitted error.'],
  ]);
  expect(errors).toEqual([]);
});

test('Playwright’s run is read whole: tests in groups, skipped ones, a file that does not load', () => {
  const importing = `import { test } from ${JSON.stringify(join(ROOT, 'testing/peers/playwright.ts'))};`;
  const folder = folderOf({
    'page.spec.ts': `${importing} test('opens', () => {}); test.skip('is not run', () => {});
      test.describe('a form', () => { test('is sent', () => { throw new Error('stuck'); }); });`,
    'package.json': '{ "type": "module" }',
    'playwright.config.ts': `export default { reporter: 'json' };`,
  });
  const playwright = () => {
    const report = join(folder, 'report.json');
    const env = { NODE_ENV: 'test' as const, PATH: process.env.PATH, PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const { status } = spawnSync(toolAt('playwright'), ['test'], { cwd: folder, env });
    return { status, outcome: outcomeOfPlaywright(JSON.parse(readFileSync(report, 'utf8')), folder) };
  };
  const { status, outcome } = playwright();
  expect(status).toBe(1);
  expect(outcome).toMatchObject({
    files: [{ file: 'page.spec.ts', passed: 1, failures: [{ title: 'a form > is sent' }] }],
    errors: [],
  });
  expect(outcome.files[0]?.failures[0]?.message).toContain('Error: stuck');
  writeFileSync(join(folder, 'page.spec.ts'), `${importing} throw new Error('no such key');`);
  expect(playwright().outcome.errors.join('\n')).toContain('no such key');
});
