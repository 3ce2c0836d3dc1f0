/**
 * The file system of the shell: three directories that are the volumes, and read-only virtual files around them. Owns
 * the POSIX errors of each operation; knows nothing of the host's files.
 */
import type { ByteString, FsStat, IFileSystem, RmOptions } from 'just-bash';
import { ancestorsOf, parentPath } from '../../vfs/paths.ts';
import type { Tree } from '../../vfs/tree.ts';
import type { VfsAddress } from '../../vfs/types.ts';
import { VOLUMES } from '../../vfs/volumes.ts';
import { bytesOfText, textOfBytes } from '../../workers/protocol/byte-text.ts';
import { noteContent } from '../../workers/protocol/transfer-limit.ts';
import { unsafeBytesFromLatin1 } from './bash.ts';
import type { ShellState } from './descriptor-files.ts';
import { bufferOf, bytesOf, type Content, type Encoding, encodingOf, isText } from './file-content.ts';
import { MAY, requireBits, requireChangeable, requireEmptiable } from './file-permissions.ts';
import { guestStat, PORT_STAT } from './file-stat.ts';
import { normalizePath, type ResolvedPath, requireWellFormed, resolveGuestPath } from './guest-paths.ts';
import { isCopy, type OutputSinks } from './output-sinks.ts';
import { asPosix, posixError } from './posix-error.ts';
import { isTurnDue, turn } from './thread-turns.ts';
import { VirtualFiles } from './virtual-files.ts';

/** With it, files and directories are made as they are without a mask. */
const USUAL_MASK = '0022';

type Dirent = Awaited<ReturnType<NonNullable<IFileSystem['readdirWithFileTypes']>>>[number];

/** A file that is not stored: a read returns the answer to the last write. */
export interface FilePort {
  write(content: Uint8Array): Promise<void>;
  read(): Promise<Uint8Array>;
}

export class GuestFiles implements IFileSystem {
  /** Receive what is written to paths that are not stored. */
  readonly sinks: OutputSinks;
  readonly #virtualFiles: VirtualFiles;
  /** By path. */
  readonly #ports = new Map<string, FilePort>();
  #vfs: Tree;
  #cwd = '/';
  /** What the call has made under a mask that forbids to write: it is open until its mode is set. */
  readonly #made = new Set<string>();

  /** `commands`: names that appear in `/bin`. */
  constructor(vfs: Tree, commands: readonly string[], sinks: OutputSinks) {
    this.#vfs = vfs;
    this.sinks = sinks;
    this.#virtualFiles = new VirtualFiles(commands, VOLUMES);
  }

  /** The tree of the running call, for reads of many files. */
  get tree(): Tree {
    return this.#vfs;
  }

  /** What is around the volumes. */
  get virtualFiles(): VirtualFiles {
    return this.#virtualFiles;
  }

  /** Resolves a path as the shell does. Throws POSIX errors. */
  resolve(path: string, follow = true): ResolvedPath {
    const { descriptors } = this.#virtualFiles;
    return asPosix(path, () => resolveGuestPath(this.#vfs, path, follow, (at) => descriptors.target(at)));
  }

  /** Runs a script of a shell, whose descriptors are files and whose mask new files have meanwhile. */
  async during<Result>(state: ShellState, run: () => Promise<Result>): Promise<Result> {
    const { descriptors } = this.#virtualFiles;
    const outer = descriptors.state;
    state.umask ??= outer?.umask;
    descriptors.state = state;
    try {
      return await run();
    } finally {
      descriptors.state = outer;
    }
  }

  /** Puts a port at a path; null takes it away. */
  setPort(path: string, port: FilePort | null): void {
    if (port === null) this.#ports.delete(path);
    else this.#ports.set(path, port);
  }

  /** The port at a path; null where there is none. */
  portAt(path: string): FilePort | null {
    return this.#ports.get(path) ?? null;
  }

  /** Switches to another tree; each call has its own. */
  setTree(vfs: Tree): void {
    this.#made.clear();
    this.#vfs = vfs;
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    const content = bufferOf(await this.readFileBuffer(path));
    const encoding = encodingOf(options);
    return isText(encoding) ? textOfBytes(content) : content.toString(encoding);
  }

  async readFileBytes(path: string): Promise<ByteString> {
    return unsafeBytesFromLatin1(bufferOf(await this.readFileBuffer(path)).toString('latin1'));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const port = this.#ports.get(path);
    if (port) return port.read();
    await this.#yieldIfDue();
    const { address, entry, path: at } = this.#find(path);
    const { descriptors } = this.#virtualFiles;
    if (address === null) return descriptors.endless(at) ?? bytesOfText(this.#virtualFile(at, path));
    if (entry === null) throw posixError('ENOENT', 'no such file or directory', path);
    if (entry.kind === 'dir') throw posixError('EISDIR', 'illegal operation on a directory', path);
    requireBits(entry.mode, MAY.read, path);
    noteContent(entry.size);
    return this.#vfs.get(address.path, address.volume) ?? new Uint8Array(0);
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const port = this.#ports.get(path);
    if (port !== undefined) return port.write(bytesOf(content, options));
    await this.#yieldIfDue();
    if (this.sinks.has(path)) return void this.sinks.send(path, bytesOf(content, options));
    if (path === '/dev/null') return;
    const address = this.#addressForFile(path);
    noteContent(content.length);
    const isNew = this.#vfs.entry(address.path, address.volume) === null;
    asPosix(path, () => this.#vfs.put(address.path, bytesOf(content, options), address.volume));
    if (isNew) this.#mask(address, 0o666);
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    if (this.sinks.has(path) || path === '/dev/null') return this.writeFile(path, content, options);
    await this.#yieldIfDue();
    const address = this.#addressForFile(path);
    if (asPosix(path, () => this.#append(address, bytesOf(content, options)))) this.#mask(address, 0o666);
  }

  #append({ path, volume }: VfsAddress, added: Uint8Array): boolean {
    return this.#vfs.append(path, volume, () => {
      const before = this.#vfs.get(path, volume);
      const whole = before === null ? added : Buffer.concat([before, added]);
      if (before === null || added.byteLength > 0) this.#vfs.put(path, whole, volume);
      return before === null;
    });
  }

  async exists(path: string): Promise<boolean> {
    if (this.sinks.has(path)) return false;
    try {
      const { address, entry, path: at } = this.#find(path);
      return address === null ? this.#virtualFiles.stat(at) !== null : entry !== null;
    } catch {
      // A loop of links, or an invalid name, does not exist.
      return false;
    }
  }

  async stat(path: string): Promise<FsStat> {
    return this.#stat(path, true);
  }

  async lstat(path: string): Promise<FsStat> {
    return this.#stat(path, false);
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    await this.#yieldIfDue();
    const found = this.#find(path);
    const there = found.entry ?? (found.address === null ? this.#virtualFiles.stat(found.path) : null);
    if (there !== null) {
      const directory = 'kind' in there ? there.kind === 'dir' : there.isDirectory;
      if (directory && options.recursive) return;
      throw posixError('EEXIST', 'file already exists', path);
    }
    const address = writable(found, path);
    const made = [...ancestorsOf(address.path), address.path].filter(
      (above) => above !== '/' && this.#vfs.entry(above, address.volume) === null,
    );
    const [top] = made;
    if (top !== undefined) requireChangeable(this.#vfs, { volume: address.volume, path: top }, path);
    asPosix(path, () => this.#vfs.mkdir(address.path, address.volume, { recursive: options.recursive ?? false }));
    for (const one of made) this.#mask({ volume: address.volume, path: one }, 0o777);
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(path: string): Promise<Dirent[]> {
    await this.#yieldIfDue();
    const { address, entry, path: at } = this.#find(path);
    if (address === null) return this.#virtualDirectory(at, path);
    if (entry === null) throw posixError('ENOENT', 'no such file or directory', path);
    if (entry.kind !== 'dir') throw posixError('ENOTDIR', 'not a directory', path);
    requireBits(entry.mode, MAY.read, path);
    return this.#vfs.readdir(address.path, address.volume).map((child) => ({
      name: child.path.slice(child.path.lastIndexOf('/') + 1),
      isFile: child.kind === 'file',
      isDirectory: child.kind === 'dir',
      isSymbolicLink: child.kind === 'link',
    }));
  }

  async rm(path: string, options: RmOptions = {}): Promise<void> {
    await this.#yieldIfDue();
    const found = this.#find(path, false);
    if (found.address !== null && found.entry === null) {
      if (options.force) return;
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    const address = writable(found, path);
    if (address.path === '/') throw posixError('EBUSY', 'a volume can be emptied, not removed', path);
    requireChangeable(this.#vfs, address, path);
    if (options.recursive) requireEmptiable(this.#vfs, address, path);
    asPosix(path, () => {
      if (found.entry?.kind === 'dir' && !options.recursive) this.#vfs.rmdir(address.path, address.volume);
      else this.#vfs.delete(address.path, address.volume, { recursive: options.recursive ?? false });
    });
  }

  async cp(source: string, target: string, options: { recursive?: boolean } = {}): Promise<void> {
    const stat = await (options.recursive ? this.lstat(source) : this.stat(source));
    if (stat.isSymbolicLink) return this.symlink(await this.readlink(source), target);
    if (!stat.isDirectory) {
      await this.writeFile(target, await this.readFileBuffer(source));
      return this.chmod(target, stat.mode);
    }
    if (!options.recursive) throw posixError('EISDIR', 'illegal operation on a directory', source);
    const [from, to] = [this.#find(source).path, this.#find(target).path];
    if (`${to}/`.startsWith(`${from}/`)) throw posixError('EINVAL', 'a directory cannot be copied into itself', target);
    const names = await this.readdir(source);
    await this.mkdir(target, { recursive: true });
    for (const name of names) await this.cp(`${source}/${name}`, `${target}/${name}`, options);
  }

  async mv(source: string, target: string): Promise<void> {
    await this.#yieldIfDue();
    const from = this.#find(source, false);
    if (from.address !== null && from.entry === null) throw posixError('ENOENT', 'no such file or directory', source);
    const [moved, to] = [writable(from, source), writable(this.#find(target, false), target)];
    if (moved.path === '/' || to.path === '/') throw posixError('EBUSY', 'a volume cannot be moved', source);
    requireChangeable(this.#vfs, moved, source);
    this.#requireDirectory(to, target);
    asPosix(target, () => this.#vfs.move(moved, to, { replace: true }));
  }

  resolvePath(base: string, path: string): string {
    // The shell resolves its output path after every command, which is when its directory can have changed: not that of
    // a stage of a pipeline, which is a subshell.
    if (this.sinks.has(path)) {
      if (!isCopy(path)) this.#cwd = base;
      return path;
    }
    return normalizePath(path, base);
  }

  /** The working directory when the shell last resolved its output path. */
  get cwd(): string {
    return this.#cwd;
  }

  set cwd(path: string) {
    this.#cwd = path;
  }

  /** Only an optimisation for globs, which list directories instead. */
  getAllPaths(): string[] {
    return [];
  }

  async chmod(path: string, mode: number): Promise<void> {
    const address = this.#existing(path);
    this.#made.clear();
    if (address.path !== '/') asPosix(path, () => this.#vfs.chmod(address.path, mode & 0o7777, address.volume));
  }

  async symlink(target: string, path: string): Promise<void> {
    await this.#yieldIfDue();
    const found = this.#find(path, false);
    if (found.entry !== null) throw posixError('EEXIST', 'file already exists', path);
    requireWellFormed(target);
    const address = writable(found, path);
    this.#requireDirectory(address, path);
    asPosix(path, () => this.#vfs.link(address.path, target, address.volume));
  }

  /** Not supported: two paths cannot share one content. */
  async link(_existing: string, path: string): Promise<void> {
    throw posixError('EPERM', 'hard links are not supported, use ln -s', path);
  }

  async readlink(path: string): Promise<string> {
    const { address, entry, path: at } = this.#find(path, false);
    if (entry === null && (address !== null || this.#virtualFiles.stat(at) === null)) {
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    const target = entry?.kind === 'link' ? entry.target : this.#virtualFiles.descriptors.target(at);
    if (target === null) throw posixError('EINVAL', 'invalid argument', path);
    return target;
  }

  async realpath(path: string): Promise<string> {
    const { address, entry, path: at } = this.#find(path);
    if (address === null ? this.#virtualFiles.stat(at) === null : entry === null) {
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    return at;
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    const address = this.#existing(path);
    if (address.path === '/') return;
    asPosix(path, () => this.#vfs.utimes(address.path, Math.floor(modified.getTime() / 1000), address.volume));
  }

  #find(path: string, follow = true): ResolvedPath {
    return this.resolve(path, follow);
  }

  /** Takes the bits of the shell's mask from what it has made. */
  #mask({ path, volume }: VfsAddress, mode: number): void {
    const { umask } = this.#virtualFiles.descriptors.state ?? {};
    if (umask === undefined || umask === USUAL_MASK) return;
    const left = mode & ~Number.parseInt(umask, 8);
    if ((left & MAY.write) === 0) this.#made.add(`/${volume}${path}`);
    asPosix(path, () => this.#vfs.chmod(path, left, volume));
  }

  async #stat(path: string, follow: boolean): Promise<FsStat> {
    if (this.#ports.has(path)) return PORT_STAT;
    const { address, entry, path: at } = this.#find(path, follow);
    const stat = address === null ? this.#virtualFiles.stat(at) : entry && guestStat(address, entry);
    if (stat === null) throw posixError('ENOENT', 'no such file or directory', path);
    return stat;
  }

  /** The address of an existing entry, to be changed. */
  #existing(path: string): VfsAddress {
    const found = this.#find(path);
    if (found.entry === null && (found.address !== null || this.#virtualFiles.stat(found.path) === null)) {
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    return writable(found, path);
  }

  /** The address of a file to be written. Its directory must exist. */
  #addressForFile(path: string): VfsAddress {
    const found = this.#find(path);
    const address = writable(found, path);
    if (found.entry?.kind === 'dir') throw posixError('EISDIR', 'illegal operation on a directory', path);
    if (found.entry === null) this.#requireDirectory(address, path);
    else if (!this.#made.has(found.path)) requireBits(found.entry.mode, MAY.write, path);
    return address;
  }

  #requireDirectory(address: VfsAddress, path: string): void {
    const above = asPosix(path, () => this.#vfs.entry(parentPath(address.path), address.volume));
    if (above === null) throw posixError('ENOENT', 'no such file or directory', path);
    if (above.kind !== 'dir') throw posixError('ENOTDIR', 'not a directory', path);
    requireBits(above.mode, MAY.write | MAY.enter, path);
  }

  #virtualFile(at: string, path: string): string {
    const content = this.#virtualFiles.read(at);
    if (content !== null) return content;
    if (this.#virtualFiles.list(at)) throw posixError('EISDIR', 'illegal operation on a directory', path);
    throw posixError('ENOENT', 'no such file or directory', path);
  }

  #virtualDirectory(at: string, path: string): Dirent[] {
    const names = this.#virtualFiles.list(at);
    if (names === null) {
      if (this.#virtualFiles.stat(at)) throw posixError('ENOTDIR', 'not a directory', path);
      throw posixError('ENOENT', 'no such file or directory', path);
    }
    return names.map((name) => {
      const file = this.#virtualFiles.stat(normalizePath(name, at))?.isFile ?? false;
      return { name, isFile: file, isDirectory: !file, isSymbolicLink: false };
    });
  }

  /** Lets pending requests run. A script that never waits would block the thread. */
  async #yieldIfDue(): Promise<void> {
    if (isTurnDue()) await turn();
  }
}

/** The address of a change. Throws EROFS outside the volumes. */
function writable(found: ResolvedPath, path: string): VfsAddress {
  if (found.address === null) throw posixError('EROFS', 'read-only file system', path);
  return found.address;
}
