/** Paths, and the state of the file tree: which lines are visible, and what a key does. Pure. */
import type { FolderItem } from '#lib/contract/schema.ts';

/** A folder with the items loaded so far. */
export interface Folder {
  /** `/` or `/a/b/`. */
  path: string;
  items: readonly FolderItem[];
  /** The cursor of the next page, or null. */
  next: string | null;
  /** Items on all pages. */
  total: number;
}

/** One line of the tree. */
export interface TreeLine {
  /**
   * The full path; a folder's ends with a slash. For `more` it is the folder's path with a star, which no real path
   * consists of.
   */
  path: string;
  name: string;
  kind: FolderItem['kind'] | 'more';
  size: number;
  level: number;
  /** The folder that contains it. */
  within: string;
  /** For `more`: how many items are not loaded. */
  left: number;
}

/** The folder of a path: `/a/` for `/a/b`, the path itself for a folder. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1) || '/';
}

/** The parent folder: `/` for `/a/` and for `/a`. */
export function parentFolder(path: string): string {
  return folderOf(path.replace(/\/$/, ''));
}

/** The last part of a path: `b` of `/a/b` and of `/a/b/`. */
export function nameOf(path: string): string {
  const bare = path.replace(/\/$/, '');
  return bare.slice(bare.lastIndexOf('/') + 1);
}

/** The folders along a path: `/a/b/` gives `/a/`, `/a/b/`. */
export function pathSteps(folder: string): { name: string; path: string }[] {
  const names = folder.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}/` }));
}

/** Every folder that is open when `path` is shown, from the root: `/`, `/a/` for `/a/b`. */
export function foldersAbove(path: string): string[] {
  return ['/', ...pathSteps(folderOf(path)).map((step) => step.path)];
}

/** A folder with one more item, which lies beyond the loaded ones: the open file is always in the tree. */
export function withItem(folder: Folder, item: FolderItem): Folder {
  if (folder.items.some(({ name }) => name === item.name)) return folder;
  return { ...folder, items: [...folder.items, item] };
}

/** A reloaded folder together with the later pages that were loaded before. */
export function mergeReread(known: Folder | undefined, fresh: Folder): Folder {
  if (known === undefined || fresh.next === null || known.items.length <= fresh.items.length) return fresh;
  const names = new Set(fresh.items.map(({ name }) => name));
  const later = known.items.slice(fresh.items.length).filter(({ name }) => !names.has(name));
  return { ...fresh, items: [...fresh.items, ...later], next: known.next };
}

/** The visible lines: the root's, and those of each open folder, as far as loaded. */
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

/** What a key does, by the WAI-ARIA tree pattern: moves the focus, or opens or closes a folder. */
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

/**
 * Type-ahead: the next line whose name begins with the typed text. The current line counts once more than one character
 * was typed.
 */
export function typeAhead(lines: readonly TreeLine[], at: string, typed: string): string | null {
  const wanted = typed.toLowerCase();
  const start = lines.findIndex(({ path }) => path === at) + (typed.length === 1 ? 1 : 0);
  const order = [...lines.slice(start), ...lines.slice(0, start)];
  return order.find(({ kind, name }) => kind !== 'more' && name.toLowerCase().startsWith(wanted))?.path ?? null;
}
