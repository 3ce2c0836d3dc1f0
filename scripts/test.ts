/**
 * `npm test`: every test, the browser's too. Arguments go to Vitest and keep the browser tests out, or to Playwright
 * when they name one.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './build.ts';
import { ensurePeers } from './peers.ts';
import { runTool } from './run.ts';

/** What Vitest's JSON reporter writes, as far as it is read here. */
interface UnitReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: {
    name: string;
    /** Why the file as a whole failed; empty when it did not. */
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

const chosen = process.argv.slice(2);
ensurePeers();
if (chosen.some((word) => word.endsWith('.spec.ts'))) {
  ensureBuilt();
  process.exit(runTool('playwright', ['test', ...chosen]) ? 0 : 1);
}
if (chosen.length > 0) process.exit(runTool('vitest', ['run', ...chosen]) ? 0 : 1);

const folder = mkdtempSync(join(tmpdir(), 'winterdock-test-'));
const vitestReport = join(folder, 'vitest.json');
const playwrightReport = join(folder, 'playwright.json');
const { ensureBrowser } = await import('./browser.ts');
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

const units = JSON.parse(readFileSync(vitestReport, 'utf8')) as UnitReport;
const { stats } = JSON.parse(readFileSync(playwrightReport, 'utf8')) as {
  stats: { expected: number; unexpected: number; flaky: number };
};
rmSync(folder, { recursive: true });
// The browser's list ends the output; what failed before it is said again, where it is read.
for (const { name, message, assertionResults } of units.testResults) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    if (status === 'failed') process.stdout.write(`\nFAILED ${name}: ${fullName}\n${failureMessages.join('\n')}\n`);
  }
  if (message) process.stdout.write(`\nFAILED ${name}\n${message}\n`);
}
const failed = units.numFailedTests + stats.unexpected + stats.flaky;
process.stdout.write(`\n${units.numPassedTests + stats.expected} passed, ${failed} failed\n`);
process.exit(unitsPassed && browserPassed && failed === 0 ? 0 : 1);
