/**
 * Paths of folders and files, and the tree of them that is on the page: what is visible, and where a key leads. Pure.
 */
import type { FolderItem } from '#lib/contract/schema.ts';

/** A folder as far as it was read. */
export interface Folder {
  /** `/` or `/a/b/`. */
  path: string;
  items: readonly FolderItem[];
  /** Where the next page begins, or null. */
  next: string | null;
  /** How many there are on all pages. */
  total: number;
}

/** One line of the tree. */
export interface TreeLine {
  /**
   * Full path; a folder's ends with a slash. That of `more` is its folder's with a star, which no path ends with alone.
   */
  path: string;
  name: string;
  kind: FolderItem['kind'] | 'more';
  size: number;
  level: number;
  /** The folder it lies in. */
  within: string;
  /** How many lie in `more` besides what is shown. */
  left: number;
}

/** The folder that a path lies in: `/a/` for `/a/b`, the path itself for a folder. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1) || '/';
}

/** The folder that something lies in: `/` for `/a/` and for `/a`. */
export function parentFolder(path: string): string {
  return folderOf(path.replace(/\/$/, ''));
}

/** The last part of a path: `b` of `/a/b` and of `/a/b/`. */
export function nameOf(path: string): string {
  const bare = path.replace(/\/$/, '');
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/** A folder's way from the top: `/a/b/` gives `/a/`, `/a/b/`. */
export function pathSteps(folder: string): { name: string; path: string }[] {
  const names = folder.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}/` }));
}

/** Every folder that is open when `path` is looked at, from the top: `/`, `/a/` for `/a/b`. */
export function foldersAbove(path: string): string[] {
  return ['/', ...pathSteps(folderOf(path)).map((step) => step.path)];
}

/** A folder with an item in it that stands behind what was read of it, so that what is open is always in the tree. */
export function withItem(folder: Folder, item: FolderItem): Folder {
  if (folder.items.some(({ name }) => name === item.name)) return folder;
  return { ...folder, items: [...folder.items, item] };
}

/** A folder that was read anew, with what was read of its later pages before. */
export function mergeReread(known: Folder | undefined, fresh: Folder): Folder {
  if (known === undefined || fresh.next === null || known.items.length <= fresh.items.length) return fresh;
  const names = new Set(fresh.items.map(({ name }) => name));
  const later = known.items.slice(fresh.items.length).filter(({ name }) => !names.has(name));
  return { ...fresh, items: [...fresh.items, ...later], next: known.next };
}

/** The lines that are visible: the root's, and those below each open folder as far as it was read. */
export function visibleLines(folders: ReadonlyMap<string, Folder>, open: ReadonlySet<string>): TreeLine[] {
  const lines: TreeLine[] = [];
  const add = (path: string, level: number): void => {
    const folder = folders.get(path);
    if (folder === undefined) return;
    for (const { name, kind, size } of folder.items) {
      const at = `${path}${name}${kind === 'dir' ? '/' : ''}`;
      lines.push({ path: at, name, kind, size, level, within: path, left: 0 });
      if (kind === 'dir' && open.has(at)) add(at, level + 1);
    }
    if (folder.next !== null) {
      const left = Math.max(0, folder.total - folder.items.length);
      lines.push({ path: `${path}*`, name: '', kind: 'more', size: 0, level, within: path, left });
    }
  };
  add('/', 1);
  return lines;
}

export type TreeStep = { focus: string } | { open: string } | { close: string } | null;

/** What a key does in the tree, by the pattern of WAI-ARIA: where the focus goes, or which folder opens or closes. */
export function treeStep(lines: readonly TreeLine[], at: string, key: string, open: ReadonlySet<string>): TreeStep {
  const index = lines.findIndex(({ path }) => path === at);
  const line = lines[index];
  if (line === undefined) return null;
  const to = (target: TreeLine | undefined): TreeStep => (target === undefined ? null : { focus: target.path });
  switch (key) {
    case 'ArrowDown':
      return to(lines[index + 1]);
    case 'ArrowUp':
      return to(lines[index - 1]);
    case 'Home':
      return to(lines[0]);
    case 'End':
      return to(lines.at(-1));
    case 'ArrowRight': {
      if (line.kind !== 'dir') return null;
      if (!open.has(line.path)) return { open: line.path };
      const first = lines[index + 1];
      return first?.within === line.path ? to(first) : null;
    }
    case 'ArrowLeft':
      if (line.kind === 'dir' && open.has(line.path)) return { close: line.path };
      return line.within === '/' ? null : { focus: line.within };
    default:
      return null;
  }
}

/** The next line whose name begins with what was typed; the line itself counts once more than one sign was typed. */
export function typeAhead(lines: readonly TreeLine[], at: string, typed: string): string | null {
  const wanted = typed.toLowerCase();
  const start = lines.findIndex(({ path }) => path === at) + (typed.length === 1 ? 1 : 0);
  const order = [...lines.slice(start), ...lines.slice(0, start)];
  return order.find(({ kind, name }) => kind !== 'more' && name.toLowerCase().startsWith(wanted))?.path ?? null;
}
