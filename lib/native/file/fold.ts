/**
 * Folding: what an awake file has changed becomes rows of the seed's table again, when the file is put to rest. Every
 * step leaves a file that is awake and whole, and commits by itself: a process that is killed meanwhile has lost
 * nothing, and the next one goes on. It costs what has changed, whatever the file holds.
 */
import type { Clock } from '../../base/clock.ts';
import type { Statements } from '../../vfs/statements.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { Contents } from './contents.ts';
import { type Inode, isSpecial, restingSeconds, S_IFDIR, S_IFLNK, S_IFREG, STALE_CONTENT } from './inode.ts';
import type { Inodes } from './inodes.ts';
import { type Link, type Links, NOWHERE } from './links.ts';
import { type Merge, notedPath, notedPlace } from './merge.ts';
import { entryPath } from './names.ts';
import { WHOLE_BYTES } from './tables.ts';

interface FoldParts {
  statements: Statements;
  clock: Clock;
  inodes: Inodes;
  links: Links;
  contents: Contents;
  merge: Merge;
  begin: () => void;
  /** Makes everything so far durable. */
  commit: () => void;
}

/** Bytes that are written to rows in one transaction. */
const STEP_BYTES = 16 * 1024 * 1024;
/** Links whose rows are moved in one transaction. */
const STEP_LINKS = 1000;
/** A volume that is none, for rows that have no path just now. */
const PARKED = '';
const PARKED_MARK = '!';

export class Fold {
  readonly #parts: FoldParts;
  #version = 0;
  #bytes = 0;

  constructor(parts: FoldParts) {
    this.#parts = parts;
  }

  /** Brings the seed's table up to date, and commits. Nothing is in use, and nameless inodes have ended. */
  run(): void {
    const { statements, commit, begin, clock } = this.#parts;
    begin();
    const counter = statements.get<{ version: number }>("SELECT version FROM vfs_node WHERE volume = '' AND path = ''");
    this.#version = Math.max((counter?.version ?? 0) + 1, clock.now() * 1000);
    statements.run("UPDATE vfs_node SET version = ? WHERE volume = '' AND path = ''", this.#version);
    this.#expandMoved();
    commit();
    this.#foldInodes();
    this.#foldLinks();
    commit();
    begin();
    statements.run('DELETE FROM vfs WHERE volume = ?', PARKED);
    statements.run('UPDATE native_link SET origin = NULL WHERE origin IS NOT NULL');
    statements.run('UPDATE native_inode SET stale = 0 WHERE stale <> 0');
  }

  /** Notes the place of everything in a directory that was moved: its rows move one by one. */
  #expandMoved(): void {
    const { links, inodes, merge, begin } = this.#parts;
    const moved = links.moved().map((id) => links.byId(id));
    const directories = moved.flatMap((link) => (link === null ? [] : [inodes.get(link.ino)]));
    for (const directory of directories) {
      if (directory.kind !== S_IFDIR || merge.originOf(directory) === null) continue;
      merge.complete(directory);
      begin();
      for (const link of links.after(directory.ino, 0, Number.MAX_SAFE_INTEGER)) {
        if (link.origin !== null) continue;
        const inode = inodes.get(link.ino);
        // Its own entries are looked for where they are, not where it will be.
        if (inode.kind === S_IFDIR) merge.originOf(inode);
        links.setOrigin(link.id, isSpecial(inode.kind) ? NOWHERE : merge.originOfLink(link, directory));
        if (inode.kind === S_IFDIR) directories.push(inode);
      }
      inodes.change(directory);
    }
  }

  /** Files with other contents or times, and other entries with other attributes. */
  #foldInodes(): void {
    const { statements, inodes, links } = this.#parts;
    const stale = statements.all<{ ino: number }>('SELECT ino FROM native_inode WHERE stale <> 0 ORDER BY ino');
    for (const { ino } of stale) {
      const inode = inodes.get(ino);
      this.#parts.begin();
      if (inode.kind === S_IFREG) {
        if ((inode.stale & STALE_CONTENT) === 0) this.#foldTimes(inode);
        else this.#foldContent(inode);
      } else if (inode.kind === S_IFDIR || inode.kind === S_IFLNK) {
        for (const link of links.of(ino)) if (link.origin === null) this.#putNode(inode, this.#placeOfLink(link), 0);
      }
      inode.stale = 0;
      inodes.change(inode);
      this.#step(0);
    }
  }

  /** A file whose rows have its content, but not its attributes. */
  #foldTimes(inode: Inode): void {
    const { statements, links } = this.#parts;
    for (const link of links.of(inode.ino)) {
      if (link.origin !== null) continue;
      const { volume, path } = this.#placeOfLink(link);
      const row = this.#rowAt(volume, path);
      const mtime = restingSeconds(inode.mtime);
      const sql = 'UPDATE vfs SET mtime = ? WHERE rowid = ? AND mtime IS NOT ?';
      if (row !== null) statements.run(sql, mtime, row, mtime);
      this.#putNode(inode, { volume, path }, row ?? 0);
      links.setVersion(link.id, this.#version);
    }
  }

  /** A file with another content: a row for each of its names. */
  #foldContent(inode: Inode): void {
    const { statements, links, contents } = this.#parts;
    const isWhole = inode.size <= WHOLE_BYTES;
    let content: Buffer | null = null;
    if (isWhole) {
      content = Buffer.allocUnsafeSlow(inode.size);
      contents.read(inode, 0, inode.size, content, 0);
    } else contents.copyBase(inode);
    const rows = new Set<number>();
    for (const link of links.of(inode.ino)) {
      const to = this.#placeOfLink(link);
      const from = link.origin ?? notedPlace(to.volume, to.path);
      if (!from.equals(notedPlace(to.volume, to.path))) this.#leave(from);
      this.#vacate(to, link);
      statements.run(
        `INSERT INTO vfs (volume, path, content, mtime) SELECT ?, CAST(? AS TEXT), ${isWhole ? "ifnull(?, x'')" : '?'}, ? WHERE true
         ON CONFLICT(volume, path) DO UPDATE SET content = excluded.content, mtime = excluded.mtime`,
        ...[to.volume, to.path, content, restingSeconds(inode.mtime)],
      );
      const row = this.#rowAt(to.volume, to.path) ?? 0;
      rows.add(row);
      this.#putNode(inode, to, row);
      this.#arrive(link, to);
    }
    if (inode.contentRow !== 0 && !rows.has(inode.contentRow))
      statements.run('DELETE FROM vfs WHERE rowid = ?', inode.contentRow);
    if (isWhole) contents.remove(inode);
    inode.contentRow = [...rows][0] ?? 0;
    inode.base = isWhole ? inode.size : 0;
    // Rows have other numbers and contents now.
    contents.relax();
    this.#step(isWhole ? inode.size * rows.size : STEP_BYTES);
  }

  /** Names that are new, or were renamed. */
  #foldLinks(): void {
    const { links, inodes, begin } = this.#parts;
    let count = 0;
    for (const id of links.moved()) {
      const link = links.byId(id);
      if (link?.origin == null) continue;
      const to = this.#placeOfLink(link);
      if (link.origin.equals(notedPlace(to.volume, to.path))) continue;
      begin();
      const inode = inodes.get(link.ino);
      if (inode.kind === S_IFREG) this.#moveRow(link, link.origin, to, inode);
      else if (!isSpecial(inode.kind)) {
        this.#leave(link.origin);
        this.#vacate(to, link);
        this.#putNode(inode, to, 0);
        this.#arrive(link, to);
      }
      count += 1;
      if (count % STEP_LINKS === 0) this.#step(STEP_BYTES);
    }
  }

  /** Moves the row of a file to its path: a content that nobody changed is written once more, and not read. */
  #moveRow(link: Link, from: Buffer, to: Place, inode: Inode): void {
    const { statements } = this.#parts;
    const row = this.#rowOf(from) ?? inode.contentRow;
    this.#vacate(to, link);
    const sql = 'UPDATE vfs SET volume = ?, path = CAST(? AS TEXT), mtime = ? WHERE rowid = ?';
    statements.run(sql, to.volume, to.path, restingSeconds(inode.mtime), row);
    const place = notedPath(from);
    if (place !== null) this.#dropNode(place);
    this.#putNode(inode, to, row);
    this.#arrive(link, to);
    this.#step(inode.size);
  }

  /** Removes what a link has at its former place. */
  #leave(from: Buffer): void {
    const row = this.#rowOf(from);
    if (row !== null) this.#parts.statements.run('DELETE FROM vfs WHERE rowid = ?', row);
    const place = notedPath(from);
    if (place !== null) this.#dropNode(place);
  }

  /** Makes a place free for a link. Who still has it in use is noted elsewhere, until its turn comes. */
  #vacate(to: Place, link: Link): void {
    const { statements, links, inodes } = this.#parts;
    const owner = link.origin === null ? null : links.byOrigin(notedPlace(to.volume, to.path));
    if (link.origin === null || owner?.id === link.id) return;
    const row = this.#rowAt(to.volume, to.path);
    if (row !== null)
      statements.run('UPDATE vfs SET volume = ?, path = ? WHERE rowid = ?', PARKED, `${PARKED_MARK}${row}`, row);
    if (owner !== null) {
      const isFile = row !== null && inodes.get(owner.ino).kind === S_IFREG;
      links.setOrigin(owner.id, isFile ? Buffer.from(`${PARKED_MARK}${row}`) : NOWHERE);
    }
    this.#dropNode(to);
  }

  #arrive(link: Link, to: Place): void {
    const { links } = this.#parts;
    links.setVersion(link.id, this.#version);
    if (link.origin !== null) links.setOrigin(link.id, notedPlace(to.volume, to.path));
  }

  /** Says in the second table what an entry is. */
  #putNode(inode: Inode, { volume, path }: Place, row: number): void {
    const { statements, links } = this.#parts;
    const isFile = inode.kind === S_IFREG;
    const kind = isFile ? 'file' : inode.kind === S_IFDIR ? 'dir' : 'link';
    const size = inode.size > WHOLE_BYTES ? 0 : inode.size;
    statements.run(
      `INSERT INTO vfs_node (volume, path, kind, mode, mtime, size, row, version, target)
       SELECT ?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, CAST(? AS TEXT) WHERE true
       ON CONFLICT(volume, path) DO UPDATE SET kind = excluded.kind, mode = excluded.mode, mtime = excluded.mtime,
         size = excluded.size, row = excluded.row, version = excluded.version, target = excluded.target`,
      ...[volume, path, kind, kind === 'link' ? null : inode.mode, restingSeconds(inode.mtime)],
      ...[isFile ? size : null, isFile ? row : null, this.#version, inode.target],
    );
    if (isFile) return;
    for (const link of links.of(inode.ino)) links.setVersion(link.id, this.#version);
  }

  #dropNode({ volume, path }: Place): void {
    const sql = 'DELETE FROM vfs_node WHERE volume = ? AND path = CAST(? AS TEXT)';
    this.#parts.statements.run(sql, volume, path);
  }

  #placeOfLink(link: Link): Place {
    const { inodes } = this.#parts;
    const directory = inodes.get(link.parent);
    return { volume: directory.volume ?? 'workspace', path: entryPath(inodes.pathOf(directory), link.name) };
  }

  /** The row of a noted place; null where there is none. */
  #rowOf(noted: Buffer): number | null {
    const text = noted.toString('latin1');
    if (text.startsWith(PARKED_MARK)) return Number(text.slice(PARKED_MARK.length));
    const place = notedPath(noted);
    return place === null ? null : this.#rowAt(place.volume, place.path);
  }

  #rowAt(volume: string, path: Buffer): number | null {
    const sql = 'SELECT rowid AS row FROM vfs WHERE volume = ? AND path = CAST(? AS TEXT)';
    return this.#parts.statements.get<{ row: number }>(sql, volume, path)?.row ?? null;
  }

  /** Commits when enough was written. */
  #step(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < STEP_BYTES) return;
    this.#bytes = 0;
    this.#parts.commit();
  }
}

interface Place {
  volume: Volume;
  path: Buffer;
}
