/**
 * The sandbox's files as isomorphic-git and the commands use them: Node's promise interface over the shell's file
 * system. Every operation ends a command whose call is over.
 */
import type { IFileSystem } from 'just-bash';
import { type Run, TIMED_OUT_EXIT } from '../../../../workers/protocol/call.ts';
import { replaceFile } from '../replaced-file.ts';
import { GitError } from './git-error.ts';

const DIRECTORY = 0o040000;
const LINK = 0o120000;
const FILE = 0o100000;

/** A file's status as Node gives it, with the fields that isomorphic-git reads. */
export interface GitStat {
  size: number;
  mode: number;
  /** Permission bits. */
  permissions: number;
  mtimeSeconds: number;
  mtimeMs: number;
  ctimeMs: number;
  uid: number;
  gid: number;
  dev: number;
  ino: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export class FileAccess {
  readonly #fs: IFileSystem;
  readonly #run: Run;
  readonly #signal: AbortSignal | undefined;

  /** `signal`: that of the part of the call that the command belongs to, as `timeout` gives one. */
  constructor(fs: IFileSystem, run: Run, signal?: AbortSignal) {
    this.#fs = fs;
    this.#run = run;
    this.#signal = signal;
  }

  /** What isomorphic-git takes as `fs`. */
  get promises() {
    return {
      readFile: async (path: string, options?: string | { encoding?: string }) => {
        const encoding = typeof options === 'string' ? options : options?.encoding;
        const content = await this.read(path);
        return encoding === undefined ? content : content.toString('utf8');
      },
      writeFile: (path: string, content: Uint8Array | string) => this.write(path, content),
      mkdir: (path: string) => this.#fs.mkdir(path),
      rmdir: (path: string) => this.#fs.rm(path),
      rm: (path: string) => this.remove(path),
      unlink: (path: string) => this.remove(path),
      stat: (path: string) => this.stat(path),
      lstat: (path: string) => this.lstat(path),
      readdir: (path: string) => this.#fs.readdir(path),
      readlink: (path: string) => this.#fs.readlink(path),
      symlink: (target: string, path: string) => this.#fs.symlink(target, path),
    };
  }

  async read(path: string): Promise<Buffer> {
    this.#check();
    const content = await this.#fs.readFileBuffer(path);
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }

  /** The content of a file as text; null when it cannot be read. */
  async text(path: string): Promise<string | null> {
    return (await this.exists(path)) ? (await this.read(path)).toString('utf8') : null;
  }

  async write(path: string, content: Uint8Array | string): Promise<void> {
    this.#check();
    await this.#fs.mkdir(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
    await replaceFile(this.#fs, path, typeof content === 'string' ? Buffer.from(content) : content);
  }

  async append(path: string, text: string): Promise<void> {
    await this.write(path, ((await this.text(path)) ?? '') + text);
  }

  async remove(path: string): Promise<void> {
    this.#check();
    await this.#fs.rm(path, { force: true });
  }

  async removeTree(path: string): Promise<void> {
    this.#check();
    await this.#fs.rm(path, { recursive: true, force: true });
  }

  async exists(path: string): Promise<boolean> {
    this.#check();
    return this.#fs.exists(path);
  }

  async isDirectory(path: string): Promise<boolean> {
    return (await this.exists(path)) && (await this.stat(path)).isDirectory();
  }

  async stat(path: string): Promise<GitStat> {
    this.#check();
    return processStat(await this.#fs.stat(path));
  }

  async lstat(path: string): Promise<GitStat> {
    this.#check();
    return processStat(await this.#fs.lstat(path));
  }

  /** Null when there is nothing at this path. */
  async lstatOrNull(path: string): Promise<GitStat | null> {
    try {
      return await this.lstat(path);
    } catch (error) {
      if (error instanceof GitError) throw error;
      // ENOENT, ENOTDIR: nothing is there.
      return null;
    }
  }

  async names(path: string): Promise<string[]> {
    this.#check();
    return this.#fs.readdir(path);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#fs.mkdir(path, { recursive: true });
  }

  async link(target: string, path: string): Promise<void> {
    this.#check();
    await this.#fs.mkdir(path.slice(0, path.lastIndexOf('/')) || '/', { recursive: true });
    await this.#fs.symlink(target, path);
  }

  readLink(path: string): Promise<string> {
    return this.#fs.readlink(path);
  }

  async setExecutable(path: string, executable: boolean): Promise<void> {
    await this.#fs.chmod(path, executable ? 0o755 : 0o644);
  }

  async move(from: string, to: string): Promise<void> {
    this.#check();
    await this.#fs.mv(from, to);
  }

  /** Throws when the command's call is over. */
  requireTime(): void {
    this.#check();
  }

  #check(): void {
    if (this.#run.isOver(this.#signal)) throw new GitError('', TIMED_OUT_EXIT);
  }
}

function processStat(stat: Awaited<ReturnType<IFileSystem['lstat']>>): GitStat {
  const kind = stat.isSymbolicLink ? LINK : stat.isDirectory ? DIRECTORY : FILE;
  const mtimeMs = stat.mtime.getTime();
  return {
    size: stat.size,
    mode: kind | (stat.mode & 0o7777),
    permissions: stat.mode & 0o7777,
    mtimeSeconds: Math.floor(mtimeMs / 1000),
    mtimeMs,
    ctimeMs: mtimeMs,
    uid: 0,
    gid: 0,
    dev: 0,
    ino: 0,
    isFile: () => stat.isFile && !stat.isSymbolicLink,
    isDirectory: () => stat.isDirectory && !stat.isSymbolicLink,
    isSymbolicLink: () => stat.isSymbolicLink,
  };
}
