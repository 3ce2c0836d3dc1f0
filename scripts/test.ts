/**
 * `npm test`: every test, the browser's too. Arguments go to Vitest and keep the browser tests out, or to Playwright
 * when they name one.
 *
 * `WB_TEST_TIMES=times.txt npm test` ends with what each file took; the lines are in that file too.
 *
 * The build runs beside the tests that need none; tests that need it wait for it. The browser tests run beside Vitest;
 * what they print is kept until Vitest is done, so that one list is read after the other.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BUILD_ENDED, BUILD_PASSED, ensureBuilt, ensureWorkerBundle, isBuilt, ROOT } from './build.ts';
import { ensurePeers, FRAMEWORKS } from './peers.ts';
import { runTool, type StartedTool, startTool } from './run.ts';
import { ensureTestBundle } from './test-bundle.ts';
import { secondsOfChildren, TEST_TIMES, tableOfTimes } from './test-times.ts';
import { useMemoryForTmp } from './test-tmp.ts';

/** What Vitest's JSON reporter writes, as far as it is read here. */
interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    /** Why the file as a whole failed; empty when it did not. */
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number };
}

const times = process.env[TEST_TIMES] === undefined ? null : resolve(ROOT, process.env[TEST_TIMES]);
if (times !== null) {
  process.env[TEST_TIMES] = times;
  writeFileSync(times, '');
}

/** Ends the run, after the table of times where it is asked for. */
function end(passed: boolean): never {
  if (times !== null) process.stdout.write(`\n${tableOfTimes(times, secondsOfChildren())}\n`);
  process.exit(passed ? 0 : 1);
}

const chosen = process.argv.slice(2);
useMemoryForTmp();
ensurePeers();
ensurePeers(FRAMEWORKS);
ensureWorkerBundle();
await ensureTestBundle();
if (chosen.some((word) => word.endsWith('.spec.ts'))) {
  ensureBuilt();
  end(runTool('playwright', ['test', ...chosen]));
}
if (chosen.length > 0) end(runTool('vitest', ['run', ...chosen]));

const folder = mkdtempSync(join(tmpdir(), 'winterdock-test-'));
const { ensureBrowser } = await import('./browser.ts');
const browser = ensureBrowser();
const playwrightReport = join(folder, 'playwright.json');
const vitestReport = join(folder, 'vitest.json');
const buildEnded = join(folder, 'build-ended');

/** Starts the browser tests once there is a build. Resolves with null when the console does not build. */
async function startBrowserTests(): Promise<StartedTool | null> {
  const build = isBuilt() ? null : startTool('next', ['build'], { NODE_ENV: 'production' });
  const hasBuild = build === null || (await build.passed);
  writeFileSync(buildEnded, hasBuild ? BUILD_PASSED : '');
  if (!hasBuild) {
    build?.show();
    return null;
  }
  return startTool('playwright', ['test', '--reporter=list,json'], {
    WB_TEST_BROWSER: browser,
    PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport,
  });
}

const starting = startBrowserTests();
const vitest = startTool(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`],
  { [BUILD_ENDED]: buildEnded },
);
vitest.show();
const vitestPassed = await vitest.passed;
const browserTests = await starting;
if (browserTests === null) {
  rmSync(folder, { recursive: true });
  process.stderr.write('\nThe console did not build.\n');
  process.exit(1);
}
browserTests.show();
const browserPassed = await browserTests.passed;

const read = <T>(path: string) => (existsSync(path) ? [JSON.parse(readFileSync(path, 'utf8')) as T] : []);
const units = read<VitestReport>(vitestReport);
const [{ stats } = { stats: null }] = read<PlaywrightReport>(playwrightReport);
rmSync(folder, { recursive: true });
// The browser's list ends the output; what failed before it is said again, where it is read.
for (const { name, message, assertionResults } of units.flatMap(({ testResults }) => testResults)) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status === 'failed') process.stdout.write(`\nFAILED ${name}: ${fullName}\n${failureMessages.join('\n')}\n`);
  }
  if (message) process.stdout.write(`\nFAILED ${name}\n${message}\n`);
}
const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
const passed = sum(units.map(({ numPassedTests }) => numPassedTests)) + (stats?.expected ?? 0);
const failed = sum(units.map(({ numFailedTests }) => numFailedTests)) + (stats ? stats.unexpected + stats.flaky : 0);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
end(vitestPassed && browserPassed && failed === 0);
