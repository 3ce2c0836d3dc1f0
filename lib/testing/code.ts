/** The source files below a folder, for tests that hold the code to a rule. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every TypeScript file below `folder` (absolute), with its path relative to it. */
export function codeOf(folder: string): { path: string; text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}
