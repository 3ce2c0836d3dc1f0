/** For tests: the files in a data folder, to prove that nothing was left behind. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Every file below a folder, relative to it and in order, without those of the registry, whose logs come and go, and of
 * caches.
 */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !/^(registry\.|cache\/|expanded\/)/.test(path))
    .sort();
}

/** The direct children of a drawer, by name, without its folder of unfinished work, which has to be empty. */
export function namesIn(drawer: string): string[] {
  const names = readdirSync(drawer);
  if (names.includes('.staging') && readdirSync(join(drawer, '.staging')).length > 0) return names.sort();
  return names.filter((name) => name !== '.staging').sort();
}
