/** Whether something is at a path: told apart from a disk that does not say. */
import { statSync } from 'node:fs';

/**
 * True when there is a file or folder. Throws what the disk says when that is not known: Node's `existsSync` answers
 * false then, and what is only unreadable would be taken for lost.
 */
export function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
