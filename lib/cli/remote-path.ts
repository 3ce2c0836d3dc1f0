/** Paths of files in sandboxes, as their shells have them. Pure. */
import { DEFAULT_VOLUME, parseVolume, type Volume } from '../vfs/volumes.ts';

/** Reads `/memory/notes` as the sandbox's own shell does; a path without a leading slash is in the workspace. */
export function remotePathOf(path: string): { volume: Volume; path: string } {
  if (!path.startsWith('/')) return { volume: DEFAULT_VOLUME, path: `/${path}` };
  const [, name = '', ...rest] = path.split('/');
  return { volume: parseVolume(name), path: `/${rest.join('/')}` };
}

/** The path of a file with its volume. */
export const wholePath = (volume: string, path: string) => `/${volume}${path}`;
