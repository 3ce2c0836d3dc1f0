/**
 * Sorts Vitest's test files into projects by what they import, so that a new file lands in the right one by itself.
 *
 * - `unit`: reaches no process, thread, socket, database or temporary folder, by any chain of imports;
 * - `slow`: is named below;
 * - `engine`: the rest: an engine, a worker, a thread or a database inside the test's own process.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export type Project = 'unit' | 'engine' | 'slow';

/** Folders that test files lie in. */
export const TEST_FOLDERS = ['app', 'components', 'db', 'e2e', 'lib', 'scripts'];

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

/** Whole servers as processes of their own, what is built and packed, and what takes real minutes. */
const SLOW = /^e2e\//;

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

/** The test files of each project, relative to `root`. */
export function sortTests(root: string): Record<Project, string[]> {
  const reach = createReach(root);
  const sorted: Record<Project, string[]> = { unit: [], engine: [], slow: [] };
  const files = TEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  for (const file of files.filter((path) => path.endsWith('.test.ts')).sort()) {
    if (SLOW.test(file)) sorted.slow.push(file);
    else sorted[[...reach(file)].some((path) => IMPURE.has(path)) ? 'engine' : 'unit'].push(file);
  }
  return sorted;
}
