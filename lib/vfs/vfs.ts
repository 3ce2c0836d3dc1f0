/**
 * The files of one sandbox over one SQLite handle: three volumes of paths, with directories, links, modes and versions. Owns the
 * rules of SPEC.md; knows nothing of processes, HTTP or where the file lies.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../clock.ts';
import { WinterdockError } from '../errors.ts';
import { Changes } from './changes.ts';
import { FULL, resultCodeOf, translateFailure } from './failures.ts';
import { ancestorsOf, normalisePath, parentOf } from './paths.ts';
import { Quota } from './quota.ts';
import type { Entry, FileStat, WriteCondition } from './read.ts';
import {
  conflict,
  named,
  notFound,
  type Place,
  placeOf,
  requireCondition,
  requireSize,
  requireTarget,
} from './refusals.ts';
import { Rows, statOf } from './rows.ts';
import { inspectSchema, type Schema } from './schema.ts';
import { type SearchHit, type SearchRequest, searchFiles } from './search.ts';
import { Statements } from './statements.ts';
import { listFiles, volumeSizes } from './surveys.ts';
import { Transaction } from './transaction.ts';
import { asVolume, DEFAULT_VOLUME, type Volume } from './volumes.ts';

export type { Entry } from './read.ts';
export type { Place } from './refusals.ts';

export class Vfs {
  readonly db: DatabaseSync;
  readonly #maxFileBytes: number;
  readonly #rows: Rows;
  readonly #changes: Changes;
  readonly #transaction: Transaction;
  readonly #quota: Quota;
  readonly #statements: Statements;
  readonly #nodes: boolean;

  /**
   * Over an open handle whose file has the seed's table. `schema` saves looking at it again. Throws `corrupt` for a file that is
   * none of ours. Files larger than `maxFileBytes` are refused. `enterWal` is run before the first write.
   */
  constructor(
    db: DatabaseSync,
    limits: { maxFileBytes: number; clock?: Clock },
    schema: Schema = inspectSchema(db),
    enterWal: (() => void) | null = null,
  ) {
    this.db = db;
    this.#maxFileBytes = limits.maxFileBytes;
    this.#nodes = schema.nodes;
    this.#statements = new Statements(db);
    this.#rows = new Rows(this.#statements, schema.nodes);
    this.#changes = new Changes(this.#statements, limits.clock ?? systemClock);
    this.#transaction = new Transaction(db, () => this.#changes.storeCounter(), enterWal);
    this.#quota = new Quota(this.#statements);
  }

  /**
   * Writes a whole file; directories above it come into being. A missing `mode` keeps the one that is there. Throws `too_large`,
   * `quota_exceeded`, `precondition_failed`, `conflict` where a directory or a link is in the way, `validation`, `unknown_volume`.
   */
  put(
    path: string,
    content: Uint8Array,
    volume: Volume = DEFAULT_VOLUME,
    options: { mode?: number; condition?: WriteCondition } = {},
  ): { created: boolean; stat: FileStat } {
    const at = placeOf(volume, path);
    requireSize(at, content.byteLength, this.#maxFileBytes);
    return this.#write(content.byteLength, () => {
      const current = this.#rows.entry(at.volume, at.path);
      const file = current?.kind === 'file' ? current : null;
      requireCondition(at, file, options.condition);
      if (current && !file) throw conflict(at, current.kind === 'dir' ? 'is a directory' : 'is a link');
      if (!file) this.#requireDirectories(at);
      this.#quota.reserve(content.byteLength - (file?.size ?? 0));
      this.#changes.putFile(at.volume, at.path, content, file, options.mode ?? null);
      return { created: !file, stat: statOf(this.#expect(at)) };
    });
  }

  /** The content of the file at exactly this path; null for a directory, a link or nothing. */
  get(path: string, volume: Volume = DEFAULT_VOLUME): Uint8Array | null {
    const at = placeOf(volume, path);
    return this.#read(() => this.#rows.content(at.volume, at.path));
  }

  /** Bytes `start` to `end` of a file, both inclusive; what lies past the end is left out. */
  slice(path: string, volume: Volume, start: number, end: number): Uint8Array | null {
    const at = placeOf(volume, path);
    return this.#read(() => this.#rows.slice(at.volume, at.path, start, end));
  }

  /** Size, time and version of a file; null for a directory, a link or nothing. */
  stat(path: string, volume: Volume = DEFAULT_VOLUME): FileStat | null {
    const at = placeOf(volume, path);
    return this.#read(() => {
      const file = this.#rows.file(at.volume, at.path);
      return file && statOf(file);
    });
  }

  /** What is at a path: a file, a link (not followed), or a directory, explicit or implied by a deeper path. */
  entry(path: string, volume: Volume = DEFAULT_VOLUME): Entry | null {
    const at = placeOf(volume, path);
    return this.#read(() => this.#rows.entry(at.volume, at.path));
  }

  /** Direct children by name. Throws `not_found`, and `conflict` for what is no directory. */
  readdir(path: string, volume: Volume = DEFAULT_VOLUME): Entry[] {
    const at = placeOf(volume, path);
    return this.#read(() => {
      const children = this.#rows.children(at.volume, at.path);
      if (children.length === 0) this.#requireDirectory(at);
      else if (this.#rows.blocker(at.volume, [at.path])) throw conflict(at, 'is not a directory');
      return children;
    });
  }

  /** Directories of a volume that were made, by path; those that only a deeper path implies are not among them. */
  directories(volume: Volume): string[] {
    return this.#read(() => this.#rows.directories(asVolume(volume)));
  }

  /** Files of a volume by path, `limit` at a time; `next` is the `after` of the following page. Paths begin with `prefix`. */
  list(
    volume: Volume,
    options: { prefix?: string; limit: number; after?: string },
  ): { files: { path: string; size: number; mtime: number }[]; next: string | null } {
    return this.#read(() => listFiles(this.#statements, this.#nodes, asVolume(volume), options));
  }

  /** Makes a directory. Throws `conflict` when something is there (a directory is fine when `recursive`), `not_found` without a parent. */
  mkdir(path: string, volume: Volume = DEFAULT_VOLUME, options: { recursive?: boolean; mode?: number } = {}): void {
    const at = placeOf(volume, path);
    this.#write(0, () => {
      const current = this.#rows.entry(at.volume, at.path);
      if (current?.kind === 'dir' && options.recursive) return;
      if (current) throw conflict(at, 'already exists');
      this.#requireDirectories(at);
      for (const above of ancestorsOf(at.path)) {
        if (this.#rows.node(at.volume, above)) continue;
        if (!options.recursive && !this.#rows.hasBelow(at.volume, above)) throw notFound({ ...at, path: above });
        if (options.recursive) this.#changes.putDirectory(at.volume, above, null, null);
      }
      this.#changes.putDirectory(at.volume, at.path, options.mode ?? null, null);
    });
  }

  /** Removes an empty directory. Throws `not_found`, and `conflict` for the root, a directory with something in it, or no directory. */
  rmdir(path: string, volume: Volume = DEFAULT_VOLUME): void {
    const at = placeOf(volume, path);
    this.#write(0, () => {
      this.#requireDirectory(at);
      if (at.path === '/') throw conflict(at, 'is the root');
      if (this.#rows.hasBelow(at.volume, at.path)) throw conflict(at, 'is not empty');
      this.#changes.remove(at.volume, at.path);
      this.#keepParent(at);
    });
  }

  /** Makes a symbolic link; `target` is kept as given and looked up by whoever follows it. Throws `conflict` when something is there. */
  link(path: string, target: string, volume: Volume = DEFAULT_VOLUME): void {
    const at = placeOf(volume, path);
    requireTarget(at, target);
    this.#write(0, () => {
      if (this.#rows.entry(at.volume, at.path)) throw conflict(at, 'already exists');
      this.#requireDirectories(at);
      this.#changes.putLink(at.volume, at.path, target, null, null);
    });
  }

  /** Sets the permission bits of what is at a path. Throws `not_found`. The version stays. */
  chmod(path: string, mode: number, volume: Volume = DEFAULT_VOLUME): void {
    const at = placeOf(volume, path);
    this.#write(0, () => {
      const current = this.#expect(at);
      this.#rewrite(at, current, mode & 0o7777, current.mtime);
    });
  }

  /** Sets the modification time, in whole epoch seconds. Throws `not_found`, `validation`. The version stays. */
  utimes(path: string, mtimeSeconds: number, volume: Volume = DEFAULT_VOLUME): void {
    const at = placeOf(volume, path);
    if (!Number.isFinite(mtimeSeconds) || mtimeSeconds < 0) {
      throw new WinterdockError('validation', `The time of ${named(at)} must be seconds since 1970.`);
    }
    this.#write(0, () => {
      const current = this.#expect(at);
      if (current.kind === 'file') {
        this.#quota.reserve(1, true);
        this.#changes.setFileTime(at.volume, at.path, Math.floor(mtimeSeconds));
      }
      this.#rewrite(at, current, current.mode, Math.floor(mtimeSeconds));
    });
  }

  /**
   * Removes a file or link, or with `recursive` a directory and all below it (the root: everything in the volume). The directory it lay
   * in stays. False when nothing is there. Throws `conflict` for a directory without `recursive`, `precondition_failed`.
   */
  delete(
    path: string,
    volume: Volume = DEFAULT_VOLUME,
    options: { recursive?: boolean; condition?: WriteCondition } = {},
  ): boolean {
    const at = placeOf(volume, path);
    return this.#write(0, () => {
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
   * Moves a file, a link or a whole directory, also to another volume; times and modes go along, versions are new. Throws `not_found`;
   * `conflict` when something is at `to`, for the root, and for a directory into itself. With `replace` a file or link at `to` gives way to a
   * file or link, and an empty directory to a directory, as rename does.
   */
  move(from: Place, to: Place, options: { replace?: boolean } = {}): void {
    const source = placeOf(from.volume, from.path);
    const target = placeOf(to.volume, to.path);
    this.#write(0, () => {
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
      this.#quota.reserve(1, true);
      this.#changes.rename(source, target, directory, inTheWay?.version ?? 0);
      this.#keepParent(source);
    });
  }

  /** Removes everything in a volume. */
  clear(volume: Volume): void {
    const name = asVolume(volume);
    this.#write(0, () => this.#changes.clear(name));
  }

  /** Paths, or lines of text files, that contain `text`, whatever its case. See `searchFiles`. */
  search(request: SearchRequest): { hits: SearchHit[]; truncated: boolean } {
    return this.#read(() => searchFiles(this.#statements, request));
  }

  /** Files and bytes of every volume, always the three. */
  sizes(): { volume: Volume; files: number; bytes: number }[] {
    return this.#read(() => volumeSizes(this.#statements));
  }

  /** Opens a group of writes that become durable together, or joins the open one. The lock is taken by the first write. */
  begin(): void {
    this.#transaction.begin();
  }

  /** Ends what the matching `begin` opened; the outermost makes all durable before it returns. */
  commit(): void {
    try {
      this.#transaction.commit();
    } catch (error) {
      throw this.#quota.explain(error, 0) ?? translateFailure(error);
    }
  }

  /** Undoes the whole open group; does nothing when none is open. */
  rollback(): void {
    this.#transaction.rollback();
  }

  /** Makes a file that was opened with `walLater` ready for writes before the first one comes. Throws `conflict`; a write tries again. */
  prepareToWrite(): void {
    this.#transaction.prepare();
  }

  /** True between `begin` and its end. */
  get inTransaction(): boolean {
    return this.#transaction.open;
  }

  /** Closes the handle as it is; a live file stays in WAL mode (see `closeToRest`). Idempotent. */
  close(): void {
    if (this.db.isOpen) this.db.close();
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw translateFailure(error);
    }
  }

  #write<T>(bytes: number, change: () => T): T {
    try {
      return this.#transaction.run(change);
    } catch (error) {
      throw this.#quota.explain(error, bytes) ?? translateFailure(error);
    }
  }

  #expect(at: Place): Entry {
    const entry = this.#rows.entry(at.volume, at.path);
    if (!entry) throw notFound(at);
    return entry;
  }

  #requireDirectory(at: Place): void {
    if (this.#expect(at).kind !== 'dir') throw conflict(at, 'is not a directory');
  }

  #requireDirectories(at: Place): void {
    const blocker = this.#rows.blocker(at.volume, ancestorsOf(at.path));
    if (blocker) throw conflict({ volume: at.volume, path: blocker.path }, 'is not a directory');
  }

  #requireShortPaths(source: Place, target: Place): void {
    const longest = this.#rows.longestBelow(source.volume, source.path);
    if (longest === null) return;
    normalisePath(target.path + longest.slice(source.path.length));
  }

  /** Writes the second table's row for what is there, with another mode or time. */
  #rewrite(at: Place, current: Entry, mode: number, mtimeSeconds: number): void {
    if (current.kind === 'file') this.#changes.recordFiles(at.volume, at.path, false, current.version, mode);
    else if (current.kind === 'dir') this.#changes.putDirectory(at.volume, at.path, mode, mtimeSeconds);
    else this.#changes.putLink(at.volume, at.path, current.target ?? '', mode, mtimeSeconds);
  }

  /** The directory that something was taken from stays, although nothing implies it any more. */
  #keepParent(at: Place): void {
    const parent = parentOf(at.path);
    if (parent === '/' || this.#rows.entry(at.volume, parent)) return;
    try {
      this.#changes.putDirectory(at.volume, parent, null, null);
    } catch (error) {
      // A full sandbox must still be able to delete; without the row the empty directory is gone, and nothing else.
      if (resultCodeOf(error) !== FULL || !this.db.isTransaction) throw error;
    }
  }
}
