/**
 * The real path of a registry's file. SQLite keeps its log beside the file and not beside a link to it, and so do the
 * lock and the signed head: two servers that come by two names meet there.
 */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** As many links as Linux follows. */
const MOST_LINKS = 40;

/**
 * Where a path leads, through links to the file and to its folders, also when nothing is there yet. A path that the
 * system cannot follow stays as it is: opening it says why.
 */
export function realPathOf(path: string, links = MOST_LINKS): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!isMissing || links === 0 || dirname(path) === path) return path;
  }
  const name = join(realPathOf(dirname(path), links), basename(path));
  const target = linkTarget(name);
  return target === null ? name : realPathOf(resolve(dirname(name), target), links - 1);
}

/** What a link says; null for what is no link, or is not there. */
function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
