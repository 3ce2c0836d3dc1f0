/**
 * What is in a folder, here and in a sandbox, for `cp`. Names in a sandbox are what its guest made them: none of them
 * may lead out of the folder that they are copied to.
 */
import { lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RepositoryFinder } from '../base/git-repositories.ts';
import { ApiError, type WinterdockClient } from '../client/client.ts';
import type { Volume } from '../vfs/volumes.ts';
import { CliError } from './failure.ts';

/** The files below a folder, by their paths from it; of a file alone only itself, with an empty path. */
export interface CopiedTree {
  files: { path: string; size: number }[];
  /** Folders, those above before those in them. */
  folders: string[];
  /** Links, and what else is no file: not copied. */
  others: string[];
  /** What git takes commands from: not copied from a sandbox. */
  leftOut: string[];
}

const PAGE = 500;

/** Reads a local file or folder. A link that is named is followed; one in a folder is none of its files. */
export function localTree(root: string): CopiedTree & { isFolder: boolean } {
  const tree: CopiedTree = { files: [], folders: [], others: [], leftOut: [] };
  const top = statSync(root);
  if (!top.isDirectory()) {
    if (!top.isFile()) throw new CliError('usage', `"${root}" is neither a file nor a folder.`);
    return { ...tree, files: [{ path: '', size: top.size }], isFolder: false };
  }
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      checkLocalName(root, path);
      if (entry.isDirectory()) {
        tree.folders.push(path);
        walk(path);
      } else if (entry.isFile()) tree.files.push({ path, size: lstatSync(join(root, path)).size });
      else tree.others.push(path);
    }
  };
  walk('');
  return { ...tree, isFolder: true };
}

/** Refuses a name here that no file of a sandbox can have: read as text it names nothing any more. */
function checkLocalName(root: string, path: string): void {
  if (!path.includes('\ufffd') || lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined) return;
  throw new CliError(
    'usage',
    `The name "${path}" in "${root}" is not UTF-8.`,
    'Nothing was copied. Give it another name.',
  );
}

/** Refuses a name that would not be one inside its folder. */
function checkName(name: string): void {
  // On Windows a backslash divides too, and a colon names a drive or a stream.
  const divides = process.platform === 'win32' ? /[/\\:\0]/ : /[/\0]/;
  if (name !== '' && name !== '.' && name !== '..' && !divides.test(name)) return;
  throw new CliError('invalid', `The sandbox has a file "${name}", which cannot be one here.`);
}

/** What is at a place of a sandbox. */
export async function remoteKind(
  client: WinterdockClient,
  id: string,
  { volume, path }: { volume: Volume; path: string },
  signal: AbortSignal,
): Promise<'folder' | 'file' | null> {
  try {
    await client.listFolder(id, volume, { path, limit: 1 }, { signal });
    return 'folder';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.code === 'conflict') return 'file';
    if (error.code !== 'not_found') throw error;
  }
  // A sandbox that is not there is `not_found` too.
  await client.getInstance(id, { signal });
  return null;
}

/**
 * Takes out of a tree what git would take commands from: settings and hooks of repositories. `root`: the name that the
 * tree gets here, which may make it one.
 */
function withoutCommands(tree: CopiedTree, root: string): CopiedTree {
  const finder = new RepositoryFinder('commands');
  const placed = (path: string) => `${root}/${path}`;
  for (const path of [...tree.folders, ...tree.others, ...tree.files.map((file) => file.path)])
    finder.see(placed(path));
  finder.see(root);
  if (finder.isClean) return tree;
  const leftOut = new Set<string>();
  const stays = (path: string, isFolder: boolean) => {
    const out = finder.leftOut(placed(path), isFolder);
    if (out !== null) leftOut.add(out.slice(root.length + 1));
    return out === null;
  };
  return {
    folders: tree.folders.filter((path) => stays(path, true)),
    files: tree.files.filter(({ path }) => stays(path, false)),
    others: tree.others.filter((path) => stays(path, false)),
    leftOut: [...leftOut].sort(),
  };
}

/**
 * Reads a folder of a sandbox with all that is in it, but what git would take commands from. `root`: the name that it
 * gets here. Wakes nothing.
 */
export async function remoteTree(
  client: WinterdockClient,
  id: string,
  { volume, path: top }: { volume: Volume; path: string },
  root: string,
  signal: AbortSignal,
): Promise<CopiedTree> {
  const tree: CopiedTree = { files: [], folders: [], others: [], leftOut: [] };
  const base = top === '/' ? '' : top.replace(/\/$/, '');
  const walk = async (folder: string): Promise<void> => {
    const query = { path: folder === '' ? base || '/' : `${base}/${folder}`, limit: PAGE };
    const below: string[] = [];
    for await (const { name, kind, size } of client.listFolder(id, volume, query, { signal })) {
      checkName(name);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'dir') below.push(path);
      else if (kind === 'file') tree.files.push({ path, size });
      else tree.others.push(path);
    }
    for (const path of below) {
      tree.folders.push(path);
      await walk(path);
    }
  };
  await walk('');
  return withoutCommands(tree, root);
}
