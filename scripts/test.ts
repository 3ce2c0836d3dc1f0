/**
 * `npm test`: every test, the browser's too. Arguments go to Vitest and keep the browser tests out, or to Playwright
 * when they name one.
 *
 * `WB_TEST_TIMES=times.txt npm test` ends with what each file took; the lines are in that file too.
 *
 * The build runs beside the tests that need none; tests that need it wait for it. The browser tests run beside Vitest;
 * what they print is kept until Vitest is done, so that one list is read after the other. Files that failed are run
 * again alone at the end (scripts/test-outcome.ts).
 *
 * Files of the second level run on one day of three (scripts/test-days.ts); `WB_TEST_DRAW=all npm test` runs
 * everything.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DAY, DRAWN_BY, DRAWS_ALL } from '../lib/testing/draw.ts';
import { BUILD_ENDED, BUILD_PASSED, ensureBuilt, ensureWorkerBundle, isBuilt, ROOT } from './build.ts';
import { ensurePeers, FRAMEWORKS } from './peers.ts';
import { runTool, type StartedTool, startTool } from './run.ts';
import { ensureTestBundle } from './test-bundle.ts';
import { filesLeftOut, OF_THE_DAY, TABLES, TEST_FILES } from './test-days.ts';
import {
  conclude,
  type FileOutcome,
  filesToRunAgain,
  ON_POSTGRES,
  outcomeOfPlaywright,
  outcomeOfRun,
  type PlaywrightReport,
  type RunnerOutcome,
} from './test-outcome.ts';
import { TEST_REPORT } from './test-reporter.ts';
import { secondsOfChildren, TEST_TIMES, tableOfTimes } from './test-times.ts';
import { useMemoryForTmp } from './test-tmp.ts';

const times = process.env[TEST_TIMES] === undefined ? null : resolve(ROOT, process.env[TEST_TIMES]);
if (times !== null) {
  process.env[TEST_TIMES] = times;
  writeFileSync(times, '');
}

/** Prints the table of times where it is asked for. */
function showTimes(): void {
  if (times !== null) process.stdout.write(`\n${tableOfTimes(times, secondsOfChildren())}\n`);
}

function end(passed: boolean): never {
  showTimes();
  process.exit(passed ? 0 : 1);
}

const chosen = process.argv.slice(2);
// What is named runs whole. A run that goes on at midnight is of the day on which it began.
if (chosen.length > 0) process.env.WB_TEST_DRAW ??= 'all';
else if (!DRAWS_ALL) process.env.WB_TEST_DRAW = String(DAY);
useMemoryForTmp();
ensurePeers();
ensurePeers(FRAMEWORKS);
ensureWorkerBundle();
await ensureTestBundle();
if (chosen.some((word) => /\.spec\.ts(:\d+)?$/.test(word))) {
  ensureBuilt();
  end(runTool('playwright', ['test', ...chosen]));
}
if (chosen.length > 0) end(runTool('vitest', ['run', ...chosen]));

const folder = mkdtempSync(join(tmpdir(), 'winterdock-test-'));
const { ensureBrowser } = await import('./browser.ts');
const browser = ensureBrowser();
const { ensureRadosgw } = await import('./ensure-radosgw.ts');
const { ensureBubblewrap } = await import('./ensure-bubblewrap.ts');
const { whyNotMountable } = await import('../lib/native/testing/may-mount.ts');
const { LITESTREAM_VFS } = await import('../testing/peers/litestream.ts');
const { POSTGRES } = await import('../testing/peers/postgres.ts');
const notRun = [
  ensureRadosgw(),
  await ensureBubblewrap(),
  await whyNotMountable(),
  LITESTREAM_VFS === null
    ? 'Not run: lib/replication/litestream.test.ts, which needs a package that is for Linux on x64 with glibc only.'
    : null,
  POSTGRES === null
    ? 'Not run: lib/registry/postgres, db/postgres.test.ts, lib/backup/postgres-registry.test.ts, and engine and API on Postgres, which need a PostgreSQL server, and there is no package of one for this system.'
    : null,
];
const buildEnded = join(folder, 'build-ended');

interface Runner {
  name: 'Vitest' | 'Playwright';
  tool: string;
  args: string[];
  environment(report: string): Record<string, string>;
  /** What its report says, or null where it has written none. */
  read(report: string): RunnerOutcome | null;
  /** The arguments that choose one file, and nothing else, and the variables that go with them. */
  only(file: string): [string[], Record<string, string>?];
}

const parse = <T>(path: string) => (existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : null);

const VITEST: Runner = {
  name: 'Vitest',
  tool: 'vitest',
  args: ['run', '--reporter=default', '--reporter=./scripts/test-reporter.ts'],
  environment: (report) => ({ [TEST_REPORT]: report }),
  read: (report) => parse<RunnerOutcome>(report),
  only: (file) =>
    file.endsWith(ON_POSTGRES)
      ? [[join(ROOT, file.slice(0, -ON_POSTGRES.length))], { WB_TEST_REGISTRY: 'postgres' }]
      : [[join(ROOT, file)]],
};

const PLAYWRIGHT: Runner = {
  name: 'Playwright',
  tool: 'playwright',
  args: ['test', '--reporter=list,json'],
  environment: (report) => ({ WB_TEST_BROWSER: browser, PLAYWRIGHT_JSON_OUTPUT_NAME: report }),
  read: (report) => {
    const read = parse<PlaywrightReport>(report);
    return read && outcomeOfPlaywright(read, ROOT);
  },
  // It takes a pattern.
  only: (file) => [['--workers=1', `/${file.replaceAll('.', '\\.')}$`]],
};

interface StartedRun {
  shown: StartedTool;
  outcome: Promise<RunnerOutcome>;
}

let reports = 0;

function startRun(runner: Runner, args: string[], environment: Record<string, string> = {}): StartedRun {
  reports += 1;
  const report = join(folder, `report-${reports}.json`);
  const shown = startTool(runner.tool, [...runner.args, ...args], { ...runner.environment(report), ...environment });
  const outcome = shown.passed.then((exitedWell) => outcomeOfRun(runner.name, runner.read(report), exitedWell));
  return { shown, outcome };
}

/** Starts the browser tests once there is a build. Resolves with null when the console does not build. */
async function startBrowserTests(): Promise<StartedRun | null> {
  const build = isBuilt() ? null : startTool('next', ['build'], { NODE_ENV: 'production' });
  const hasBuild = build === null || (await build.passed);
  writeFileSync(buildEnded, hasBuild ? BUILD_PASSED : '');
  if (!hasBuild) {
    build?.show();
    return null;
  }
  return startRun(PLAYWRIGHT, [], { [TEST_FILES]: OF_THE_DAY });
}

const leftOut = filesLeftOut({ [TEST_FILES]: OF_THE_DAY }).length;
const ofToday = DRAWS_ALL
  ? 'Everything runs.'
  : `${DRAWN_BY}: ${TABLES.flat().length - leftOut} files of the second level run, ${leftOut} run on other days.`;
process.stdout.write(`${ofToday}\n`);
const starting = startBrowserTests();
const vitest = startRun(VITEST, [], { [TEST_FILES]: OF_THE_DAY, [BUILD_ENDED]: buildEnded });
vitest.shown.show();
const runs = [await vitest.outcome];
const browserTests = await starting;
if (browserTests === null) {
  rmSync(folder, { recursive: true });
  process.stderr.write('\nThe console did not build.\n');
  process.exit(1);
}
browserTests.shown.show();
runs.push(await browserTests.outcome);

/** Says what failed, where it is read: the runners' own lists are long. */
function show({ file, failures }: FileOutcome): void {
  for (const { title, message } of failures) {
    process.stdout.write(`\nFAILED ${title === '' ? file : `${file}: ${title}`}\n${message}\n`);
  }
}

for (const outcome of runs.flatMap(({ files }) => files)) show(outcome);
for (const error of runs.flatMap(({ errors }) => errors)) process.stdout.write(`\nFAILED\n${error}\n`);

const again = filesToRunAgain(runs);
const alone = new Map<string, FileOutcome>();
for (const { file } of again) {
  process.stdout.write(`\nRunning ${file} again, alone.\n`);
  const runner = file.endsWith('.spec.ts') ? PLAYWRIGHT : VITEST;
  const run = startRun(runner, ...runner.only(file));
  run.shown.show();
  const { files, errors } = await run.outcome;
  const outcome = files.find((each) => each.file === file) ?? { file, passed: 0, failures: [] };
  outcome.failures.push(...errors.map((message) => ({ title: '', message })));
  show(outcome);
  alone.set(file, outcome);
}
rmSync(folder, { recursive: true });

const { passed, failed, passedFiles, failedFiles, flaky } = conclude(runs, alone);
if (times !== null) appendFileSync(times, flaky.map((line) => `${JSON.stringify({ flaky: line })}\n`).join(''));
showTimes();
/** As Vitest counts. */
const counted = (good: number, bad: number) => `${bad > 0 ? `${bad} failed | ` : ''}${good} passed (${good + bad})`;
if (again.length > 0) {
  process.stdout.write(`\n Test Files  ${counted(passedFiles, failedFiles)}\n`);
  process.stdout.write(`      Tests  ${counted(passed, failed)}\n`);
}
if (flaky.length > 0) process.stdout.write(`\n${flaky.join('\n')}\n`);
process.stdout.write(`\n${ofToday}\n`);
for (const line of notRun) if (line !== null) process.stdout.write(`${line}\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
