/** One page of a folder's direct children: folders first, then by name. Pure; knows nothing of SQLite. */
import { WinterdockError } from '../base/errors.ts';
import type { VfsFolderItem } from './types.ts';

/** Largest page of a folder. */
const MAX_PAGE = 10_000;

export interface FolderPage {
  items: VfsFolderItem[];
  /** The `after` of the following page; null at the end. */
  next: string | null;
  /** Number of items on all pages. */
  total: number;
}

/** Where an item stands in its folder, as the cursor of a page. */
function sortKey({ kind, name }: VfsFolderItem): string {
  return `${kind === 'dir' ? 0 : 1}${name}`;
}

/** A page of a folder. Throws `validation` for a limit that is not 1 to 10 000. */
export function folderPage(items: readonly VfsFolderItem[], limit: number, after = ''): FolderPage {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw new WinterdockError('validation', `A page has 1 to ${MAX_PAGE} entries, not ${limit}.`);
  }
  const ordered = items
    .map((item) => ({ item, place: sortKey(item) }))
    .filter(({ place }) => place > after)
    .sort((a, b) => (a.place < b.place ? -1 : 1));
  const page = ordered.slice(0, limit);
  return {
    items: page.map(({ item }) => item),
    next: ordered.length > limit ? (page.at(-1)?.place ?? null) : null,
    total: items.length,
  };
}

/**
 * The direct children of `folder` (normalised, `/` for the root), from a flat list of files and of explicit
 * directories. A folder that exists only as part of deeper paths has the time of its newest file. Null when there is no
 * such folder.
 */
export function childrenOf(
  files: readonly { path: string; size: number; mtime: number }[],
  directories: readonly string[],
  folder: string,
): VfsFolderItem[] | null {
  const above = folder === '/' ? '/' : `${folder}/`;
  const found = new Map<string, VfsFolderItem>();
  let there = folder === '/' || directories.includes(folder);
  const add = (path: string, size: number, mtime: number, isDirectory: boolean): void => {
    if (!path.startsWith(above)) return;
    there = true;
    const rest = path.slice(above.length);
    const cut = rest.indexOf('/');
    const name = cut === -1 ? rest : rest.slice(0, cut);
    if (name === '' || name === '.' || name === '..') return;
    const known = found.get(name);
    if (cut === -1 && !isDirectory) found.set(name, { name, kind: 'file', size, mtime });
    else if (known?.kind !== 'file') {
      found.set(name, { name, kind: 'dir', size: 0, mtime: Math.max(known?.mtime ?? 0, mtime) });
    }
  };
  for (const { path, size, mtime } of files) add(path, size, mtime, false);
  for (const path of directories) add(path, 0, 0, true);
  return there ? [...found.values()] : null;
}
