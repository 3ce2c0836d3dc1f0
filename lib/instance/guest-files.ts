/**
 * The file system that a shell sees: three directories that are the volumes, links that resolve inside them, and nothing of the host.
 * Everything else is read-only scenery in memory that just-bash brings for its own commands.
 */
import type { FsStat, IFileSystem, RmOptions } from 'just-bash';
import { InMemoryFs } from 'just-bash';
import { isWinterdockError } from '../errors.ts';
import type { Entry } from '../vfs/read.ts';
import type { Vfs } from '../vfs/vfs.ts';
import { VOLUMES, type Volume } from '../vfs/volumes.ts';

const LINKS_FOLLOWED = 40;
const DIRECTORY_MODE = 0o755;

const SINK_STAT: FsStat = {
  isFile: true,
  isDirectory: false,
  isSymbolicLink: false,
  mode: 0o222,
  size: 0,
  mtime: new Date(0),
};

interface Place {
  volume: Volume;
  /** Absolute within the volume; `/` is its root. */
  path: string;
}

type Content = string | Uint8Array;
type Encoding = Parameters<IFileSystem['readFile']>[1];

/** An error in the words of a POSIX file system, as the commands of the shell expect it. */
function posix(code: string, what: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${what}, '${path}'`), { code });
}

function encodingOf(options: Encoding): BufferEncoding {
  const encoding = typeof options === 'string' ? options : options?.encoding;
  return encoding === 'binary' ? 'latin1' : ((encoding ?? 'utf8') as BufferEncoding);
}

function toBytes(content: Content, options?: Encoding): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, encodingOf(options)) : content;
}

/** Makes `..` and `.` go away; never leaves the root. */
function normalise(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export class GuestFiles implements IFileSystem {
  #vfs: Vfs;
  /** What is written to these paths is not kept but handed on. */
  readonly #sinks: ReadonlyMap<string, (content: Uint8Array) => void>;
  readonly #scenery = new InMemoryFs();

  constructor(vfs: Vfs, sinks: ReadonlyMap<string, (content: Uint8Array) => void>) {
    this.#vfs = vfs;
    this.#sinks = sinks;
  }

  /** Shows another VFS from now on: a shell is made ready before it is known whose files it will see. */
  show(vfs: Vfs): void {
    this.#vfs = vfs;
  }

  #volumeOf(path: string): Place | null {
    const [, first = '', ...rest] = path.split('/');
    const volume = VOLUMES.find((name) => name === first);
    return volume === undefined ? null : { volume, path: `/${rest.join('/')}` };
  }

  /** What is at a place; the root of a volume is always a directory. */
  #at({ volume, path }: Place): Entry | null {
    if (path !== '/') return this.#vfs.entry(path, volume);
    return { path, kind: 'dir', size: 0, mode: DIRECTORY_MODE, mtime: 0, version: 0, target: null };
  }

  /** Follows the links in a path, the last part only with `last`. Throws ELOOP. Paths outside the volumes come back as they are. */
  #resolve(given: string, last: boolean): string {
    let path = normalise(given);
    for (let followed = 0; followed <= LINKS_FOLLOWED; followed += 1) {
      const next = this.#followOne(path, last);
      if (next === null) return path;
      path = next;
    }
    throw posix('ELOOP', 'too many levels of symbolic links', given);
  }

  #followOne(path: string, last: boolean): string | null {
    const place = this.#volumeOf(path);
    if (place === null || place.path === '/') return null;
    const parts = place.path.slice(1).split('/');
    for (let length = 1; length <= parts.length; length += 1) {
      if (length === parts.length && !last) return null;
      const at = `/${parts.slice(0, length).join('/')}`;
      const entry = this.#vfs.entry(at, place.volume);
      if (entry === null) return null;
      if (entry.kind !== 'link') continue;
      const target = entry.target ?? '/';
      const base = target.startsWith('/') ? target : `/${place.volume}${parentOf(at)}/${target}`;
      return normalise(`${base}/${parts.slice(length).join('/')}`);
    }
    return null;
  }

  #place(given: string, last = true): Place | null {
    return this.#volumeOf(this.#resolve(given, last));
  }

  /** The place of something to be changed. Throws EROFS outside the volumes. */
  #writable(given: string, last = true): Place {
    const place = this.#place(given, last);
    if (place === null) throw posix('EROFS', 'read-only file system; write to /workspace, /memory or /tmp', given);
    return place;
  }

  /** Runs a change and says what went wrong in the words of a POSIX system. */
  #change<T>(path: string, change: () => T): T {
    try {
      return change();
    } catch (error) {
      if (!isWinterdockError(error)) throw error;
      if (error.code === 'quota_exceeded') throw posix('ENOSPC', 'no space left on device', path);
      if (error.code === 'too_large') throw posix('EFBIG', 'file too large', path);
      if (error.code === 'not_found') throw posix('ENOENT', 'no such file or directory', path);
      if (error.code === 'conflict') throw posix('EEXIST', error.message, path);
      if (error.code === 'validation') throw posix('EINVAL', error.message, path);
      throw error;
    }
  }

  async readFile(path: string, options?: Encoding): Promise<string> {
    return Buffer.from(await this.readFileBuffer(path)).toString(encodingOf(options));
  }

  async readFileBuffer(path: string): Promise<Uint8Array> {
    const place = this.#place(path);
    if (place === null) return this.#scenery.readFileBuffer(path);
    const entry = this.#at(place);
    if (entry === null) throw posix('ENOENT', 'no such file or directory, open', path);
    if (entry.kind === 'dir') throw posix('EISDIR', 'illegal operation on a directory, read', path);
    return this.#vfs.get(place.path, place.volume) ?? new Uint8Array();
  }

  async writeFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const sink = this.#sinks.get(path);
    if (sink !== undefined) return sink(toBytes(content, options));
    if (path === '/dev/null') return;
    const place = this.#writable(path);
    this.#refuseDirectory(place, path);
    this.#change(path, () => this.#vfs.put(place.path, toBytes(content, options), place.volume));
  }

  async appendFile(path: string, content: Content, options?: Encoding): Promise<void> {
    const sink = this.#sinks.get(path);
    if (sink !== undefined) return sink(toBytes(content, options));
    if (path === '/dev/null') return;
    const place = this.#writable(path);
    this.#refuseDirectory(place, path);
    const before = this.#vfs.get(place.path, place.volume) ?? new Uint8Array();
    this.#change(path, () =>
      this.#vfs.put(place.path, Buffer.concat([before, toBytes(content, options)]), place.volume),
    );
  }

  #refuseDirectory(place: Place, path: string): void {
    if (this.#at(place)?.kind === 'dir') throw posix('EISDIR', 'illegal operation on a directory, open', path);
    const parent = this.#at({ volume: place.volume, path: parentOf(place.path) });
    if (parent === null) throw posix('ENOENT', 'no such file or directory, open', path);
    if (parent.kind !== 'dir') throw posix('ENOTDIR', 'not a directory, open', path);
  }

  async exists(path: string): Promise<boolean> {
    try {
      const place = this.#place(path);
      return place === null ? this.#sceneryExists(path) : this.#at(place) !== null;
    } catch {
      // A loop of links leads nowhere.
      return false;
    }
  }

  async #sceneryExists(path: string): Promise<boolean> {
    return normalise(path) === '/' || this.#sinks.has(path) || this.#scenery.exists(path);
  }

  async stat(path: string): Promise<FsStat> {
    return this.#statOf(path, true);
  }

  async lstat(path: string): Promise<FsStat> {
    return this.#statOf(path, false);
  }

  async #statOf(path: string, follow: boolean): Promise<FsStat> {
    const place = this.#place(path, follow);
    if (place === null) {
      if (this.#sinks.has(path)) return SINK_STAT;
      return follow ? this.#scenery.stat(path) : this.#scenery.lstat(path);
    }
    const entry = this.#at(place);
    if (entry === null) throw posix('ENOENT', 'no such file or directory, stat', path);
    return {
      isFile: entry.kind === 'file',
      isDirectory: entry.kind === 'dir',
      isSymbolicLink: entry.kind === 'link',
      mode: entry.mode,
      size: entry.size,
      mtime: new Date(entry.mtime * 1000),
      identity: `${place.volume}${place.path}`,
    };
  }

  async mkdir(path: string, options: { recursive?: boolean } = {}): Promise<void> {
    const place = this.#place(path);
    // Its own layout (/bin, /dev) is scenery that it makes for itself at the start.
    if (place === null) return this.#scenery.mkdir(path, options);
    const there = this.#at(place);
    if (there?.kind === 'dir' && options.recursive) return;
    if (there !== null) throw posix('EEXIST', 'file already exists, mkdir', path);
    this.#change(path, () => this.#vfs.mkdir(place.path, place.volume, options));
  }

  async readdir(path: string): Promise<string[]> {
    return (await this.readdirWithFileTypes(path)).map(({ name }) => name);
  }

  async readdirWithFileTypes(
    path: string,
  ): Promise<{ name: string; isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean }[]> {
    const place = this.#place(path);
    if (place === null) {
      const scenery = (await this.#scenery.exists(path)) ? await this.#scenery.readdirWithFileTypes(path) : [];
      if (normalise(path) !== '/') return scenery;
      const volumes = VOLUMES.map((name) => ({ name, isFile: false, isDirectory: true, isSymbolicLink: false }));
      const others = scenery.filter(({ name }) => !VOLUMES.some((volume) => volume === name));
      return [...others, ...volumes].sort((a, b) => (a.name < b.name ? -1 : 1));
    }
    const entry = this.#at(place);
    if (entry === null) throw posix('ENOENT', 'no such file or directory, scandir', path);
    if (entry.kind !== 'dir') throw posix('ENOTDIR', 'not a directory, scandir', path);
    return this.#vfs.readdir(place.path, place.volume).map((child) => ({
      name: child.path.slice(child.path.lastIndexOf('/') + 1),
      isFile: child.kind === 'file',
      isDirectory: child.kind === 'dir',
      isSymbolicLink: child.kind === 'link',
    }));
  }

  async rm(path: string, options: RmOptions = {}): Promise<void> {
    const place = this.#writable(path, false);
    const entry = this.#at(place);
    if (entry === null) {
      if (options.force) return;
      throw posix('ENOENT', 'no such file or directory, rm', path);
    }
    if (place.path === '/') throw posix('EBUSY', 'a volume cannot be removed, only emptied', path);
    if (entry.kind === 'dir' && !options.recursive) {
      if (this.#vfs.readdir(place.path, place.volume).length > 0)
        throw posix('ENOTEMPTY', 'directory not empty, rm', path);
      this.#change(path, () => this.#vfs.rmdir(place.path, place.volume));
      return;
    }
    this.#change(path, () => this.#vfs.delete(place.path, place.volume, { recursive: options.recursive ?? false }));
  }

  async cp(source: string, target: string, options: { recursive?: boolean } = {}): Promise<void> {
    const stat = await this.stat(source);
    if (!stat.isDirectory) {
      await this.writeFile(target, await this.readFileBuffer(source));
      if (this.#place(source) !== null) await this.chmod(target, stat.mode);
      return;
    }
    if (!options.recursive) throw posix('EISDIR', 'is a directory, cp', source);
    if (normalise(`${target}/`).startsWith(`${normalise(source)}/`)) {
      throw posix('EINVAL', 'cannot copy a directory into itself, cp', source);
    }
    await this.mkdir(target, { recursive: true });
    for (const name of await this.readdir(source)) await this.cp(`${source}/${name}`, `${target}/${name}`, options);
  }

  async mv(source: string, target: string): Promise<void> {
    const from = this.#writable(source, false);
    const to = this.#writable(target, false);
    const entry = this.#at(from);
    if (entry === null) throw posix('ENOENT', 'no such file or directory, rename', source);
    if (from.path === '/') throw posix('EBUSY', 'a volume cannot be moved', source);
    if (from.volume === to.volume && from.path === to.path) return;
    this.#change(target, () => this.#vfs.move(from, to, { replace: true }));
  }

  resolvePath(base: string, path: string): string {
    return normalise(path.startsWith('/') ? path : `${base}/${path}`);
  }

  getAllPaths(): string[] {
    return this.#scenery.getAllPaths();
  }

  async chmod(path: string, mode: number): Promise<void> {
    const place = this.#writable(path);
    if (this.#at(place) === null) throw posix('ENOENT', 'no such file or directory, chmod', path);
    if (place.path === '/') return;
    this.#change(path, () => this.#vfs.chmod(place.path, mode & 0o7777, place.volume));
  }

  async symlink(target: string, path: string): Promise<void> {
    const place = this.#writable(path, false);
    if (this.#at(place) !== null) throw posix('EEXIST', 'file already exists, symlink', path);
    this.#change(path, () => this.#vfs.link(place.path, target, place.volume));
  }

  /** A table of paths has no second name for one content: a hard link is a copy. */
  async link(existing: string, path: string): Promise<void> {
    if (await this.exists(path)) throw posix('EEXIST', 'file already exists, link', path);
    await this.cp(existing, path);
  }

  async readlink(path: string): Promise<string> {
    const place = this.#place(path, false);
    const entry = place === null ? null : this.#at(place);
    if (entry === null) throw posix('ENOENT', 'no such file or directory, readlink', path);
    if (entry.kind !== 'link') throw posix('EINVAL', 'invalid argument, readlink', path);
    return entry.target ?? '';
  }

  async realpath(path: string): Promise<string> {
    const resolved = this.#resolve(path, true);
    if (!(await this.exists(resolved))) throw posix('ENOENT', 'no such file or directory, realpath', path);
    return resolved;
  }

  async utimes(path: string, _accessed: Date, modified: Date): Promise<void> {
    const place = this.#writable(path);
    if (place.path === '/') return;
    this.#change(path, () => this.#vfs.utimes(place.path, Math.floor(modified.getTime() / 1000), place.volume));
  }
}
