/** Whether something is at a path: told apart from a disk that does not say. */
import { statSync } from 'node:fs';

/** What the system says of a path that leads to nothing: no name, or a file or a circle of links on the way. */
const NOWHERE = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

/** Whether an error of the system says that a path leads to nothing, and not that the disk does not know. */
export function leadsNowhere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NOWHERE.has(String(error.code));
}

/**
 * True when there is a file or folder. Throws what the disk says when that is not known: Node's `existsSync` answers
 * false then, and what is only unreadable would be taken for lost.
 */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (leadsNowhere(error)) return false;
    throw error;
  }
}
