/** Paths of the shell as the tools for files take them, and what to do where no file is. */
import { type ErrorCode, isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { parseVfsPath, type VfsPath } from '../../vfs/paths.ts';
import { VOLUMES, type Volume } from '../../vfs/volumes.ts';
import type { ToolContext } from './tool.ts';

export interface FilePlace {
  volume: Volume;
  path: VfsPath;
}

/** The volume and the path of a path of the shell. Throws `validation`. */
export function filePlaceOf(given: string): FilePlace {
  const absolute = given.startsWith('/') ? given : `/workspace/${given}`;
  const [, first = '', ...rest] = parseVfsPath(absolute).split('/');
  const volume = VOLUMES.find((one) => one === first);
  if (volume !== undefined) return { volume, path: parseVfsPath(`/${rest.join('/')}`) };
  throw new WinterdockError('validation', `The path ${JSON.stringify(given.slice(0, 80))} is in no volume.`, {
    hint: `Begin it with ${VOLUMES.map((one) => `/${one}/`).join(', ')}, or with no slash: then it is in /workspace.`,
    extra: { errors: [{ path: 'path', message: 'must begin with the name of a volume' }] },
  });
}

/** The path in the shell of a path in a volume. */
export const shellPath = (volume: Volume, inside: string) => `/${volume}${inside === '/' ? '' : inside}`;

const parentOf = (path: VfsPath): VfsPath => parseVfsPath(path.slice(0, Math.max(1, path.lastIndexOf('/'))));

/** What is in the way of a file: a folder at its place, or something that is no folder on the way to it. */
async function obstacleAt(
  { operations, caller }: Pick<ToolContext, 'operations' | 'caller'>,
  id: InstanceId,
  { volume, path }: FilePlace,
): Promise<{ is: 'folder' | 'no folder'; path: VfsPath } | null> {
  for (let at = path; ; at = parentOf(at)) {
    try {
      await operations.folder(caller, id, volume, { path: at, limit: 1 });
      return at === path ? { is: 'folder', path } : null;
    } catch (error) {
      if (isWinterdockError(error) && error.code === 'conflict') return { is: 'no folder', path: at };
      if (at === '/' || !isWinterdockError(error) || error.code !== 'not_found') return null;
    }
  }
}

/** What is said where no file is. A link is no file, and so never the version that was read through it. */
const OF_A_PLACE: readonly ErrorCode[] = ['not_found', 'conflict', 'precondition_failed'];

/**
 * Throws an error of a place again, with a hint in words of the tools where a folder, a link or a file is in its way.
 * The tools for files follow no links; the shell does.
 */
export async function throwHinted(
  context: Pick<ToolContext, 'operations' | 'caller'>,
  id: InstanceId,
  at: FilePlace,
  error: unknown,
): Promise<never> {
  if (!isWinterdockError(error) || !OF_A_PLACE.includes(error.code)) throw error;
  const found = await obstacleAt(context, id, at);
  if (found === null) throw error;
  const shown = shellPath(at.volume, found.path);
  const hint =
    found.is === 'folder'
      ? `${shown} is a folder: winterdock_list_files shows what is in it.`
      : `${shown} is a link, or a file: winterdock_exec with readlink -f ${shown} says where it leads; use that path.`;
  throw new WinterdockError(error.code, error.message, { hint, cause: error });
}
