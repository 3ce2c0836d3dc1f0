/**
 * What the files of a test run came to, and which of them are run once more: a file that failed beside others, on a
 * machine that is busy with them, is run again alone. Only a file that fails twice fails the suite. One that passes
 * alone is a defect of the test, or of the code under load: it is named at the end of the run. Runs nothing itself.
 */
import { relative, resolve } from 'node:path';

/** What the name of a file ends with that ran with the registry on Postgres. */
export const ON_POSTGRES = ' on Postgres';

export interface FailedTest {
  /** Empty where the file failed as a whole: it did not load, did not end, or something failed outside of its tests. */
  title: string;
  message: string;
}

/** What one test file came to. */
export interface FileOutcome {
  /** Relative to the root of the repository, and whether it ran on Postgres. */
  file: string;
  /** How many of its tests passed. */
  passed: number;
  /** Empty when the file passed. */
  failures: FailedTest[];
}

/** What one run of Vitest or Playwright came to. */
export interface RunnerOutcome {
  files: FileOutcome[];
  /** What failed and belongs to no file. It fails the suite: there is nothing that could be run again. */
  errors: string[];
}

/** Of more files than these nothing is run again: the machine or the change is broken, not the weather. */
export const MOST_AGAIN = 12;

/** The part of a report of Playwright’s JSON reporter that is read here. */
export interface PlaywrightReport {
  config: { rootDir: string };
  suites: PlaywrightSuite[];
  errors: { message?: string }[];
}

interface PlaywrightSuite {
  title: string;
  /** Relative to `rootDir`. */
  file: string;
  specs: {
    title: string;
    tests: { status: 'skipped' | 'expected' | 'unexpected' | 'flaky'; results: { errors: { message: string }[] }[] }[];
  }[];
  suites?: PlaywrightSuite[];
}

/** The outcome of a run of Playwright. `root`: of the repository. */
export function outcomeOfPlaywright({ config, suites, errors }: PlaywrightReport, root: string): RunnerOutcome {
  const outcomeOf = (suite: PlaywrightSuite, path: string[]): FileOutcome => {
    const file = relative(root, resolve(config.rootDir, suite.file));
    const inner = (suite.suites ?? []).map((each) => outcomeOf(each, [...path, each.title]));
    const tests = suite.specs.flatMap((spec) => spec.tests.map((test) => ({ ...test, title: spec.title })));
    const failed = tests.filter(({ status }) => status === 'unexpected' || status === 'flaky');
    return {
      file,
      passed: sum([tests.filter(({ status }) => status === 'expected').length, ...inner.map(({ passed }) => passed)]),
      failures: [
        ...failed.map(({ title, results }) => ({
          title: [...path, title].join(' > '),
          message: results.flatMap((result) => result.errors.map(({ message }) => message)).join('\n'),
        })),
        ...inner.flatMap(({ failures }) => failures),
      ],
    };
  };
  return {
    files: suites.map((suite) => outcomeOf(suite, [])),
    errors: errors.map(({ message }) => message ?? 'Playwright failed and did not say why.'),
  };
}

/**
 * What a run came to by its report and by how its process ended. A report that is missing, or that explains nothing of
 * a failure, is an error of its own.
 *
 * @param tool The name of the runner, for the message.
 * @param outcome What its report says, or null where there is none.
 * @param exitedWell Whether it exited with 0.
 */
export function outcomeOfRun(tool: string, outcome: RunnerOutcome | null, exitedWell: boolean): RunnerOutcome {
  if (outcome === null) return { files: [], errors: [`${tool} ended without a report.`] };
  const explained = exitedWell || outcome.errors.length > 0 || outcome.files.some(hasFailed);
  return explained ? outcome : { ...outcome, errors: [`${tool} failed, and its report names nothing that did.`] };
}

function hasFailed({ failures }: FileOutcome): boolean {
  return failures.length > 0;
}

/** The files to run again alone, one at a time. None where more than `MOST_AGAIN` failed. */
export function filesToRunAgain(runs: readonly RunnerOutcome[]): FileOutcome[] {
  const failed = runs.flatMap(({ files }) => files).filter(hasFailed);
  return failed.length > MOST_AGAIN ? [] : failed;
}

/** The final result of a run of everything. */
export interface Conclusion {
  passed: number;
  /** Tests that failed, files that failed outside of their tests, and errors that belong to no file. */
  failed: number;
  passedFiles: number;
  failedFiles: number;
  /** A line for each test that failed beside others and passed alone. */
  flaky: string[];
}

/**
 * What a run of everything came to.
 *
 * @param runs What ran side by side.
 * @param alone The files that were run again, by name. A file counts as passed alone only when nothing of it failed,
 * and no fewer tests passed than had run beside others: what is skipped the second time has not passed.
 */
export function conclude(runs: readonly RunnerOutcome[], alone: ReadonlyMap<string, FileOutcome>): Conclusion {
  const conclusion: Conclusion = { passed: 0, failed: 0, passedFiles: 0, failedFiles: 0, flaky: [] };
  for (const first of runs.flatMap(({ files }) => files)) {
    const again = alone.get(first.file);
    const isFlaky = again !== undefined && hasPassedAlone(first, again);
    // A second time that has not passed and says nothing of a failure counts as the first.
    const last = again !== undefined && (isFlaky || hasFailed(again)) ? again : first;
    conclusion.passed += last.passed;
    conclusion.failed += last.failures.length;
    if (hasFailed(last)) conclusion.failedFiles += 1;
    else conclusion.passedFiles += 1;
    if (!isFlaky) continue;
    for (const { title } of first.failures) {
      const name = title === '' ? first.file : `${first.file} > ${title}`;
      conclusion.flaky.push(`flaky: ${name} failed beside others and passed alone`);
    }
  }
  conclusion.failed += sum(runs.map(({ errors }) => errors.length));
  return conclusion;
}

function hasPassedAlone(first: FileOutcome, again: FileOutcome): boolean {
  const ran = first.passed + first.failures.filter(({ title }) => title !== '').length;
  return !hasFailed(again) && again.passed >= ran;
}

function sum(counts: number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
