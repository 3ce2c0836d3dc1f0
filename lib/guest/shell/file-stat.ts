/** What the shell's file system says of an entry of a volume, and of a port. Pure. */
import type { FsStat } from 'just-bash';
import type { VfsAddress, VfsEntry } from '../../vfs/types.ts';

export const PORT_STAT: FsStat = {
  isFile: true,
  isDirectory: false,
  isSymbolicLink: false,
  mode: 0o666,
  size: 0,
  mtime: new Date(0),
};

export function guestStat(address: VfsAddress, entry: VfsEntry): FsStat {
  return {
    isFile: entry.kind === 'file',
    isDirectory: entry.kind === 'dir',
    isSymbolicLink: entry.kind === 'link',
    mode: entry.mode,
    size: entry.size,
    mtime: new Date(entry.mtime * 1000),
    identity: `/${address.volume}${address.path}`,
  };
}
