/**
 * The rules of a tree of files, directories and links in three volumes. They apply to the two tables of a file (vfs.ts)
 * and to the buffered changes of a running call (overlay.ts). Knows neither where reads come from nor when writes
 * become durable.
 */
import { WinterdockError } from '../base/errors.ts';
import { ancestorsOf, parentPath, parseVfsPath, type VfsPath } from './paths.ts';
import { translateSqliteError } from './sqlite-errors.ts';
import { entryStat, type TableReader } from './table-reader.ts';
import {
  conflict,
  named,
  notFound,
  requireCondition,
  requireShortNames,
  requireSize,
  requireTarget,
} from './tree-errors.ts';
import type { VfsAddress, VfsEntry, VfsStat, WriteCondition } from './types.ts';
import { DEFAULT_VOLUME, type Volume } from './volumes.ts';

/** The writes that the rules need. Each is called inside `TreeParts.run`, after the checks. */
export interface TreeWriter {
  /** Writes a whole file over `current` (null: none). A null `mode` keeps the mode. Returns the new file. */
  putFile(volume: Volume, path: VfsPath, content: Uint8Array, current: VfsEntry | null, mode: number | null): VfsStat;
  /** Sets the mode, and the time unless it is null; the version stays. */
  setAttributes(volume: Volume, path: VfsPath, current: VfsEntry, mode: number, mtimeSeconds: number | null): void;
  /**
   * Stores an explicit directory. `asked` is false for one that the caller did not name: a parent of a new entry, or
   * one left empty.
   */
  putDirectory(volume: Volume, path: VfsPath, mode: number | null, explicit: boolean): void;
  putLink(volume: Volume, path: VfsPath, target: string): void;
  /** Removes the row of exactly this path. */
  remove(volume: Volume, path: VfsPath): void;
  removeBelow(volume: Volume, path: VfsPath): void;
  /**
   * Renames the entry at `from` and all its descendants. There is nothing at `to`; `replaced` is the version of the
   * former entry, 0 for none.
   */
  rename(from: VfsAddress, to: VfsAddress, directory: boolean, replaced: number): void;
}

export interface TreeParts {
  rows: TableReader;
  changes: TreeWriter;
  maxFileBytes: number;
  /** Runs one write. It is kept as a whole; on an error nothing of it is kept. */
  run<T>(change: () => T): T;
  /** Throws `quota_exceeded` when this many bytes more do not fit. See `Quota.reserve`. */
  reserve(bytes: number, margin?: boolean): void;
  /** Maps the error of a write of this many bytes to the contract's error. */
  explain(error: unknown, bytes: number): unknown;
}

export class Tree {
  readonly #parts: TreeParts;
  readonly #rows: TableReader;
  readonly #changes: TreeWriter;

  constructor(parts: TreeParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
    this.#changes = parts.changes;
  }
  /**
   * Writes a whole file and creates missing parents. A missing `mode` keeps the current one. Throws `too_large`,
   * `quota_exceeded`, `precondition_failed`, `conflict` where a directory or a link is in the way, `validation`,
   * `unknown_volume`.
   */
  put(
    path: VfsPath,
    content: Uint8Array,
    volume: Volume = DEFAULT_VOLUME,
    options: { mode?: number; condition?: WriteCondition } = {},
  ): { created: boolean; stat: VfsStat } {
    const at: VfsAddress = { volume, path };
    requireSize(at, content.byteLength, this.#parts.maxFileBytes);
    return this.write(content.byteLength, () => {
      const current = this.#rows.entry(at.volume, at.path);
      const file = current?.kind === 'file' ? current : null;
      requireCondition(at, file, options.condition);
      if (current && !file) throw conflict(at, current.kind === 'dir' ? 'is a directory' : 'is a link');
      if (!file) this.#requireDirectories(at);
      this.#parts.reserve(content.byteLength - (file?.size ?? 0));
      const stat = this.#changes.putFile(at.volume, at.path, content, file, options.mode ?? null);
      return { created: !file, stat };
    });
  }

  /** Runs what appends to a file, which may matter to what keeps the changes. */
  append<T>(_path: VfsPath, _volume: Volume, write: () => T): T {
    return write();
  }

  /** The content of the file at exactly this path; null for a directory, a link or nothing. */
  get(path: VfsPath, volume: Volume = DEFAULT_VOLUME): Uint8Array | null {
    const at: VfsAddress = { volume, path };
    return this.read(() => this.#rows.content(at.volume, at.path));
  }

  /** Bytes `start` to `end` of a file, both inclusive; cut at the end of the file. */
  slice(path: VfsPath, volume: Volume, start: number, end: number): Uint8Array | null {
    const at: VfsAddress = { volume, path };
    return this.read(() => this.#rows.slice(at.volume, at.path, start, end));
  }

  /** Size, time and version of a file; null for a directory, a link or nothing. */
  stat(path: VfsPath, volume: Volume = DEFAULT_VOLUME): VfsStat | null {
    const at: VfsAddress = { volume, path };
    return this.read(() => {
      const file = this.#rows.file(at.volume, at.path);
      return file && entryStat(file);
    });
  }

  /** The entry at a path: a file, a link (not followed), or a directory, explicit or implied by a deeper path. */
  entry(path: VfsPath, volume: Volume = DEFAULT_VOLUME): VfsEntry | null {
    const at: VfsAddress = { volume, path };
    return this.read(() => this.#rows.entry(at.volume, at.path));
  }

  /**
   * The explicit directory or the link at a path: what has a mode of its own. A directory that only what is in it
   * implies has the mode of all such; to find that costs a look past everything that the call has removed there.
   */
  node(path: VfsPath, volume: Volume = DEFAULT_VOLUME): VfsEntry | null {
    return this.read(() => this.#rows.node(volume, path));
  }

  /** Direct children by name. Throws `not_found`, and `conflict` for an entry that is not a directory. */
  readdir(path: VfsPath, volume: Volume = DEFAULT_VOLUME): VfsEntry[] {
    const at: VfsAddress = { volume, path };
    return this.read(() => {
      const children = this.#rows.children(at.volume, at.path);
      if (children.length === 0) this.#requireDirectory(at);
      else if (this.#rows.blocker(at.volume, [at.path])) throw conflict(at, 'is not a directory');
      return children;
    });
  }

  /**
   * Makes a directory. Throws `conflict` when the path is taken (a directory is fine when `recursive`), `not_found`
   * without a parent.
   */
  mkdir(path: VfsPath, volume: Volume = DEFAULT_VOLUME, options: { recursive?: boolean; mode?: number } = {}): void {
    const at: VfsAddress = { volume, path };
    this.write(0, () => {
      const current = this.#rows.entry(at.volume, at.path);
      if (current?.kind === 'dir' && options.recursive) return;
      if (current) throw conflict(at, 'already exists');
      this.#requireDirectories(at);
      for (const above of ancestorsOf(at.path)) {
        if (this.#rows.node(at.volume, above)) continue;
        if (!options.recursive && !this.#rows.hasBelow(at.volume, above)) throw notFound({ ...at, path: above });
        if (options.recursive) this.#changes.putDirectory(at.volume, above, null, false);
      }
      this.#changes.putDirectory(at.volume, at.path, options.mode ?? null, true);
    });
  }

  /**
   * Removes an empty directory. Throws `not_found`, and `conflict` for the root, a directory with children, or an entry
   * that is not a directory.
   */
  rmdir(path: VfsPath, volume: Volume = DEFAULT_VOLUME): void {
    const at: VfsAddress = { volume, path };
    this.write(0, () => {
      this.#requireDirectory(at);
      if (at.path === '/') throw conflict(at, 'is the root');
      if (this.#rows.hasBelow(at.volume, at.path)) throw conflict(at, 'is not empty');
      this.#changes.remove(at.volume, at.path);
      this.#keepParent(at);
    });
  }

  /**
   * Makes a symbolic link; `target` is stored as given and resolved by the reader. Throws `conflict` when the path is
   * taken.
   */
  link(path: VfsPath, target: string, volume: Volume = DEFAULT_VOLUME): void {
    const at: VfsAddress = { volume, path };
    requireTarget(at, target);
    this.write(0, () => {
      if (this.#rows.entry(at.volume, at.path)) throw conflict(at, 'already exists');
      this.#requireDirectories(at);
      this.#changes.putLink(at.volume, at.path, target);
    });
  }

  /** Sets the permission bits of an entry. Throws `not_found`. The version stays. */
  chmod(path: VfsPath, mode: number, volume: Volume = DEFAULT_VOLUME): void {
    const at: VfsAddress = { volume, path };
    this.write(0, () => {
      this.#changes.setAttributes(at.volume, at.path, this.#expect(at), mode & 0o7777, null);
    });
  }

  /** Sets the modification time, in whole epoch seconds. Throws `not_found`, `validation`. The version stays. */
  utimes(path: VfsPath, mtimeSeconds: number, volume: Volume = DEFAULT_VOLUME): void {
    const at: VfsAddress = { volume, path };
    if (!Number.isFinite(mtimeSeconds) || mtimeSeconds < 0) {
      throw new WinterdockError('validation', `The time of ${named(at)} must be seconds since 1970.`);
    }
    this.write(0, () => {
      const current = this.#expect(at);
      if (current.kind === 'file') this.#parts.reserve(1, true);
      this.#changes.setAttributes(at.volume, at.path, current, current.mode, Math.floor(mtimeSeconds));
    });
  }

  /**
   * Removes a file or link, or with `recursive` a directory and its descendants (for the root: everything in the
   * volume). The parent directory stays. False when there is nothing. Throws `conflict` for a directory without
   * `recursive`, `precondition_failed`.
   */
  delete(
    path: VfsPath,
    volume: Volume = DEFAULT_VOLUME,
    options: { recursive?: boolean; condition?: WriteCondition } = {},
  ): boolean {
    const at: VfsAddress = { volume, path };
    return this.write(0, () => {
      const current = this.#rows.entry(at.volume, at.path);
      requireCondition(at, current?.kind === 'file' ? current : null, options.condition);
      if (!current) return false;
      if (current.kind === 'dir' && !options.recursive) throw conflict(at, 'is a directory');
      this.#changes.remove(at.volume, at.path);
      if (options.recursive) this.#changes.removeBelow(at.volume, at.path);
      this.#keepParent(at);
      return true;
    });
  }

  /**
   * Moves a file, a link or a whole directory, also to another volume; times and modes are kept, versions are new.
   * Throws `not_found`; `conflict` when `to` is taken, for the root, and for a directory into itself. With `replace`, a
   * file or link replaces a file or link, and a directory replaces an empty directory, as in rename(2).
   */
  move(source: VfsAddress, target: VfsAddress, options: { replace?: boolean } = {}): void {
    this.write(0, () => {
      const moved = this.#expect(source);
      if (source.volume === target.volume && source.path === target.path) return;
      if (source.path === '/') throw conflict(source, 'is the root');
      const directory = moved.kind === 'dir';
      if (directory && source.volume === target.volume && target.path.startsWith(`${source.path}/`)) {
        throw conflict(target, 'lies inside what is moved');
      }
      const inTheWay = this.#rows.entry(target.volume, target.path);
      if (inTheWay) {
        const givesWay = options.replace && directory === (inTheWay.kind === 'dir') && target.path !== '/';
        if (!givesWay) throw conflict(target, 'already exists');
        if (directory && this.#rows.hasBelow(target.volume, target.path)) throw conflict(target, 'is not empty');
        this.#changes.remove(target.volume, target.path);
      }
      this.#requireDirectories(target);
      if (directory) this.#requireShortPaths(source, target);
      this.#parts.reserve(1, true);
      this.#changes.rename(source, target, directory, inTheWay?.version ?? 0);
      this.#keepParent(source);
    });
  }

  /** Runs a read and maps its errors to the contract's. */
  protected read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw translateSqliteError(error);
    }
  }

  protected write<T>(bytes: number, change: () => T): T {
    try {
      return this.#parts.run(change);
    } catch (error) {
      throw this.#parts.explain(error, bytes);
    }
  }

  #expect(at: VfsAddress): VfsEntry {
    const entry = this.#rows.entry(at.volume, at.path);
    if (!entry) throw notFound(at);
    return entry;
  }

  #requireDirectory(at: VfsAddress): void {
    if (this.#expect(at).kind !== 'dir') throw conflict(at, 'is not a directory');
  }

  /** A new entry needs directories above it, and names that a file system of the machine takes. */
  #requireDirectories(at: VfsAddress): void {
    requireShortNames(at, (path) => this.#rows.entry(at.volume, path) !== null);
    const blocker = this.#rows.blocker(at.volume, ancestorsOf(at.path));
    if (blocker) throw conflict({ volume: at.volume, path: blocker.path }, 'is not a directory');
  }

  /** The descendants of a moved directory get new paths of another length, so they are parsed again. */
  #requireShortPaths(source: VfsAddress, target: VfsAddress): void {
    const longest = this.#rows.longestBelow(source.volume, source.path);
    if (longest === null) return;
    parseVfsPath(target.path + longest.slice(source.path.length));
  }

  /** The parent of a removed entry stays a directory, although no deeper path implies it any more. */
  #keepParent(at: VfsAddress): void {
    const parent = parentPath(at.path);
    if (parent === '/' || this.#rows.entry(at.volume, parent)) return;
    this.#changes.putDirectory(at.volume, parent, null, false);
  }
}
