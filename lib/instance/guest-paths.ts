/**
 * Where a path of the shell leads: which volume and which path in it, following the links that the volumes hold. A link
 * can lead to any address of the three volumes and nowhere else. Writes nothing.
 */

import { ancestorsOf, parseVfsPath } from '../vfs/paths.ts';
import type { Tree } from '../vfs/tree.ts';
import type { VfsAddress, VfsEntry } from '../vfs/types.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { posixError } from './posix-error.ts';

/** As many as Linux follows. */
const LINKS_FOLLOWED = 40;

export interface ResolvedPath {
  /** Absolute and normalised, with every link on the way resolved. */
  path: string;
  /** Null for a path outside the volumes. */
  address: VfsAddress | null;
  /** Null when nothing is there, or outside the volumes. */
  entry: VfsEntry | null;
}

/** Absolute, without empty, `.` and `..` segments; `..` stops at the root. */
export function normalizePath(path: string, base = '/'): string {
  const segments: string[] = [];
  for (const segment of (path.startsWith('/') ? path : `${base}/${path}`).split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

/** Names are text: one with bytes that are no UTF-8 would be kept under another. Throws EILSEQ. */
export function requireWellFormed(path: string): void {
  if (!path.isWellFormed()) throw posixError('EILSEQ', 'Invalid or incomplete multibyte or wide character', path);
}

/** The directory that a normalised path lies in. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function addressOf(path: string): VfsAddress | null {
  const [, first = '', ...rest] = path.split('/');
  const volume = VOLUMES.find((name) => name === first);
  return volume === undefined ? null : { volume, path: parseVfsPath(`/${rest.join('/')}`) };
}

/**
 * Finds what is at a path; the last segment's own link is followed unless `follow` is false. Throws ELOOP, and what the
 * VFS refuses.
 */
export function resolveGuestPath(vfs: Tree, given: string, follow = true): ResolvedPath {
  requireWellFormed(given);
  let path = normalizePath(given);
  for (let followed = 0; followed <= LINKS_FOLLOWED; followed += 1) {
    const address = addressOf(path);
    if (address === null) return { path, address, entry: null };
    const entry = vfs.entry(address.path, address.volume);
    // What is there lies under directories only, so that no link is on the way.
    if (entry && (entry.kind !== 'link' || !follow)) return { path, address, entry };
    const next = entry ? targetOf(path, entry) : throughLink(vfs, address);
    if (next === null) return { path, address, entry: null };
    path = next;
  }
  throw posixError('ELOOP', 'too many levels of symbolic links', given);
}

/** The path that a path leads to whose way goes over a link; null when no link is on the way. */
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
