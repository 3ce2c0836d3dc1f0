/** For tests: what lies in a data folder, so that it can be proved that nothing was left behind. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Every file below a folder, relative to it and in order, without those of the registry, whose logs come and go, and of caches. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !/^(registry\.|cache\/|expanded\/)/.test(path))
    .sort();
}
