/**
 * The API's own suite a second time, against `next start`: the files of it that describe what is asked and answered
 * over HTTP. A round runs every other one of them.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALONE_SETTINGS, SHARED_SERVERS } from '../lib/testing/alone-server.ts';
import { partOf } from '../lib/testing/draw.ts';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { ensureBuilt } from '../scripts/build.ts';
import { TEST_FILES } from '../scripts/test-days.ts';

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

/** Files that run at a time, each with a Next that others had before. */
const WORKERS = 2;

const base = mkdtempSync(join(tmpdir(), 'winterdock-alone-api-'));
const servers: (ServerProcess & { folder: string })[] = [];

beforeAll(async () => {
  ensureBuilt();
  for (let n = 1; n <= WORKERS; n += 1) {
    const folder = join(base, `data-${n}`);
    servers.push({ ...(await spawnServer({ alone: true, folder, settings: ALONE_SETTINGS })), folder });
  }
});
afterAll(async () => {
  for (const server of servers) expect(await server.end()).toBe(0);
  rmSync(base, { recursive: true });
});

test('the suite of the API passes where Next is started alone', { timeout: 900_000 }, async () => {
  const path = join(base, 'report.json');
  const names = partOf(FILES, 2);
  const files = names.map((name) => `lib/http/tests/${name}.test.ts`);
  const args = [VITEST, 'run', ...files, '--reporter=json', `--outputFile=${path}`];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: {
      ...process.env,
      WB_TEST_TARGET: 'next',
      [SHARED_SERVERS]: JSON.stringify(servers.map(({ url, folder }) => ({ url, folder }))),
      VITEST_MAX_WORKERS: String(WORKERS),
      WB_TEST_TIMES: undefined,
      [TEST_FILES]: undefined,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints += chunk;
  });
  await once(child, 'close');
  const { testResults } = JSON.parse(readFileSync(path, 'utf8')) as Report;
  expect(testResults.filter(({ message }) => message !== '').map(({ name, message }) => [name, message])).toEqual([]);
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === 'failed');
  expect(
    failed.filter(({ title }) => !EXCEPTIONS.includes(title)).map((one) => [one.title, ...one.failureMessages]),
    complaints,
  ).toEqual([]);
  // Nothing is skipped but what reaches into the engine.
  const passed = results.filter(({ status }) => status === 'passed');
  expect(testResults.length).toBe(names.length);
  expect(passed.length).toBeGreaterThan(10 * names.length);
  expect(results.length - passed.length - failed.length).toBeLessThan(10);
});
