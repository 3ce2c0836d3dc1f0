/**
 * Sorts Vitest's test files into projects by what they import, so that a new file lands in the right one by itself.
 *
 * - `unit`: reaches no process, thread, socket, database or temporary folder, by any chain of imports;
 * - `slow`: what is in e2e/, whole servers as processes, and the package: some wait for the build. Its files share
 *   processes, as those of `engine` do;
 * - `isolated`: looks at its own process, or changes something in it that other tests would see;
 * - `engine`: the rest: an engine, a worker, a thread or a database inside the test's own process.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export type TestProject = 'unit' | 'engine' | 'isolated' | 'slow';

/** Folders that test files lie in. */
export const TEST_FOLDERS = ['app', 'components', 'db', 'e2e', 'lib', 'scripts', 'testing/frameworks/tests'];

/** What a unit test never reaches. */
const IMPURE = new Set([
  'better-sqlite3',
  'node:child_process',
  'node:http',
  'node:net',
  'node:os',
  'node:sqlite',
  'node:worker_threads',
]);

/** Whole servers as processes of their own, and what waits for the build. */
const SLOW = /^e2e\/|^scripts\/package\.test\.ts$/;

/**
 * What a test does that must have a process to itself: it measures a process or lists its children, replaces modules,
 * timers or settings, or imports other tests.
 */
const ISOLATED = [
  /\bprocess\.(?:pid|memoryUsage|chdir|umask)\b/,
  /\bbeforeBytes\b/,
  /\/proc\/self/,
  /\bvi\.(?:mock|doMock|stubEnv|stubGlobal|useFakeTimers)\(/,
  /\bimport\('[^']*\.test\.ts'\)/,
];

/**
 * Files of minutes, which begin first: at the end they would keep one processor busy and the others waiting. Vitest
 * knows how long a file takes only where it has run before. Those that need the build come after those that need none.
 */
export const LONGEST: readonly string[] = [
  'e2e/faults-even.test.ts',
  'e2e/faults-odd.test.ts',
  'e2e/doctor.test.ts',
  'e2e/power-cut.test.ts',
  'e2e/failing-disk.test.ts',
  'e2e/random-life.test.ts',
  'e2e/alone-api.test.ts',
  'e2e/hostile-requests.test.ts',
  'e2e/alone.test.ts',
  'e2e/cheap-requests.test.ts',
  'scripts/package.test.ts',
  'lib/http/tests/fallen-worker.test.ts',
  'lib/sandboxes/slow-registry.test.ts',
  'lib/backup/restore.test.ts',
  'lib/guest/shell/bash-truncation.test.ts',
  'lib/http/tests/extremes.test.ts',
  'testing/frameworks/tests/ai-sdk.test.ts',
  'lib/guest/python/python-files.test.ts',
  'lib/guest/shell/commands/sqlite.test.ts',
  'scripts/bench/smoke.test.ts',
  'lib/http/tests/hostile-runs.test.ts',
  'scripts/client/python.test.ts',
  'lib/sandboxes/recovery/kill.test.ts',
  'lib/guest/shell/tees.test.ts',
  'testing/frameworks/tests/openai-agents.test.ts',
  'lib/backup/backup.test.ts',
  'lib/http/tests/mcp-hostile.test.ts',
  'lib/http/tests/blueprints.test.ts',
  'lib/host/helper-walls.test.ts',
  'lib/sandboxes/recovery/lost-files.test.ts',
  'lib/copies/copies.test.ts',
  'lib/network/pip.test.ts',
  'lib/guest/shell/pipes.test.ts',
  'lib/guest/testing/conformance/conformance.test.ts',
  'lib/http/tests/import.test.ts',
  'lib/http/tests/jobs-of-shells.test.ts',
  'lib/contract/access.test.ts',
  'lib/runs/kill.test.ts',
  'lib/host/object-drawers.test.ts',
  'lib/bundles/hostile-zip.test.ts',
  'lib/workers/walls/walls.test.ts',
  'lib/sandboxes/moves/restore.test.ts',
  'lib/http/tests/mcp.test.ts',
  'lib/http/tests/runs.test.ts',
  'lib/http/tests/component-calls.test.ts',
  'lib/http/tests/faulted.test.ts',
  'lib/http/tests/tenants.test.ts',
  'lib/network/python.test.ts',
  'lib/workers/turns.test.ts',
  'lib/guest/shell/commands/jq/jq.test.ts',
  'lib/guest/shell/commands/own-commands.test.ts',
  'lib/guest/component-runner/persist.test.ts',
  'lib/bundles/hostile-database.test.ts',
  'lib/guest/javascript/hostile-programs.test.ts',
  'lib/schedules/scheduler.test.ts',
  'lib/vfs/copy.test.ts',
  'lib/guest/python/python-modules.test.ts',
  'scripts/client/package.test.ts',
  'lib/client/client.test.ts',
  'testing/frameworks/tests/computesdk.test.ts',
  'lib/cli/commands.test.ts',
  'lib/cli/access.test.ts',
  'lib/http/tests/guests.test.ts',
  'lib/http/tests/jobs.test.ts',
  'lib/sandboxes/admission/make-space.test.ts',
  'lib/http/tests/calls.test.ts',
  'lib/guest/worker/heap-trim.test.ts',
  'lib/front/server.test.ts',
];

/** Whether a test file with this text must have a process to itself. */
export function needsOwnProcess(text: string): boolean {
  return ISOLATED.some((pattern) => pattern.test(text));
}

/** An import or export that exists at run time, with its specifier. */
const IMPORT =
  /(?:^|[\s;}])(?:import|export)\s(?!type\s)[^'"`;]*?from\s*['"]([^'"]+)['"]|(?:^|[\s;}])import\s*['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

/** Everything that a file reaches by imports: paths in the repository, and names of packages. */
function createReach(root: string): (path: string) => Set<string> {
  const direct = new Map<string, string[]>();
  const importsOf = (path: string): string[] => {
    const known = direct.get(path);
    if (known !== undefined) return known;
    const found = [...readFileSync(join(root, path), 'utf8').matchAll(IMPORT)].map((match) => {
      const name = match[1] ?? match[2] ?? match[3] ?? '';
      if (name.startsWith('.')) return relative(root, resolve(root, dirname(path), name));
      return name.startsWith('#') ? name.slice(1) : name;
    });
    direct.set(path, found);
    return found;
  };
  return (path) => {
    const reached = new Set([path]);
    for (const each of reached) {
      if (!/\.tsx?$/.test(each) || !existsSync(join(root, each))) continue;
      for (const next of importsOf(each)) reached.add(next);
    }
    return reached;
  };
}

/** The test files among `files`, relative to `root`, that reach another file by imports. */
export function filesReaching(root: string, files: readonly string[], other: string): string[] {
  const reach = createReach(root);
  return files.filter((file) => reach(file).has(other));
}

/** The test files of each project, relative to `root`. */
export function sortTests(root: string): Record<TestProject, string[]> {
  const reach = createReach(root);
  const projectOf = (file: string): TestProject => {
    if (SLOW.test(file)) return 'slow';
    if (![...reach(file)].some((path) => IMPURE.has(path))) return 'unit';
    return needsOwnProcess(readFileSync(join(root, file), 'utf8')) ? 'isolated' : 'engine';
  };
  const sorted: Record<TestProject, string[]> = { unit: [], engine: [], isolated: [], slow: [] };
  const files = TEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  for (const file of files.filter((path) => path.endsWith('.test.ts')).sort()) {
    sorted[projectOf(file)].push(file);
  }
  return sorted;
}
