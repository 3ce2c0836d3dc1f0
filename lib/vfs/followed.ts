/**
 * Where a path leads when the links on its way are followed, for reads that come from outside. A link leads nowhere but
 * in its own volume: who may read one volume may not read another, and a sandbox makes the links.
 */
import { ancestorsOf, parseVfsPath } from './paths.ts';
import type { Tree } from './tree.ts';
import type { VfsAddress } from './types.ts';
import { VOLUMES, type Volume } from './volumes.ts';

/** The limit of Linux. */
const LINKS_FOLLOWED = 40;

/** The address of what is at a path, with its links followed; the path itself where it leads out, or in circles. */
export function followed(tree: Tree, given: VfsAddress): VfsAddress {
  let at: VfsAddress | null = given;
  for (let links = 0; at !== null && links <= LINKS_FOLLOWED; links += 1) {
    const next = linkedFrom(tree, at);
    if (next === at) return at;
    at = next?.volume === given.volume ? next : null;
  }
  return given;
}

/** The address behind the first link on the way; the same one without a link, null outside the volumes. */
function linkedFrom(tree: Tree, at: VfsAddress): VfsAddress | null {
  for (const above of [...ancestorsOf(at.path), at.path]) {
    const entry = tree.entry(above, at.volume);
    if (entry?.kind !== 'link') continue;
    const folder = `/${at.volume}${above.slice(0, above.lastIndexOf('/'))}`;
    const target = entry.target ?? '';
    return addressOf(`${target.startsWith('/') ? target : `${folder}/${target}`}${at.path.slice(above.length)}`);
  }
  return at;
}

function addressOf(path: string): VfsAddress | null {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const [first, ...rest] = segments;
  const volume: Volume | undefined = VOLUMES.find((name) => name === first);
  try {
    return volume === undefined ? null : { volume, path: parseVfsPath(`/${rest.join('/')}`) };
  } catch {
    // Target and rest are each as long as a path may be, and the whole is longer: nothing can be there.
    return null;
  }
}
