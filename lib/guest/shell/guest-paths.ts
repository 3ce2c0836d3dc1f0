/**
 * Resolves a path of the shell to a volume and a path in it, following the symbolic links in the volumes. A link can
 * lead anywhere in the three volumes and nowhere else. Writes nothing.
 */

import { ancestorsOf, parseVfsPath } from '../../vfs/paths.ts';
import type { Tree } from '../../vfs/tree.ts';
import type { VfsAddress, VfsEntry } from '../../vfs/types.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { requireWay } from './file-permissions.ts';
import { posixError } from './posix-error.ts';

/** The limit of Linux. */
const LINKS_FOLLOWED = 40;

export interface ResolvedPath {
  /** Absolute and normalised, with every link on the way resolved. */
  path: string;
  /** Null for a path outside the volumes. */
  address: VfsAddress | null;
  /** Null when nothing exists there, or outside the volumes. */
  entry: VfsEntry | null;
}

/** Makes a path absolute and removes empty, `.` and `..` segments; `..` stops at the root. */
export function normalizePath(path: string, base = '/'): string {
  const segments: string[] = [];
  for (const segment of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** Throws EILSEQ for a name that is not well-formed text: it would be stored under another name. */
export function requireWellFormed(path: string): void {
  if (!path.isWellFormed()) throw posixError('EILSEQ', 'Invalid or incomplete multibyte or wide character', path);
}

/** The parent directory of a normalised path. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function addressOf(path: string): VfsAddress | null {
  const [, first = '', ...rest] = path.split('/');
  const volume = VOLUMES.find((name) => name === first);
  return volume === undefined ? null : { volume, path: parseVfsPath(`/${rest.join('/')}`) };
}

/**
 * Resolves a path. Follows a link in the last segment unless `follow` is false. `linkOf`: where a link outside the
 * volumes leads. Throws ELOOP, EACCES, and the VFS's own errors.
 */
export function resolveGuestPath(
  vfs: Tree,
  given: string,
  follow = true,
  linkOf: (path: string) => string | null = () => null,
): ResolvedPath {
  requireWellFormed(given);
  let path = normalizePath(given);
  for (let followed = 0; followed <= LINKS_FOLLOWED; followed += 1) {
    const address = addressOf(path);
    if (address === null) {
      const target = follow ? linkOf(path) : null;
      if (target === null) return { path, address, entry: null };
      path = normalizePath(target);
      continue;
    }
    const entry = vfs.entry(address.path, address.volume);
    requireWay(vfs, address, given);
    // An entry's parents are directories, so no link is on the way.
    if (entry && (entry.kind !== 'link' || !follow)) return { path, address, entry };
    const next = entry ? targetOf(path, entry) : throughLink(vfs, address);
    if (next === null) return { path, address, entry: null };
    path = next;
  }
  throw posixError('ELOOP', 'too many levels of symbolic links', given);
}

/** Where a path leads whose parents include a link; null when none does. */
function throughLink(vfs: Tree, address: VfsAddress): string | null {
  for (const above of ancestorsOf(address.path)) {
    const entry = vfs.entry(above, address.volume);
    if (entry === null) return null;
    if (entry.kind === 'link') {
      const rest = address.path.slice(above.length + 1);
      return normalizePath(`${targetOf(`/${address.volume}${above}`, entry)}/${rest}`);
    }
  }
  return null;
}

function targetOf(path: string, link: VfsEntry): string {
  return normalizePath(link.target ?? '', directoryOf(path));
}
