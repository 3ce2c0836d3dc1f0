/** Patterns of files with `**` in them, as bash's globstar expands them. Knows nothing of quotes. */
import type { IFileSystem } from 'just-bash';

/** What it takes of just-bash's own expansion of patterns. */
export interface Globs {
  fs: IFileSystem;
  cwd: string;
  dotglob: boolean;
  /** Throws when a script has looked at more folders than it may. */
  checkOpsLimit(): void;
  hasGlobChars(segment: string): boolean;
  matchPattern(name: string, segment: string): boolean;
}

interface Entry {
  name: string;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

/** The paths that match, in order. A link to a folder is not followed by `**`. */
export async function expandRecursive(globs: Globs, pattern: string): Promise<string[]> {
  const found = new Set<string>();
  const wantsFolders = pattern.endsWith('/');
  const segments = pattern.split('/').filter((segment) => segment !== '');
  await walk(pattern.startsWith('/') ? '/' : '', segments, true);
  return [...found].toSorted();

  /** `isNamed`: no pattern led to the folder; only such a one is found with a slash behind it. */
  async function walk(folder: string, rest: readonly string[], isNamed: boolean): Promise<void> {
    const [segment, ...more] = rest;
    if (segment === undefined) return;
    const isLast = more.length === 0;
    if (!globs.hasGlobChars(segment)) return step(folder, segment.replaceAll(/\\(.)/g, '$1'), more, isNamed);
    const entries = await entriesOf(folder);
    if (entries === null) return;
    if (segment === '**') {
      if (!isLast) await walk(folder, more, isNamed);
      else if (folder !== '') found.add(folder.endsWith('/') || !(isNamed || wantsFolders) ? folder : `${folder}/`);
      for (const entry of entries.filter(({ name }) => globs.dotglob || !name.startsWith('.'))) {
        const path = below(folder, entry.name);
        if (entry.isDirectory && !entry.isSymbolicLink) {
          await walk(path, rest, false);
        } else if (isLast && !wantsFolders) found.add(path);
      }
      return;
    }
    for (const entry of entries) {
      const shown = globs.dotglob || segment.startsWith('.') || !entry.name.startsWith('.');
      if (shown && globs.matchPattern(entry.name, segment)) await step(folder, entry.name, more, false);
    }
  }

  async function step(folder: string, name: string, more: readonly string[], isNamed: boolean): Promise<void> {
    const path = below(folder, name);
    if (more.length > 0) return walk(path, more, isNamed);
    const absolute = globs.fs.resolvePath(globs.cwd, path);
    if (!wantsFolders) {
      if (await globs.fs.lstat(absolute).then(...settled)) found.add(path);
    } else if (await globs.fs.stat(absolute).then(({ isDirectory }) => isDirectory, settled[1])) found.add(`${path}/`);
  }

  /** Null for what is no folder, or is not there. */
  async function entriesOf(folder: string): Promise<Entry[] | null> {
    globs.checkOpsLimit();
    const absolute = globs.fs.resolvePath(globs.cwd, folder === '' ? '.' : folder);
    return (await globs.fs.readdirWithFileTypes?.(absolute).catch(() => null)) ?? null;
  }
}

const settled = [() => true, () => false] as const;

function below(folder: string, name: string): string {
  return folder === '' || folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;
}
