/** Moves the work tree and the index from one commit to another, keeping what was changed beside them. */
import { changesBetween } from './changes.ts';
import type { GitContext } from './git-context.ts';
import { GitError } from './git-error.ts';
import type { IndexEntry } from './index-file.ts';
import { type FileMap, SUBMODULE_MODE } from './repository.ts';
import {
  hashBlob,
  holdsOthers,
  removeWorkFile,
  trackedStat,
  trackedStates,
  workContent,
  writeWorkFile,
} from './work-tree.ts';

const REFUSED = (untracked: boolean, names: readonly string[], what: string) =>
  untracked
    ? `error: The following untracked working tree files would be overwritten by ${what}:\n${listed(names)}Please move or remove them before you ${what === 'merge' ? 'merge' : 'switch branches'}.\nAborting`
    : `error: Your local changes to the following files would be overwritten by ${what}:\n${listed(names)}Please commit your changes or stash them before you ${what === 'merge' ? 'merge' : 'switch branches'}.\nAborting`;

const listed = (names: readonly string[]) => names.map((name) => `\t${name}\n`).join('');

/**
 * Brings the files that differ between two commits (or trees) to the second one. Without `force`, throws when that
 * would overwrite what was changed in the index or the work tree; with it, every file becomes the second's.
 */
export async function checkOutTree(
  context: GitContext,
  from: string | null,
  to: string | null,
  { force = false, what = 'checkout' }: { force?: boolean; what?: string } = {},
): Promise<void> {
  const repository = await context.repository();
  const entries = await repository.index();
  const target = await repository.treeFiles(to);
  if (force) return forceTree(context, entries, target);
  const changes = changesBetween(await repository.treeFiles(from), target);
  const index = new Map(entries.map((entry) => [entry.path, entry]));
  const states = new Map(
    (await trackedStates(repository, entries, (path) => changes.some((change) => change.path === path))).map(
      (state) => [state.entry.path, state.file],
    ),
  );
  const [local, untracked]: [string[], string[]] = [[], []];
  const going = new Set(changes.flatMap(({ path, after }) => (after === null ? [path] : [])));
  for (const { path, before, after } of changes) {
    const entry = index.get(path);
    const file = states.get(path) ?? null;
    if (entry === undefined) {
      if (before !== null && after !== null) local.push(path);
      else if (after !== null) {
        const above = await fileAbove(context, path);
        // What a tracked link leads to is not in the way: the link goes.
        if (above !== null) {
          if (!index.has(above)) untracked.push(above);
        } else if (await isInTheWay(context, path, after.oid, going)) untracked.push(path);
      }
      continue;
    }
    const isTarget = entry.oid === after?.oid && entry.mode === after.mode;
    if (isTarget) continue;
    const isUnchanged =
      entry.oid === before?.oid &&
      entry.mode === before.mode &&
      (file === null || (file.oid === entry.oid && file.mode === entry.mode));
    if (!isUnchanged) local.push(path);
  }
  if (local.length > 0) throw new GitError(REFUSED(false, local, what), 1);
  if (untracked.length > 0) throw new GitError(REFUSED(true, untracked, what), 1);
  for (const { path, after } of changes.filter((change) => change.after === null)) {
    if (after !== null) continue;
    index.delete(path);
    await removeWorkFile(repository, path, context.cwd);
  }
  for (const { path, after } of changes) {
    const entry = index.get(path);
    if (after === null || (entry?.oid === after.oid && entry.mode === after.mode)) continue;
    index.set(path, await writeWorkFile(repository, path, after));
  }
  await repository.saveIndex([...index.values()]);
}

/** What stands, as no folder, where a path needs one; null when nothing does. */
async function fileAbove(context: GitContext, path: string): Promise<string | null> {
  const repository = await context.repository();
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1)) {
    const above = path.slice(0, slash);
    const stat = await context.files.lstatOrNull(`${repository.workTree}/${above}`);
    if (stat !== null && !stat.isDirectory()) return above;
  }
  return null;
}

async function isInTheWay(
  context: GitContext,
  path: string,
  oid: string,
  going: ReadonlySet<string>,
): Promise<boolean> {
  const repository = await context.repository();
  const stat = await context.files.lstatOrNull(`${repository.workTree}/${path}`);
  if (stat === null) return false;
  if (stat.isDirectory()) return holdsOthers(repository, path, going);
  return hashBlob(await workContent(repository, path)) !== oid;
}

async function removeFolder(context: GitContext, path: string): Promise<void> {
  const repository = await context.repository();
  if ((await trackedStat(repository, path))?.isDirectory())
    await context.files.removeTree(`${repository.workTree}/${path}`);
}

async function forceTree(context: GitContext, entries: readonly IndexEntry[], target: FileMap): Promise<void> {
  const repository = await context.repository();
  const states = new Map(
    (await trackedStates(repository, entries)).map(({ entry, file }) => [entry.path, { entry, file }]),
  );
  const paths = new Set(entries.map(({ path }) => path));
  for (const path of paths) if (!target.has(path)) await removeWorkFile(repository, path, context.cwd);
  const kept: IndexEntry[] = [];
  for (const [path, file] of target) {
    const state = states.get(path);
    const isThere = state?.file?.oid === file.oid && state.file.mode === file.mode && state.entry.oid === file.oid;
    // As git does: what is not tracked goes where a tracked file is to be.
    if (!isThere && file.mode !== SUBMODULE_MODE) await removeFolder(context, path);
    kept.push(
      isThere && state !== undefined
        ? { ...state.entry, mode: file.mode }
        : await writeWorkFile(repository, path, file),
    );
  }
  await repository.saveIndex(kept);
}
