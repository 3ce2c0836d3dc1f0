/**
 * `npm test`: every test, the browser's too. Arguments go to Vitest and keep the browser tests out, or to Playwright
 * when they name one.
 *
 * The build runs beside the tests that need none, and the browser tests beside Vitest; what they print is kept until
 * Vitest is done, so that one list is read after the other.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt, ensureWorkerBundle, isBuilt } from './build.ts';
import { ensurePeers } from './peers.ts';
import { runTool, type StartedTool, startTool } from './run.ts';

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

const chosen = process.argv.slice(2);
ensurePeers();
ensureWorkerBundle();
if (chosen.some((word) => word.endsWith('.spec.ts'))) {
  ensureBuilt();
  process.exit(runTool('playwright', ['test', ...chosen]) ? 0 : 1);
}
if (chosen.length > 0) process.exit(runTool('vitest', ['run', ...chosen]) ? 0 : 1);

const folder = mkdtempSync(join(tmpdir(), 'winterdock-test-'));
const { ensureBrowser } = await import('./browser.ts');
const browser = ensureBrowser();
const playwrightReport = join(folder, 'playwright.json');
const vitestReports: string[] = [];

/** Runs projects of Vitest. Its output is shown as it comes. */
async function runVitest(...projects: string[]): Promise<boolean> {
  const report = join(folder, `vitest-${projects.join('-')}.json`);
  vitestReports.push(report);
  const vitest = startTool('vitest', [
    'run',
    ...projects.map((project) => `--project=${project}`),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ]);
  vitest.show();
  return await vitest.passed;
}

/** Starts the browser tests once there is a build. Resolves with null when the console does not build. */
async function startBrowserTests(): Promise<StartedTool | null> {
  if (!isBuilt()) {
    const build = startTool('next', ['build'], { NODE_ENV: 'production' });
    if (!(await build.passed)) {
      build.show();
      return null;
    }
  }
  return startTool('playwright', ['test', '--reporter=list,json'], {
    WB_TEST_BROWSER: browser,
    PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport,
  });
}

const starting = startBrowserTests();
const quickPassed = await runVitest('unit', 'engine', 'isolated');
const browserTests = await starting;
if (browserTests === null) {
  rmSync(folder, { recursive: true });
  process.stderr.write('\nThe console did not build.\n');
  process.exit(1);
}
// These need the build.
const slowPassed = await runVitest('slow');
browserTests.show();
const browserPassed = await browserTests.passed;

const read = <T>(path: string) => (existsSync(path) ? [JSON.parse(readFileSync(path, 'utf8')) as T] : []);
const units = vitestReports.flatMap((path) => read<VitestReport>(path));
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
process.exit(quickPassed && slowPassed && browserPassed && failed === 0 ? 0 : 1);
