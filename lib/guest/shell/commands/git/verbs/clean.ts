/** `git clean`: removes what is not tracked. */
import { parseCommandLine } from '../command-line.ts';
import type { GitContext } from '../git-context.ts';
import { fatal } from '../git-error.ts';
import { quotedPath, relativePath } from '../quoted-path.ts';
import type { Repository } from '../repository.ts';
import { untrackedPaths } from '../work-tree.ts';

export async function clean(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'n,dry-run': 'flag',
    'f,force': 'flag',
    d: 'flag',
    x: 'flag',
    X: 'flag',
    'q,quiet': 'flag',
  });
  if (!line.has('dry-run') && !line.has('force'))
    throw fatal('clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean');
  if (line.has('x') && line.has('X')) throw fatal('-x and -X cannot be used together');
  const repository = await context.repository();
  const given = [...line.operands, ...(line.paths ?? [])];
  const spec = await context.pathspec(given.length === 0 ? ['.'] : given);
  const prefix = await context.prefix();
  const found = await leftovers(repository, {
    ignored: line.has('x') || line.has('X'),
    others: !line.has('X'),
    wantsFolders: line.has('d'),
  });
  for (const path of found.filter((each) => spec.matches(each.replace(/\/$/, '')))) {
    const isFolder = path.endsWith('/');
    if (isFolder && !line.has('d')) continue;
    const name = quotedPath(relativePath(path, prefix));
    const full = `${repository.workTree}/${path.replace(/\/$/, '')}`;
    if (isFolder && (await holdsRepository(repository, full))) {
      if (!line.has('quiet')) context.out.line(`${line.has('dry-run') ? 'Would skip' : 'Skipping'} repository ${name}`);
      continue;
    }
    if (line.has('dry-run')) context.out.line(`Would remove ${name}`);
    else {
      if (!line.has('quiet')) context.out.line(`Removing ${name}`);
      await (isFolder ? repository.files.removeTree(full) : repository.files.remove(full));
    }
  }
  return 0;
}

/**
 * What may go: files, and folders, with a slash behind them, in which all may. Without `wantsFolders` only what lies
 * beside files that are tracked.
 */
async function leftovers(
  repository: Repository,
  { ignored, others, wantsFolders }: { ignored: boolean; others: boolean; wantsFolders: boolean },
): Promise<string[]> {
  const entries = await repository.index();
  const [open, hidden] = [
    await untrackedPaths(repository, entries, { folders: false }),
    await untrackedPaths(repository, entries, { folders: false, ignored: true }),
  ];
  const tracked = foldersOf(entries.map(({ path }) => path));
  const kept = foldersOf([...(others ? [] : open), ...(ignored ? [] : hidden)]);
  const found = new Set<string>();
  for (const path of [...(others ? open : []), ...(ignored ? hidden : [])]) {
    const whole = [...foldersOf([path])].find((folder) => !tracked.has(folder) && !kept.has(folder));
    const parent = path.slice(0, path.lastIndexOf('/') + 1);
    if (wantsFolders) found.add(whole ?? path);
    else if (parent === '' || tracked.has(parent)) found.add(path);
  }
  return [...found].toSorted();
}

/** All folders above these paths, the highest first, with a slash behind each. */
function foldersOf(paths: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1))
      folders.add(path.slice(0, slash + 1));
  return folders;
}

async function holdsRepository(repository: Repository, folder: string): Promise<boolean> {
  const names = await repository.files.names(folder);
  if (names.includes('.git')) return true;
  for (const name of names) {
    const inner = `${folder}/${name}`;
    if ((await repository.files.lstatOrNull(inner))?.isDirectory() && (await holdsRepository(repository, inner)))
      return true;
  }
  return false;
}
