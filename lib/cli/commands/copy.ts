/** `cp`: copies files and folders into a sandbox and out of it. Reading wakes nothing; writing does. */
import { existsSync, lstatSync, mkdirSync, openAsBlob, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ApiError } from '../../client/client.ts';
import type { Volume } from '../../vfs/volumes.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, printable } from '../format.ts';
import { leftOutText } from '../left-out.ts';
import { showProgress } from '../progress.ts';
import { remotePathOf, wholePath } from '../remote-path.ts';
import { saveDownload } from '../save-download.ts';
import { type CopiedTree, localTree, remoteKind, remoteTree } from '../trees.ts';

interface CopyOptions {
  recursive?: boolean;
  force?: boolean;
  progress?: boolean;
}

/** A place in a sandbox; `path` has no slash at its end, but for that of the volume itself. */
interface RemotePlace {
  id: string;
  volume: Volume;
  path: string;
}

/** Files that are copied at a time. */
const AT_ONCE = 4;
const SILENT = { bytes: () => undefined, count: () => undefined, end: () => undefined };

/** Reads `sess-841:path`; null for a local path, which has a slash before its first colon when it has one. */
function remotePlace(text: string): RemotePlace | null {
  const [, id, path = ''] = /^([a-z0-9][a-z0-9_-]*):(.*)$/s.exec(text) ?? [];
  if (id === undefined) return null;
  const place = remotePathOf(path);
  return { ...place, id, path: place.path.replace(/(?:\/\.?)+$/, '') || '/' };
}

const nameOf = ({ volume, path }: RemotePlace) => (path === '/' ? volume : basename(path));
const below = (folder: string, name: string) =>
  name === '' ? folder : folder === '/' ? `/${name}` : `${folder}/${name}`;

/** Whether the contents of a folder are meant, and not the folder: `folder/.` */
const meansContents = (text: string) => /(^|\/|:)\.$/.test(text);

function needRecursive(name: string, recursive: boolean | undefined): void {
  if (recursive !== true) throw new CliError('usage', `"${name}" is a folder.`, 'Add -r to copy it with all in it.');
}

function refuseExisting(existing: readonly string[]): void {
  if (existing.length === 0) return;
  const more = existing.length === 1 ? '' : ` and ${existing.length - 1} more`;
  throw new CliError(
    'conflict',
    `"${existing[0]}"${more} is there already.`,
    'Nothing was copied; --force overwrites.',
  );
}

/** Does something for each item, a few at a time. The first failure stops the rest and is thrown. */
async function eachOf<T>(
  items: readonly T[],
  outer: AbortSignal,
  run: (item: T, signal: AbortSignal) => Promise<void>,
) {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of left) {
      signal.throwIfAborted();
      await run(item, signal);
    }
  };
  const failing = (error: unknown) => {
    stop.abort(error);
    throw error;
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, () => worker().catch(failing)));
  outer.throwIfAborted();
  if (stop.signal.aborted) throw stop.signal.reason;
  return ended;
}

/** Prints what was copied, and notes what was not. */
function report(context: CommandContext, tree: CopiedTree, target: string): void {
  const bytes = tree.files.reduce((sum, { size }) => sum + size, 0);
  const { files, folders, others, leftOut } = tree;
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  context.print(
    { target, files: files.length, folders: folders.length, bytes, passed_over: others, left_out: leftOut },
    () => printable(`${target}: ${count}, ${bytesText(bytes)}`).concat('\n'),
  );
  if (others.length > 0) {
    const more = others.length === 1 ? '' : ` and ${others.length - 1} more`;
    context.note(printable(`Passed over, being no files: ${others[0]}${more}`));
  }
  if (leftOut.length > 0) {
    context.note(leftOutText({ count: leftOut.length, first: leftOut }, 'Whoever trusts one copies it by its path.'));
  }
}

async function upload(context: CommandContext, options: CopyOptions, from: string, to: string, place: RemotePlace) {
  const { client, signal } = context;
  const tree = localTree(from);
  if (tree.isFolder) needRecursive(from, options.recursive);
  const isContents = tree.isFolder && meansContents(from);
  const kind = await remoteKind(client, place.id, place, signal);
  if (kind === 'file' && tree.isFolder) throw new CliError('conflict', `"${to}" is a file.`);
  const isInto = !isContents && (kind === 'folder' || /[:/]$/.test(to));
  const root = isInto ? below(place.path, basename(from)) : place.path;
  const { id, volume } = place;
  if (options.force !== true) {
    const there = new Set<string>();
    for await (const { path } of client.listFiles(id, volume, { prefix: root, limit: 500 }, { signal }))
      there.add(path);
    const existing = tree.files.map(({ path }) => below(root, path)).filter((path) => there.has(path));
    refuseExisting(existing.map((path) => wholePath(volume, path)));
  }
  const progress = showProgress(from, options.progress);
  try {
    for (const folder of tree.isFolder ? ['', ...tree.folders] : []) {
      const path = below(root, folder);
      if (path === '/') continue;
      await client.makeFolder(id, volume, { path }, { signal }).catch(async (error: unknown) => {
        if (!(error instanceof ApiError) || error.code !== 'conflict') throw error;
        if ((await remoteKind(client, id, { volume, path }, signal)) !== 'folder') throw error;
      });
    }
    let done = 0;
    await eachOf(tree.files, signal, async ({ path }, each) => {
      const ifNoneMatch = options.force === true ? undefined : '*';
      const bytes = await openAsBlob(path === '' ? from : join(from, path));
      await client.putFile(id, volume, below(root, path), bytes, { signal: each, ifNoneMatch });
      progress.count(++done, tree.files.length);
    });
  } finally {
    progress.end();
  }
  report(context, tree, `${id}:${wholePath(volume, root)}`);
}

/** Makes a folder below one that was named. A link in the place of a folder is not followed. */
function makeLocalFolder(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined) mkdirSync(path, { recursive: true });
  else if (!there.isDirectory()) throw new CliError('conflict', `"${path}" is there already, and is no folder.`);
}

async function download(context: CommandContext, options: CopyOptions, from: string, place: RemotePlace, to: string) {
  const { client, signal } = context;
  const { id, volume } = place;
  const isContents = meansContents(from);
  const isFolder = (await remoteKind(client, id, place, signal)) === 'folder';
  if (isFolder) needRecursive(from, options.recursive);
  const isInto = !(isFolder && isContents) && (to.endsWith('/') || isLocalFolder(to));
  const root = isInto ? join(to, nameOf(place)) : to;
  const tree: CopiedTree = isFolder
    ? await remoteTree(client, id, place, basename(resolve(root)), signal)
    : {
        files: [{ path: '', size: (await client.statFile(id, volume, place.path, { signal })).size }],
        folders: [],
        others: [],
        leftOut: [],
      };
  if (options.force !== true) {
    refuseExisting(tree.files.map(({ path }) => join(root, path)).filter((path) => existsSync(path)));
  }
  // What was named may be a link to a folder; what is in it may not.
  if (isFolder) mkdirSync(root, { recursive: true });
  else mkdirSync(dirname(root), { recursive: true });
  for (const folder of tree.folders) makeLocalFolder(join(root, folder));
  const progress = showProgress(from, options.progress);
  try {
    let done = 0;
    await eachOf(tree.files, signal, async ({ path }, each) => {
      const bytes = await client.getFile(id, volume, below(place.path, path), {}, { signal: each });
      await saveDownload(bytes, join(root, path), { force: options.force, progress: SILENT });
      progress.count(++done, tree.files.length);
    });
  } finally {
    progress.end();
  }
  report(context, tree, root);
}

const isLocalFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export function addCopyFilesCommand(program: Command): void {
  addCommand<CopyOptions>(program, 'cp <from> <to>', {
    summary: 'copy files and folders into a sandbox, and out of it',
    description:
      'One of the two is ID:PATH, with the paths of its shell: sess-841:/memory/facts; without a leading slash in /workspace. A folder that is there is copied into, as cp does; FOLDER/. means what is in it. Contents are copied: modes are not, and links are passed over. Of repositories in a sandbox the settings and hooks are left out, and said: git runs what they say. Reading wakes nothing.',
    options: (command) =>
      command
        .option('-r, --recursive', 'folders too, with all that is in them')
        .option('--force', 'overwrite files that are there')
        .option('--progress', 'show progress on stderr even when that is no terminal'),
    examples: [
      ['cp -r src sess-841:', 'as /workspace/src'],
      ['cp -r sess-841:/workspace/. out', 'what is in its workspace, into out'],
      ['cp sess-841:report.md .', 'one file'],
    ],
    async run(context, options, from: string, to: string) {
      const [source, target] = [remotePlace(from), remotePlace(to)];
      if (source === null && target !== null) return upload(context, options, from, to, target);
      if (source !== null && target === null) return download(context, options, from, source, to);
      throw new CliError(
        'usage',
        source === null ? 'Neither is in a sandbox.' : 'Both are in a sandbox.',
        'One of the two is ID:PATH, such as sess-841:src. A local path with a colon begins with ./',
      );
    },
  });
}
