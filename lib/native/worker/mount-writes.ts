/** What the API writes while real programs run: through the mount, in the order in which it came. */
import { randomBytes } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { WinterdockError } from '../../base/errors.ts';
import type { VfsAddress, VfsStat, WriteCondition } from '../../vfs/types.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { WriteOperation, WriteOutcome } from '../../workers/protocol/instance.ts';
import { atPath, type MountPlace, openFolder, pathOfPlace, placeError, there } from './mount-path.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
const PERMISSIONS = 0o7777;

interface WriteContext {
  mount: string;
  /** The version of a file that is there, as everybody who reads knows it. */
  versionOf(place: VfsAddress): Promise<number | null>;
  owner: { uid: number; gid: number };
  maxFileBytes: number;
}

/** Throws what a write to a file at rest throws. Nothing is on disk before the mount's next commit. */
export async function writeToMount(context: WriteContext, operation: WriteOperation): Promise<WriteOutcome> {
  const path = operation.op === 'move' ? operation.to : operation.path;
  try {
    switch (operation.op) {
      case 'put':
        return await put(context, operation);
      case 'delete':
        return await remove(context, operation);
      case 'move':
        return await move(context, operation);
      case 'mkdir':
        return await makeFolder(context, operation);
      case 'rmdir':
        return await removeFolder(context, operation);
      case 'replace':
        throw new WinterdockError('unsupported', 'A folder is not put in place while real programs run.', {
          hint: 'Suspend the sandbox first, or copy the files in it.',
        });
    }
  } catch (error) {
    throw placeError(error, { volume: operation.volume, path });
  }
}

async function put(
  context: WriteContext,
  { volume, path, content, condition }: Extract<WriteOperation, { op: 'put' }>,
): Promise<WriteOutcome> {
  if (content.byteLength > context.maxFileBytes)
    throw new WinterdockError(
      'too_large',
      `A file has at most ${context.maxFileBytes} bytes, not ${content.byteLength}.`,
    );
  await makeParents(context, { volume, path });
  const outcome = await atPath(
    context.mount,
    { volume, path },
    async (place): Promise<WriteOutcome> => {
      if (place.name === null) throw isNoFile({ volume, path });
      const before = await there(lstat(pathOfPlace(place)));
      if (before !== null && !before.isFile()) throw isNoFile({ volume, path });
      await requireCondition(context, condition, { volume, path });
      // Beside it, and then in its place: nobody sees a part of it, and no commit holds one.
      const made: MountPlace = { folder: place.folder, name: `.${randomBytes(8).toString('hex')}.part` };
      const file = await open(pathOfPlace(made), NEW_FILE, FILE_MODE);
      try {
        await file.writeFile(content);
        await file.chmod(before === null ? FILE_MODE : before.mode & PERMISSIONS);
        await rename(pathOfPlace(made), pathOfPlace(place));
      } catch (error) {
        await there(unlink(pathOfPlace(made)));
        throw error;
      } finally {
        await file.close();
      }
      const stat = await lstat(pathOfPlace(place), { bigint: true });
      return { created: before === null, stat: statOf(path, stat) };
    },
    { follows: true },
  );
  if (outcome === null) throw isNoFile({ volume, path });
  return outcome;
}

async function remove(
  context: WriteContext,
  { volume, path, condition }: Extract<WriteOperation, { op: 'delete' }>,
): Promise<WriteOutcome> {
  const isRemoved = await atPath(context.mount, { volume, path }, async (place) => {
    const stat = place.name === null ? null : await there(lstat(pathOfPlace(place)));
    if (stat === null) return false;
    if (stat.isDirectory()) throw isNoFile({ volume, path });
    await requireCondition(context, condition, { volume, path });
    await unlink(pathOfPlace(place));
    return true;
  });
  if (isRemoved !== true) throw noFile({ volume, path });
  return { created: false, stat: null };
}

async function move(
  context: WriteContext,
  { volume, from, to }: Extract<WriteOperation, { op: 'move' }>,
): Promise<WriteOutcome> {
  await makeParents(context, { volume, path: to });
  const isMoved = await atPath(context.mount, { volume, path: from }, (source) =>
    atPath(context.mount, { volume, path: to }, async (target) => {
      if ((await there(lstat(pathOfPlace(source)))) === null) return false;
      if ((await there(lstat(pathOfPlace(target)))) !== null)
        throw new WinterdockError('conflict', `${JSON.stringify(to)} in ${volume} already exists.`);
      await rename(pathOfPlace(source), pathOfPlace(target));
      return true;
    }),
  );
  if (isMoved !== true) throw noFile({ volume, path: from });
  return { created: false, stat: null };
}

async function makeFolder(
  context: WriteContext,
  { volume, path }: Extract<WriteOperation, { op: 'mkdir' }>,
): Promise<WriteOutcome> {
  await makeParents(context, { volume, path });
  const isMade = await atPath(context.mount, { volume, path }, async (place) => {
    if (place.name === null || (await there(lstat(pathOfPlace(place)))) !== null)
      throw new WinterdockError('conflict', `${JSON.stringify(path)} in ${volume} already exists.`);
    await mkdir(pathOfPlace(place), FOLDER_MODE);
    return true;
  });
  if (isMade !== true) throw isNoFile({ volume, path });
  return { created: true, stat: null };
}

async function removeFolder(
  { mount }: WriteContext,
  { volume, path, recursive }: Extract<WriteOperation, { op: 'rmdir' }>,
): Promise<WriteOutcome> {
  const isRemoved = await atPath(mount, { volume, path }, async (place) => {
    if (place.name === null) throw new WinterdockError('conflict', `The root of ${volume} is not removed.`);
    const stat = await there(lstat(pathOfPlace(place)));
    if (stat === null) return false;
    if (!stat.isDirectory())
      throw new WinterdockError('conflict', `It is no folder: ${JSON.stringify(path)} in ${volume}.`);
    if (recursive) await removeTree(place);
    else await rmdir(pathOfPlace(place));
    return true;
  });
  if (isRemoved !== true)
    throw new WinterdockError('not_found', `There is no folder ${JSON.stringify(path)} in ${volume}.`);
  return { created: false, stat: null };
}

/** Removes a folder with all below it: each in the folder that is open, for a guest may put links in their places. */
async function removeTree(place: MountPlace): Promise<void> {
  const folder = await openFolder(pathOfPlace(place));
  try {
    for (const name of await readdir(pathOfPlace({ folder, name: null }))) {
      const entry = { folder, name };
      const stat = await there(lstat(pathOfPlace(entry)));
      if (stat?.isDirectory()) await removeTree(entry);
      else await there(unlink(pathOfPlace(entry)));
    }
  } finally {
    await folder.close();
  }
  await there(rmdir(pathOfPlace(place)));
}

/** Makes the folders above a path that are not there. */
async function makeParents({ mount }: WriteContext, { volume, path }: { volume: Volume; path: string }): Promise<void> {
  const names = path.split('/').filter((name) => name !== '');
  for (let depth = 1; depth < names.length; depth += 1) {
    const above = names.slice(0, depth).join('/');
    await atPath(
      mount,
      { volume, path: above },
      async (place) => {
        if (place.name === null) return;
        const folder = await there(openFolder(pathOfPlace(place)));
        if (folder !== null) return folder.close();
        await mkdir(pathOfPlace(place), FOLDER_MODE);
      },
      { follows: true },
    );
  }
}

async function requireCondition(
  context: WriteContext,
  condition: WriteCondition | undefined,
  { volume, path }: VfsAddress,
): Promise<void> {
  const { ifMatch, ifNoneMatch } = condition ?? {};
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  const version = await context.versionOf({ volume, path });
  const matches = (wanted: '*' | number[]) => version !== null && (wanted === '*' || wanted.includes(version));
  if ((ifMatch === undefined || matches(ifMatch)) && (ifNoneMatch === undefined || !matches(ifNoneMatch))) return;
  const what = version === null ? 'is not there' : 'is another version';
  throw new WinterdockError('precondition_failed', `${JSON.stringify(path)} in ${volume} ${what}.`, {
    hint: 'Read it again, and decide by what is there now.',
  });
}

/** As readers show a file that is not at rest yet: its version is the time of its change, in microseconds. */
function statOf(path: string, stat: Pick<BigIntStats, 'size' | 'mtimeNs' | 'ctimeNs'>): VfsStat {
  return {
    path,
    size: Number(stat.size),
    mtime: Number(stat.mtimeNs / 1_000_000_000n),
    version: Number(stat.ctimeNs / 1000n),
  };
}

function noFile({ volume, path }: { volume: Volume; path: string }): WinterdockError {
  return new WinterdockError('not_found', `There is no file ${JSON.stringify(path)} in ${volume}.`);
}

function isNoFile({ volume, path }: { volume: Volume; path: string }): WinterdockError {
  return new WinterdockError('conflict', `No file can be at ${JSON.stringify(path)} in ${volume}: something else is.`);
}
