/** `npm test`: every test, the browser's too. Arguments go to Vitest and keep the browser tests out. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBrowser } from './browser.ts';
import { ensureBuilt } from './build.ts';
import { runTool } from './run.ts';

const chosen = process.argv.slice(2);
if (chosen.length > 0) process.exit(runTool('vitest', ['run', ...chosen]) ? 0 : 1);

const folder = mkdtempSync(join(tmpdir(), 'winterdock-test-'));
const vitestReport = join(folder, 'vitest.json');
const playwrightReport = join(folder, 'playwright.json');
const browser = ensureBrowser();
ensureBuilt();
const unitsPassed = runTool('vitest', [
  'run',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestReport}`,
]);
const browserPassed = runTool('playwright', ['test', '--reporter=list,json'], {
  WB_TEST_BROWSER: browser,
  PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport,
});

const units = JSON.parse(readFileSync(vitestReport, 'utf8')) as { numPassedTests: number; numFailedTests: number };
const { stats } = JSON.parse(readFileSync(playwrightReport, 'utf8')) as {
  stats: { expected: number; unexpected: number; flaky: number };
};
rmSync(folder, { recursive: true });
const failed = units.numFailedTests + stats.unexpected + stats.flaky;
process.stdout.write(`\n${units.numPassedTests + stats.expected} passed, ${failed} failed\n`);
process.exit(unitsPassed && browserPassed && failed === 0 ? 0 : 1);
