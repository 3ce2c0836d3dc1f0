/**
 * What a running Python does to paths: the calls of its system, answered from the shell's files as Linux answers them.
 * Owns the errors of Linux; knows nothing of open files.
 */
import type { Overlay } from '../../vfs/overlay.ts';
import { ancestorsOf, parentPath } from '../../vfs/paths.ts';
import type { VfsAddress, VfsEntry } from '../../vfs/types.ts';
import { MAY, requireBits, requireChangeable } from '../shell/file-permissions.ts';
import type { GuestFiles } from '../shell/guest-files.ts';
import { normalizePath, type ResolvedPath } from '../shell/guest-paths.ts';
import { asPosix } from '../shell/posix-error.ts';
import type { SystemAnswer } from './interpreter-channel.ts';
import { Refused } from './wasi.ts';

export const KINDS = { dir: 0o040000, file: 0o100000, link: 0o120000, device: 0o020000 } as const;
const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 4096;
export const BLOCK_BYTES = 4096;
export const PERMISSIONS = 0o7777;
/** Devices that end nowhere. */
export const ENDLESS = ['/dev/zero', '/dev/full'];

export interface Stat {
  mode: number;
  size: number;
  mtime: number;
  identity: string;
  links: number;
}

export function systemStatOf({ kind, mode, size, mtime }: VfsEntry, identity: string, isLinked: boolean): Stat {
  return {
    mode: KINDS[kind] | mode,
    size: kind === 'dir' ? BLOCK_BYTES : size,
    mtime,
    identity,
    links: isLinked ? 1 : 0,
  };
}

export function statAnswer({ mode, size, mtime, identity, links }: Stat): SystemAnswer {
  return { data: doubles(mode, size, mtime, inodeOf(identity), links) };
}

/** A number for a path, in place of an inode's: two names of one file have the same, others differ. */
function inodeOf(identity: string): number {
  let [low, high] = [0x811c9dc5, 0x1b873593];
  for (let at = 0; at < identity.length; at += 1) {
    const unit = identity.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b) ^ (high >>> 13);
  }
  return ((high >>> 0) & 0x1fffff) * 2 ** 32 + (low >>> 0);
}

export function doubles(...numbers: number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(numbers).buffer);
}

export function secondsOf(milliseconds: number): number {
  if (milliseconds < 0) throw new Refused('EINVAL');
  return Math.floor(milliseconds / 1000);
}

export class InterpreterPaths {
  readonly #guest: GuestFiles;
  readonly #files: Overlay;

  constructor(guest: GuestFiles, files: Overlay) {
    this.#guest = guest;
    this.#files = files;
  }

  resolve(path: string, follow = true): ResolvedPath {
    if (path === '') throw new Refused('ENOENT');
    const names = path.split('/');
    if (Buffer.byteLength(path) >= MAX_PATH_BYTES) throw new Refused('ENAMETOOLONG');
    const long = names.findIndex((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
    if (long > 0) {
      this.existing(`${names.slice(0, long).join('/')}/`);
      throw new Refused('ENAMETOOLONG');
    }
    const found = this.#guest.resolve(path, follow);
    if (path.endsWith('/') && found.entry !== null && found.entry.kind === 'file') throw new Refused('ENOTDIR');
    return found;
  }

  /** What exists at a path. */
  existing(path: string, follow = true): ResolvedPath {
    const found = this.resolve(path, follow);
    if (found.entry === null && (found.address !== null || this.#guest.virtualFiles.stat(found.path) === null))
      throw this.missing(found);
    return found;
  }

  /** ENOENT, or ENOTDIR where a file stands in place of a directory. */
  missing({ address }: ResolvedPath): Refused {
    for (const above of address === null ? [] : ancestorsOf(address.path)) {
      const entry = this.#files.entry(above, address?.volume);
      if (entry === null) break;
      if (entry.kind === 'file') return new Refused('ENOTDIR');
    }
    return new Refused('ENOENT');
  }

  /** Where something can be made. */
  free(found: ResolvedPath): VfsAddress {
    if (found.entry !== null) throw new Refused('EEXIST');
    if (found.address === null)
      throw new Refused(this.#guest.virtualFiles.stat(found.path) === null ? 'EACCES' : 'EEXIST');
    this.requireFolder(found);
    return found.address;
  }

  requireFolder(found: ResolvedPath): void {
    if (found.address === null) throw new Refused('EACCES');
    const above = this.#files.entry(parentPath(found.address.path), found.address.volume);
    if (above === null) throw this.missing(found);
    if (above.kind !== 'dir') throw new Refused('ENOTDIR');
    requireBits(above.mode, MAY.write | MAY.enter, found.path);
  }

  stat(path: string, follow: boolean): Stat {
    if (this.#guest.portAt(path) !== null) return { mode: KINDS.device, size: 0, mtime: 0, identity: path, links: 1 };
    const found = this.existing(path, follow);
    if (found.entry !== null) return systemStatOf(found.entry, found.path, true);
    const stat = this.#guest.virtualFiles.stat(found.path);
    if (stat === null) throw new Refused('ENOENT');
    const isDevice = ENDLESS.includes(found.path);
    const kind = stat.isDirectory ? 'dir' : stat.isSymbolicLink ? 'link' : isDevice ? 'device' : 'file';
    return { mode: KINDS[kind] | stat.mode, size: stat.size, mtime: 0, identity: found.path, links: 1 };
  }

  /** `needs`: of reading 4, writing 2 and running 1. Everything belongs to the one user. */
  access(path: string, needs: number): SystemAnswer {
    const found = this.existing(path);
    const { mode } = this.stat(found.path, true);
    const bits = (found.address === null ? mode : mode >> 6) & 7;
    if ((needs & 5 & ~bits) !== 0) throw new Refused('EACCES');
    if ((needs & 2) !== 0 && found.address === null) throw new Refused('EROFS');
    if ((needs & 2 & ~bits) !== 0) throw new Refused('EACCES');
    return {};
  }

  namesIn(path: string): [string, string][] {
    const found = this.existing(path);
    const { address } = found;
    if (address !== null) {
      requireBits(found.entry?.mode ?? 0, MAY.read, path);
      const children = asPosix(path, () => this.#files.readdir(address.path, address.volume));
      return children.map((child) => [child.path.slice(child.path.lastIndexOf('/') + 1), child.kind]);
    }
    const { virtualFiles } = this.#guest;
    return (virtualFiles.list(found.path) ?? []).map((name) => {
      const stat = virtualFiles.stat(normalizePath(name, found.path));
      return [name, stat?.isSymbolicLink ? 'link' : stat?.isFile ? 'file' : 'dir'];
    });
  }

  mkdir(path: string, mode: number): SystemAnswer {
    const at = this.free(this.resolve(path, false));
    asPosix(path, () => this.#files.mkdir(at.path, at.volume, { mode: mode & PERMISSIONS }));
    return {};
  }

  /** The address of what is removed or moved: no volume, and nothing beside them. */
  owned({ address, path }: ResolvedPath): VfsAddress {
    if (address === null) throw new Refused('EACCES');
    if (address.path === '/') throw new Refused(path === '/' ? 'EACCES' : 'EBUSY');
    requireChangeable(this.#files, address, path);
    return address;
  }

  rmdir(path: string): SystemAnswer {
    const found = this.existing(path, false);
    if (found.entry !== null && found.entry.kind !== 'dir') throw new Refused('ENOTDIR');
    const at = this.owned(found);
    asPosix(path, () => this.#files.rmdir(at.path, at.volume));
    return {};
  }

  unlink(path: string): SystemAnswer {
    const found = this.existing(path, false);
    if (found.entry?.kind === 'dir') throw new Refused('EISDIR');
    const at = this.owned(found);
    asPosix(path, () => this.#files.delete(at.path, at.volume));
    return {};
  }

  rename(source: string, target: string): SystemAnswer {
    const from = this.existing(source, false);
    const to = this.resolve(target, false);
    const isFolder = from.entry?.kind === 'dir';
    const [moved, place] = [this.owned(from), this.owned(to)];
    if (to.entry === null) {
      this.requireFolder(to);
      if (target.endsWith('/') && !isFolder) throw new Refused('ENOTDIR');
    } else if ((to.entry.kind === 'dir') !== isFolder) throw new Refused(isFolder ? 'ENOTDIR' : 'EISDIR');
    asPosix(target, () => this.#files.move(moved, place, { replace: true }));
    return {};
  }

  symlink(target: string, path: string): SystemAnswer {
    if (target === '') throw new Refused('ENOENT');
    const at = this.free(this.resolve(path, false));
    asPosix(path, () => this.#files.link(at.path, target, at.volume));
    return {};
  }

  readlink(path: string): string {
    const { entry, path: at } = this.existing(path, false);
    const target = entry === null ? this.#guest.virtualFiles.descriptors.target(at) : entry.target;
    if (target === null) throw new Refused('EINVAL');
    return target;
  }

  change(path: string, change: (at: VfsAddress) => void, follow = true): SystemAnswer {
    const { address } = this.existing(path, follow);
    if (address === null) throw new Refused('EPERM');
    // The root of a volume has neither mode nor time.
    if (address.path !== '/') asPosix(path, () => change(address));
    return {};
  }

  folder(path: string): string {
    const { entry, address, path: at } = this.existing(path);
    const isFolder = address === null ? this.#guest.virtualFiles.list(at) !== null : entry?.kind === 'dir';
    if (!isFolder) throw new Refused('ENOTDIR');
    if (entry !== null) requireBits(entry.mode, MAY.enter, path);
    return at;
  }
}
