/**
 * The inodes of an awake file: read on their first use, kept while the kernel knows them, and written before a commit.
 * Owns their numbers. Knows nothing of names and contents.
 */
import type { Clock } from '../../base/clock.ts';
import { corruptFile } from '../../vfs/sqlite-errors.ts';
import type { Statements } from '../../vfs/statements.ts';
import type { Volume } from '../../vfs/volumes.ts';
import { ENOENT, endWith } from './errno.ts';
import { type FileTime, type Inode, NO_BYTES, S_IFDIR } from './inode.ts';
import { FIRST_FREE, ROOT_INO, VOLUME_INOS } from './tables.ts';

interface InodeRow {
  ino: number;
  kind: number;
  mode: number;
  nlink: number;
  size: number;
  atime: number;
  atime_ns: number;
  mtime: number;
  mtime_ns: number;
  ctime: number;
  ctime_ns: number;
  target: Uint8Array | null;
  content_row: number;
  base: number;
  charge: number;
  stale: number;
  session: number;
}

/** Inodes that are kept although the kernel does not know them. */
const KEPT = 4096;
/** No file of this profile has deeper folders: a file with a circle of links ends here. */
const MAX_DEPTH = 100_000;

export class Inodes {
  readonly #statements: Statements;
  readonly #clock: Clock;
  readonly #session: number;
  readonly #known = new Map<number, Inode>();
  readonly #dirty = new Set<Inode>();
  #nextIno: number;
  #lastMs = 0;
  #lastNanos = 0;

  constructor(statements: Statements, options: { clock: Clock; session: number; nextIno: number }) {
    this.#statements = statements;
    this.#clock = options.clock;
    this.#session = options.session;
    this.#nextIno = options.nextIno;
    const now = this.now();
    this.#known.set(ROOT_INO, {
      ...{ ino: ROOT_INO, kind: S_IFDIR, volume: null, mode: 0o555, nlink: 5, size: 0, target: null, contentRow: 0 },
      ...{ atime: now, mtime: now, ctime: now, base: 0, charge: 0, stale: 0, isMerged: true, origin: null },
      ...{ parent: ROOT_INO, name: NO_BYTES, lookups: 1, isDirty: false },
    });
  }

  /** The number that the next inode gets. */
  get nextIno(): number {
    return this.#nextIno;
  }

  /** The present time. No two are the same while the clock goes forward, although it counts milliseconds. */
  now(): FileTime {
    const ms = this.#clock.now();
    this.#lastNanos = ms === this.#lastMs ? Math.min(this.#lastNanos + 1000, 999_999) : 0;
    this.#lastMs = ms;
    const seconds = Math.floor(ms / 1000);
    return { seconds, nanos: (ms - seconds * 1000) * 1_000_000 + this.#lastNanos };
  }

  /** The inode of a number; ends the request with ENOENT where there is none. */
  get(ino: number): Inode {
    return this.find(ino) ?? endWith(ENOENT);
  }

  find(ino: number): Inode | null {
    return this.#known.get(ino) ?? this.#read(ino);
  }

  /** A new inode, without a name. */
  make(kind: number, mode: number, volume: Volume): Inode {
    const now = this.now();
    const inode: Inode = {
      ...{ ino: this.#nextIno, kind, volume, mode, nlink: 0, size: 0, target: null, contentRow: 0, base: 0, charge: 0 },
      ...{ atime: now, mtime: now, ctime: now, stale: 0, isMerged: false, origin: undefined, parent: 0 },
      ...{ name: NO_BYTES, lookups: 0, isDirty: false },
    };
    this.#nextIno += 1;
    this.#known.set(inode.ino, inode);
    this.change(inode);
    return inode;
  }

  /** Notes that an inode must be written. */
  change(inode: Inode): void {
    inode.isDirty = true;
    this.#dirty.add(inode);
  }

  get hasChanges(): boolean {
    return this.#dirty.size > 0;
  }

  /** Removes an inode. Its names and contents are removed by the caller. */
  remove(inode: Inode): void {
    this.#known.delete(inode.ino);
    this.#dirty.delete(inode);
    this.#statements.run('DELETE FROM native_inode WHERE ino = ?', inode.ino);
    this.#statements.run('DELETE FROM native_xattr WHERE ino = ?', inode.ino);
  }

  /** Writes what has changed; the caller is in a transaction. */
  flush(): void {
    for (const inode of this.#dirty) {
      this.#statements.run(
        `INSERT OR REPLACE INTO native_inode (ino, kind, mode, nlink, size, atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns,
           target, content_row, base, charge, stale, session) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[inode.ino, inode.kind, inode.mode, inode.nlink, inode.size],
        ...[inode.atime.seconds, inode.atime.nanos, inode.mtime.seconds, inode.mtime.nanos],
        ...[inode.ctime.seconds, inode.ctime.nanos, inode.target, inode.contentRow, inode.base, inode.charge],
        ...[inode.stale, inode.isMerged ? this.#session : 0],
      );
      inode.isDirty = false;
    }
    this.#dirty.clear();
    if (this.#known.size > KEPT) this.#drop();
  }

  /** Forgets inodes that the kernel does not know, so that memory stays bounded. */
  #drop(): void {
    for (const inode of this.#known.values()) {
      if (inode.lookups === 0 && inode.ino >= FIRST_FREE) this.#known.delete(inode.ino);
      if (this.#known.size <= KEPT / 2) return;
    }
  }

  /** Where a directory is; the roots of volumes are their own. */
  parentOf(directory: Inode): Inode {
    if (directory.ino < FIRST_FREE) return directory;
    this.#place(directory);
    return this.get(directory.parent);
  }

  /** The path of a directory in its volume; empty for the volume's root. */
  pathOf(directory: Inode): Buffer {
    const parts: Buffer[] = [];
    for (let at = directory; at.ino >= FIRST_FREE; at = this.parentOf(at)) {
      if (parts.length > MAX_DEPTH) throw corruptFile('its folders lie in a circle');
      this.#place(at);
      parts.push(at.name, SLASH);
    }
    return Buffer.concat(parts.toReversed());
  }

  /** Whether a directory is another one, or lies somewhere in it. */
  isWithin(directory: Inode, other: Inode): boolean {
    let depth = 0;
    for (let at = directory; at.ino >= FIRST_FREE; at = this.parentOf(at)) {
      if (at === other) return true;
      depth += 1;
      if (depth > MAX_DEPTH) throw corruptFile('its folders lie in a circle');
    }
    return directory === other;
  }

  #place(directory: Inode): void {
    if (directory.parent !== 0) return;
    const link = this.#statements.get<{ parent: number; name: Uint8Array }>(
      'SELECT parent, name FROM native_link WHERE ino = ?',
      directory.ino,
    );
    if (link === undefined) endWith(ENOENT);
    directory.parent = link.parent;
    directory.name = Buffer.from(link.name);
  }

  #read(ino: number): Inode | null {
    const row = this.#statements.get<InodeRow>('SELECT * FROM native_inode WHERE ino = ?', ino);
    if (row === undefined) return null;
    const inode: Inode = {
      ...{ ino, kind: row.kind, mode: row.mode, nlink: row.nlink, size: row.size, volume: this.#volumeOf(row) },
      atime: { seconds: row.atime, nanos: row.atime_ns },
      mtime: { seconds: row.mtime, nanos: row.mtime_ns },
      ctime: { seconds: row.ctime, nanos: row.ctime_ns },
      target: row.target === null ? null : Buffer.from(row.target),
      ...{ contentRow: row.content_row, base: row.base, charge: row.charge, stale: row.stale },
      isMerged: row.session === this.#session,
      ...{ origin: undefined, parent: 0, name: NO_BYTES, lookups: 0, isDirty: false },
    };
    this.#known.set(ino, inode);
    return inode;
  }

  /** No entry leaves its volume, so the root that its names lead to tells. */
  #volumeOf({ ino }: InodeRow): Volume | null {
    let at = ino;
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const root = ROOTS.get(at);
      if (root !== undefined) return root;
      const parent = this.#known.get(at)?.volume;
      if (parent) return parent;
      const link = this.#statements.get<{ parent: number }>('SELECT parent FROM native_link WHERE ino = ? LIMIT 1', at);
      if (link === undefined) return null;
      at = link.parent;
    }
    throw corruptFile('its folders lie in a circle');
  }
}

const SLASH = Buffer.from('/');
const ROOTS = new Map<number, Volume>(Object.entries(VOLUME_INOS).map(([volume, ino]) => [ino, volume as Volume]));
