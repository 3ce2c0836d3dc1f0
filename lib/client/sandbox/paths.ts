/** Paths as the shell of a sandbox has them, and the volume and path that the contract wants. Pure. */
import type { Volume } from '../../vfs/volumes.ts';
import { ApiError } from '../error.ts';

/** Where commands begin, and what a relative path is relative to. */
export const HOME = '/workspace';

/** A file's place in the contract: its volume, and its path in it. */
export interface VolumePath {
  volume: Volume;
  path: string;
}

/**
 * Reads a path as the shell does: `/workspace/a`, `/memory/a`, `/tmp/a`, or relative to `/workspace`; `.` and `..` are
 * resolved. Throws `validation`, and nothing is sent, for a path outside the three volumes.
 */
export function volumePathOf(path: string): VolumePath {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${HOME}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const [volume, ...rest] = parts;
  if (volume === 'workspace' || volume === 'memory' || volume === 'tmp') return { volume, path: `/${rest.join('/')}` };
  throw new ApiError('validation', `"${path}" is in none of /workspace, /memory and /tmp.`, {
    hint: 'A relative path is one in /workspace.',
  });
}

/** The path as the shell has it. */
export function shellPathOf({ volume, path }: VolumePath): string {
  return path === '/' ? `/${volume}` : `/${volume}${path}`;
}
