/** A flat list of paths as one folder with what is in it. Pure. */
import type { FileInfo } from '#lib/api/schema.ts';

export interface FolderEntry {
  name: string;
  /** Full path; a folder's ends with a slash. */
  path: string;
  folder: boolean;
  size: number;
  files: number;
  /** Epoch seconds; of the newest file in a folder. */
  mtime: number;
}

/** What lies directly in `folder` (`/` or `/a/b/`), folders first, each folder summed up. */
export function folderEntries(files: readonly FileInfo[], folder: string): FolderEntry[] {
  const entries = new Map<string, FolderEntry>();
  for (const { path, size, mtime } of files) {
    if (!path.startsWith(folder)) continue;
    const rest = path.slice(folder.length);
    const cut = rest.indexOf('/');
    const name = cut < 0 ? rest : rest.slice(0, cut + 1);
    const known = entries.get(name);
    entries.set(name, {
      name,
      path: folder + name,
      folder: cut >= 0,
      size: (known?.size ?? 0) + size,
      files: (known?.files ?? 0) + 1,
      mtime: Math.max(known?.mtime ?? 0, mtime),
    });
  }
  return [...entries.values()].sort(
    (a, b) => Number(b.folder) - Number(a.folder) || a.name.localeCompare(b.name, 'en'),
  );
}

/** The folder that a path lies in: `/a/` for `/a/b`, the path itself for a folder. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1) || '/';
}

/** A folder's way from the top: `/a/b/` gives `/`, `/a/`, `/a/b/`. */
export function wayTo(folder: string): { name: string; path: string }[] {
  const names = folder.split('/').filter((name) => name !== '');
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}/` }));
}
