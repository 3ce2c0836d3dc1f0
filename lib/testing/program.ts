/**
 * For tests: which file a program is started from. A run of tests has the programs bundled (scripts/test-bundle.ts);
 * a single process without such a run starts the sources.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The variable with the absolute path of the folder of bundled programs. */
export const BUNDLED_PROGRAMS = 'WB_TEST_PROGRAMS';

/** The name of a source's bundle, without its ending. `source` is an absolute path. */
export function bundledName(source: string): string {
  return relative(ROOT, source).replace(/\.ts$/, '').replaceAll(sep, '-');
}

/** The file to start: the bundle of a source (an absolute path) where the run has one. */
export function programOf(source: string): string {
  const folder = process.env[BUNDLED_PROGRAMS];
  if (folder === undefined) return source;
  const bundled = join(folder, `${bundledName(source)}.mjs`);
  return existsSync(bundled) ? bundled : source;
}
