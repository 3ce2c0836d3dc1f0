/**
 * The files as the shell's own commands see them: the same tree as the shell's, read without a promise per file, with
 * kinds, times and link targets. Changes go through the shell's file system.
 */
import type { IFileSystem } from 'just-bash';
import type { Tree } from '../../../vfs/tree.ts';
import type { VfsAddress, VfsEntry } from '../../../vfs/types.ts';
import { noteContent } from '../../../workers/protocol/transfer-limit.ts';
import { MAY, requireBits } from '../file-permissions.ts';
import { normalizePath, type ResolvedPath } from '../guest-paths.ts';
import type { OutputSinks } from '../output-sinks.ts';
import { asPosix, posixError } from '../posix-error.ts';
import type { VirtualFiles } from '../virtual-files.ts';

/** Size and blocks of every directory, as ext4 reports them. */
const DIRECTORY_BYTES = 4096;

export interface FileStatus {
  kind: 'file' | 'dir' | 'link' | 'device';
  size: number;
  /** Permission bits. */
  mode: number;
  /** Epoch seconds. */
  mtime: number;
  /** The target of a link. */
  target: string | null;
  /** Absolute; the same for one file, whatever link leads to it. */
  path: string;
  /** Null outside the volumes. */
  address: VfsAddress | null;
}

export interface NamedFile extends FileStatus {
  name: string;
}

interface SystemFiles extends IFileSystem {
  /** The tree of the running call. */
  readonly tree: Tree;
  readonly virtualFiles: VirtualFiles;
  readonly sinks: OutputSinks;
  resolve(path: string, follow?: boolean): ResolvedPath;
}

export interface CommandSystem {
  /** The shell's file system, which exists once the shell does. */
  files: () => SystemFiles;
}

export class CommandFiles {
  readonly #system: CommandSystem;

  constructor(system: CommandSystem) {
    this.#system = system;
  }

  /** The permission bits that a new file does not get. */
  get umask(): number {
    return Number.parseInt(this.#system.files().virtualFiles.descriptors.state?.umask ?? '0022', 8);
  }

  /** What is at an absolute path; null when nothing is. Throws ELOOP, ENOTDIR and EINVAL. */
  look(path: string, follow = true): FileStatus | null {
    const slash = path.length > 1 && path.endsWith('/');
    const tree = this.#system.files().tree;
    const { address, entry, path: at } = this.#system.files().resolve(path, follow || slash);
    const info = address === null ? this.#virtual(at) : entry && infoOf(address, entry);
    if (info === null && address !== null) this.#requireNoFileAbove(tree, address, path);
    if (slash && info !== null && info.kind !== 'dir' && !(info.kind === 'link' && !follow))
      throw posixError('ENOTDIR', 'not a directory', path);
    return info;
  }

  /** Like `look`; throws ENOENT when nothing is there. */
  info(path: string, follow = true): FileStatus {
    const info = this.look(path, follow);
    if (info === null) throw posixError('ENOENT', 'no such file or directory', path);
    return info;
  }

  /** The path without links, as far as it exists. Throws ELOOP. */
  canonical(path: string): string {
    return this.#system.files().resolve(path).path;
  }

  /** Sets the time of a file, a directory or a link, in epoch seconds. */
  setTime({ address, path }: FileStatus, seconds: number): void {
    if (address === null) throw posixError('EROFS', 'read-only file system', path);
    const time = Math.max(0, Math.floor(seconds));
    if (address.path !== '/') asPosix(path, () => this.#system.files().tree.utimes(address.path, time, address.volume));
  }

  /** True when the path leads to a directory. */
  isDirectory(path: string): boolean {
    try {
      return this.look(path)?.kind === 'dir';
    } catch {
      // A loop of links, or a name that cannot be.
      return false;
    }
  }

  /** The children of a directory, by name. Throws ENOENT, ENOTDIR and EACCES. */
  children(path: string): NamedFile[] {
    const { entry } = this.#system.files().resolve(path);
    if (entry?.kind === 'dir') requireBits(entry.mode, MAY.read, path);
    return this.counted(path);
  }

  /** The same; null, with what `told` is given said of it, where it cannot be read. */
  childrenOr(path: string, told: (reason: unknown) => void): NamedFile[] | null {
    try {
      return this.children(path);
    } catch (error) {
      told(error);
      return null;
    }
  }

  /** The same for what counts files whose names are not asked for: no mode forbids it. */
  counted(path: string): NamedFile[] {
    const tree = this.#system.files().tree;
    const { address, entry, path: at } = this.#system.files().resolve(path);
    if (address === null) {
      const names = this.#system.files().virtualFiles.list(at);
      if (names === null) throw posixError(this.#virtual(at) ? 'ENOTDIR' : 'ENOENT', 'not a directory', path);
      return names.flatMap((name) => {
        const child = this.look(normalizePath(name, at), false);
        return child === null ? [] : [{ ...child, name }];
      });
    }
    if (entry === null) throw posixError('ENOENT', 'no such file or directory', path);
    if (entry.kind !== 'dir') throw posixError('ENOTDIR', 'not a directory', path);
    const children = asPosix(path, () => tree.readdir(address.path, address.volume));
    return children.map((child) => ({
      ...infoOf({ volume: address.volume, path: child.path as VfsAddress['path'] }, child),
      name: child.path.slice(child.path.lastIndexOf('/') + 1),
    }));
  }

  /** The content of a file. Throws ENOENT and EISDIR. */
  read(path: string): Buffer {
    const tree = this.#system.files().tree;
    const { address, entry, path: at } = this.#system.files().resolve(path);
    if (address === null) {
      const content = this.#system.files().virtualFiles.read(at);
      if (content !== null) return Buffer.from(content);
      throw posixError(this.#virtual(at) ? 'EISDIR' : 'ENOENT', 'no such file or directory', path);
    }
    if (entry === null) {
      this.#requireNoFileAbove(tree, address, path);
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    if (entry.kind === 'dir') throw posixError('EISDIR', 'illegal operation on a directory', path);
    if (path.endsWith('/')) throw posixError('ENOTDIR', 'not a directory', path);
    requireBits(entry.mode, MAY.read, path);
    noteContent(entry.size);
    const bytes = tree.get(address.path, address.volume) ?? new Uint8Array(0);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The content of a file that was listed. */
  content(info: FileStatus): Buffer {
    if (info.address === null) return this.read(info.path);
    requireBits(info.mode, MAY.read, info.path);
    const { path, volume } = info.address;
    const bytes = this.#system.files().tree.get(path, volume) ?? new Uint8Array(0);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** The number of links of a directory: itself, its entry and its subdirectories. */
  links(info: FileStatus): number {
    if (info.kind !== 'dir') return 1;
    return 2 + this.counted(info.path).filter(({ kind }) => kind === 'dir').length;
  }

  #virtual(at: string): FileStatus | null {
    const { virtualFiles } = this.#system.files();
    const stat = virtualFiles.stat(at);
    if (stat === null) return null;
    const target = virtualFiles.descriptors.target(at);
    const kind = stat.isDirectory ? 'dir' : target !== null ? 'link' : at.startsWith('/dev/') ? 'device' : 'file';
    const size = stat.isDirectory ? DIRECTORY_BYTES : kind === 'device' ? 0 : stat.size;
    return { kind, size, mode: stat.mode, mtime: stat.mtime.getTime() / 1000, target, path: at, address: null };
  }

  /** Throws ENOTDIR when a file stands where the path needs a directory. */
  #requireNoFileAbove(tree: Tree, { path, volume }: VfsAddress, given: string): void {
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      const above = tree.entry(path.slice(0, end) as VfsAddress['path'], volume);
      if (above?.kind === 'file') throw posixError('ENOTDIR', 'not a directory', given);
      if (above === null) return;
    }
  }
}

function infoOf(address: VfsAddress, entry: VfsEntry): FileStatus {
  const { kind, size, mode, mtime, target } = entry;
  const path = address.path === '/' ? `/${address.volume}` : `/${address.volume}${address.path}`;
  return { kind, size: kind === 'dir' ? DIRECTORY_BYTES : size, mode, mtime, target, path, address };
}

/** A number that stands for a file's inode: the same for the same path. */
export function inodeOf({ path }: FileStatus): number {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(path)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffn;
  return Number(hash % 100_000_000n) + 12;
}

/** Blocks of 512 bytes that a file takes on a disk of pages of 4096 bytes. */
export function diskBlocks({ kind, size }: FileStatus): number {
  return kind === 'file' || kind === 'dir' ? Math.ceil(size / 4096) * 8 : 0;
}
