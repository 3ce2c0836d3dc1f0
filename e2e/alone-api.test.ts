/**
 * The API's own suite a second time, against `next start`: the files of it that describe what is asked and answered
 * over HTTP.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../scripts/build.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

/**
 * Of `lib/http/tests`: bodies and bytes both ways, streams, ranges, conditions, uploads, roles, limits, and everything
 * hostile.
 */
const FILES = [
  'access',
  'bytes',
  'events',
  'examples',
  'files',
  'hostile',
  'import',
  'instances',
  'keys',
  'runs',
  'ship',
];

/** What Next, or Node for it, answers otherwise; e2e/alone.test.ts says how. */
const EXCEPTIONS: readonly string[] = [];

/** What Vitest's JSON reporter writes, as far as it is read here. */
interface Report {
  testResults: {
    name: string;
    message: string;
    assertionResults: { status: string; title: string; failureMessages: string[] }[];
  }[];
}

beforeAll(() => ensureBuilt());

test('the suite of the API passes where Next is started alone', { timeout: 900_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-report-'));
  const path = join(folder, 'report.json');
  const files = FILES.map((name) => `lib/http/tests/${name}.test.ts`);
  const args = [VITEST, 'run', ...files, '--reporter=json', `--outputFile=${path}`];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    // Each file starts a whole Next, beside the other tests.
    env: { ...process.env, WB_TEST_TARGET: 'next', VITEST_MAX_WORKERS: '2', WB_TEST_TIMES: undefined },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  await once(child, 'close');
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  rmSync(folder, { recursive: true });
  expect(testResults.filter(({ message }) => message !== '').map(({ name, message }) => [name, message])).toEqual([]);
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === 'failed');
  expect(
    failed.filter(({ title }) => !EXCEPTIONS.includes(title)).map((one) => [one.title, ...one.failureMessages]),
    complaints,
  ).toEqual([]);
  // Nothing is skipped but what reaches into the engine.
  const passed = results.filter(({ status }) => status === 'passed');
  expect(testResults.length).toBe(FILES.length);
  expect(passed.length).toBeGreaterThan(200);
  expect(results.length - passed.length - failed.length).toBeLessThan(10);
});
