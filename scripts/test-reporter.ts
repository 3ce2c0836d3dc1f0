/**
 * A reporter for Vitest that writes what each file came to, for scripts/test.ts. Vitest's own JSON leaves out what
 * failed outside of a test, and files that were to run and did not. Decides nothing.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestModule, TestSpecification } from 'vitest/node';
import { ROOT } from './build.ts';
import { type FailedTest, type FileOutcome, ON_POSTGRES, type RunnerOutcome } from './test-outcome.ts';

/** The variable with the absolute path of the file that is written. */
export const TEST_REPORT = 'WB_TEST_REPORT';

const NOT_ENDED = 'It has not ended.';
const NOT_RUN = 'It was not run.';
const UNENDED: ReadonlySet<string> = new Set([NOT_ENDED, NOT_RUN]);
/** How Vitest begins what it says of a process that did not start or died. It does not say which files were in it. */
const OF_POOL = '[vitest-pool]';

const textOf = (error: SerializedError) =>
  [error.stack ?? error.message, error.diff].filter((part) => typeof part === 'string').join('\n');

/** What a file of a project is called in a report: one that runs on either registry has two outcomes. */
function nameOf({ moduleId, project }: { moduleId: string; project: { name: string } }): string {
  const file = relative(ROOT, moduleId);
  return project.name.startsWith('postgres') ? file + ON_POSTGRES : file;
}

function outcomeOf(module: TestModule): FileOutcome {
  const tests = [...module.children.allTests()];
  const failures: FailedTest[] = tests.flatMap((test) => {
    const { state, errors = [] } = test.result();
    if (state === 'passed' || state === 'skipped') return [];
    const message = state === 'failed' ? errors.map(textOf).join('\n') : NOT_ENDED;
    return [{ title: test.fullName, message }];
  });
  const around = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
  failures.push(...around.map((error) => ({ title: '', message: textOf(error) })));
  const state = module.state();
  if (failures.length === 0 && state !== 'passed' && state !== 'skipped')
    failures.push({ title: '', message: `It has not passed: it is ${state}.` });
  const passed = tests.filter((test) => test.result().state === 'passed').length;
  return { file: nameOf(module), passed, failures };
}

/** What a run of Vitest came to: of the files that were to run, those that ran, and what failed outside of them. */
export function outcomeOfVitest(
  planned: readonly string[],
  modules: readonly TestModule[],
  unhandled: readonly SerializedError[],
): RunnerOutcome {
  const byFile = new Map(modules.map((module) => [nameOf(module), outcomeOf(module)]));
  for (const file of planned) {
    if (!byFile.has(file)) byFile.set(file, { file, passed: 0, failures: [{ title: '', message: NOT_RUN }] });
  }
  const unended = [...byFile.values()].filter(({ failures }) => failures.some(({ message }) => UNENDED.has(message)));
  const errors: string[] = [];
  for (const error of unhandled) {
    const path = error.VITEST_TEST_PATH;
    const named = typeof path === 'string' ? relative(ROOT, path) : '';
    const of = [named, named + ON_POSTGRES].map((name) => byFile.get(name)).filter((each) => each !== undefined);
    const all = of.length === 0 && error.message.startsWith(OF_POOL) ? unended : of;
    for (const each of all) each.failures.push({ title: '', message: textOf(error) });
    if (all.length === 0) errors.push(textOf(error));
  }
  return { files: [...byFile.values()], errors };
}

/** Vitest makes it by the file's path. */
export default class OutcomeReporter implements Reporter {
  #planned: string[] = [];

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#planned = specifications.map(nameOf);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env[TEST_REPORT];
    if (path === undefined) throw new Error(`${TEST_REPORT} names no file.`);
    writeFileSync(path, JSON.stringify(outcomeOfVitest(this.#planned, modules, unhandled)));
  }
}
