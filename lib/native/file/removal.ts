/**
 * How names and files end: what the seed's table has for a name goes with it, at once, but for the row that holds the
 * content of a file that goes on. Runs in a transaction of the caller.
 */
import type { Statements } from '../../vfs/statements.ts';
import type { Contents } from './contents.ts';
import { type Inode, S_IFREG, STALE_CONTENT } from './inode.ts';
import type { Inodes } from './inodes.ts';
import type { Link, Links } from './links.ts';
import { isHollowRow, type Merge, notedPath } from './merge.ts';
import type { Room } from './room.ts';
import { WHOLE_BYTES } from './tables.ts';

interface RemovalParts {
  statements: Statements;
  inodes: Inodes;
  links: Links;
  contents: Contents;
  merge: Merge;
  room: Room;
}

export class Removal {
  readonly #parts: RemovalParts;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /** Removes a name. The inode's own count of names is the caller's. */
  unname(directory: Inode, link: Link, inode: Inode): void {
    const { statements, links, merge } = this.#parts;
    const place = notedPath(merge.originOfLink(link, directory));
    links.remove(link.id);
    if (place === null) return;
    if (inode.kind === S_IFREG) {
      const row = this.#rowAt(place.volume, place.path);
      if (row !== null && row === inode.contentRow) this.#rehome(inode);
      if (row !== null && row !== inode.contentRow) statements.run('DELETE FROM vfs WHERE rowid = ?', row);
    }
    statements.run('DELETE FROM vfs_node WHERE volume = ? AND path = CAST(? AS TEXT)', place.volume, place.path);
  }

  /** Ends an inode that has no name and is not in use. */
  end(inode: Inode): void {
    const { statements, contents, inodes, room } = this.#parts;
    contents.remove(inode);
    if (inode.contentRow !== 0) statements.run('DELETE FROM vfs WHERE rowid = ?', inode.contentRow);
    inodes.remove(inode);
    room.add(-inode.charge);
  }

  /** Ends every inode without a name: none is in use when a file is opened, or comes to rest. */
  endNameless(): void {
    const { statements, inodes } = this.#parts;
    const rows = statements.all<{ ino: number; size: number; row: number }>(
      'SELECT ino, size, content_row AS row FROM native_inode WHERE nlink = 0',
    );
    for (const { ino, size, row } of rows) {
      // The row of a large file may be found again where another profile moved it.
      if (size > WHOLE_BYTES && isHollowRow(statements, row)) continue;
      const inode = inodes.find(ino);
      if (inode !== null && inode.nlink === 0) this.end(inode);
    }
  }

  /** Empties the volume `tmp`, with everything that rests in it. `root` is its directory. */
  clear(root: Inode): void {
    const { statements, inodes, room } = this.#parts;
    statements.run("DELETE FROM vfs WHERE volume = 'tmp'");
    statements.run("DELETE FROM vfs_node WHERE volume = 'tmp'");
    const below = statements.all<{ ino: number }>(
      `WITH RECURSIVE below (ino) AS (SELECT ino FROM native_link WHERE parent = ?
         UNION SELECT l.ino FROM native_link l JOIN below b ON l.parent = b.ino) SELECT ino FROM below`,
      root.ino,
    );
    for (const { ino } of below) {
      const inode = inodes.find(ino);
      statements.run('DELETE FROM native_link WHERE ino = ?', ino);
      if (inode === null) continue;
      const names = Math.max(0, inode.nlink - 1);
      this.end(inode);
      if (inode.kind === S_IFREG) room.add(-inode.charge * names);
    }
    root.nlink = 2;
    inodes.change(root);
  }

  /** Finds another row with the content of a file whose own goes away; without one the row stays until rest. */
  #rehome(inode: Inode): void {
    const { inodes, links, merge } = this.#parts;
    for (const other of links.of(inode.ino)) {
      const directory = inodes.get(other.parent);
      // Another profile may have written the other row while the file was at rest.
      if (merge.find(directory, other.name)?.ino !== inode.ino) continue;
      const place = notedPath(merge.originOfLink(other, directory));
      const row = place === null ? null : this.#rowAt(place.volume, place.path);
      if (row === null || row === inode.contentRow) continue;
      inode.contentRow = row;
      return;
    }
    if (links.of(inode.ino).length > 0) inode.stale |= STALE_CONTENT;
  }

  #rowAt(volume: string, path: Buffer): number | null {
    const sql = 'SELECT rowid AS row FROM vfs WHERE volume = ? AND path = CAST(? AS TEXT)';
    return this.#parts.statements.get<{ row: number }>(sql, volume, path)?.row ?? null;
  }
}
