/**
 * What the mode of a file lets its owner do, whom everything in the volumes belongs to. Every language asks here before
 * it opens, lists, makes or removes something; what is open stays so. Knows nothing of how entries are found.
 */
import { ancestorsOf, parentPath } from '../../vfs/paths.ts';
import type { Tree } from '../../vfs/tree.ts';
import type { VfsAddress } from '../../vfs/types.ts';
import { posixError } from './posix-error.ts';

/** The owner's bits. */
export const MAY = { read: 0o400, write: 0o200, enter: 0o100 } as const;
const ALL = MAY.read | MAY.write | MAY.enter;

/** Throws EACCES where a mode lacks one of these bits. */
export function requireBits(mode: number, bits: number, path: string): void {
  if ((mode & bits) !== bits) throw posixError('EACCES', 'permission denied', path);
}

/** Throws EACCES where a directory above may not be entered. */
export function requireWay(tree: Tree, { path, volume }: VfsAddress, given: string): void {
  for (const above of ancestorsOf(path)) {
    const node = tree.node(above, volume);
    if (node?.kind === 'dir') requireBits(node.mode, MAY.enter, given);
  }
}

/** Throws EACCES where the directory above may not be changed: what is in it is made, renamed and removed there. */
export function requireChangeable(tree: Tree, { path, volume }: VfsAddress, given: string): void {
  const above = tree.node(parentPath(path), volume);
  if (above?.kind === 'dir') requireBits(above.mode, MAY.write | MAY.enter, given);
}

/** Throws EACCES where a directory has something in it that may not be removed. What is deeper is not asked. */
export function requireEmptiable(tree: Tree, { path, volume }: VfsAddress, given: string): void {
  const entry = tree.entry(path, volume);
  if (entry?.kind !== 'dir' || (entry.mode & ALL) === ALL || tree.readdir(path, volume).length === 0) return;
  requireBits(entry.mode, ALL, given);
}
