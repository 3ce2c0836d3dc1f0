/**
 * Takes what the seed's table has into the tables of an awake file: one name when it is asked for, a whole directory
 * when it is listed or changed. So a wake costs the same whatever a file holds. What another profile or tool changed
 * while the file was at rest is noticed here, as nothing of the rows is trusted before it is compared.
 */
import type { Statements } from '../../vfs/statements.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { Contents } from './contents.ts';
import { type Inode, isSpecial, restingSeconds, S_IFDIR, S_IFLNK, S_IFREG } from './inode.ts';
import type { Inodes } from './inodes.ts';
import { type Link, type Links, NOWHERE } from './links.ts';
import { entryPath } from './names.ts';
import { type FileAtRest, type RestingEntry, restingEntries, restingEntry } from './resting-rows.ts';
import { lowestCharge } from './room.ts';
import { FIRST_FREE, WHOLE_BYTES } from './tables.ts';

interface MergeParts {
  statements: Statements;
  inodes: Inodes;
  links: Links;
  contents: Contents;
  /** Begins a transaction where none is open. */
  begin: () => void;
}

/** The first letter of a volume stands for it where a place in the seed's table is noted. */
const LETTERS: Readonly<Record<Volume, string>> = { workspace: 'w', memory: 'm', tmp: 't' };
const VOLUME_OF_LETTER = new Map(Object.entries(LETTERS).map(([volume, letter]) => [letter, volume as Volume]));
/** The kind of an inode that stands for what rests. */
export const ENTRY_KIND: Readonly<Record<RestingEntry['kind'], number>> = {
  file: S_IFREG,
  directory: S_IFDIR,
  link: S_IFLNK,
};
const MODE: Readonly<Record<RestingEntry['kind'], number>> = { file: 0o644, directory: 0o755, link: 0o777 };
/** A directory whose entries were never counted. */
const UNCOUNTED = 1;

/** A place in the seed's table, as it is noted in a link. */
export function notedPlace(volume: Volume, path: Buffer): Buffer {
  return Buffer.concat([Buffer.from(LETTERS[volume]), path]);
}

/** The volume and path of a noted place; null where it is none of a path. */
export function notedPath(origin: Buffer): { volume: Volume; path: Buffer } | null {
  const volume = VOLUME_OF_LETTER.get(origin.toString('latin1', 0, 1));
  return volume === undefined ? null : { volume, path: origin.subarray(1) };
}

export class Merge {
  readonly #parts: MergeParts;

  constructor(parts: MergeParts) {
    this.#parts = parts;
  }

  /** The link of a name in a directory; null where there is none. */
  find(directory: Inode, name: Buffer): Link | null {
    const { links, statements } = this.#parts;
    const link = links.find(directory.ino, name);
    const origin = directory.isMerged ? null : this.originOf(directory);
    if (origin === null || directory.volume === null) return link;
    const entry = restingEntry(statements, directory.volume, entryPath(origin, name));
    return this.#settle(directory, name, link, entry) === null ? null : links.find(directory.ino, name);
  }

  /** Makes the links of a directory all that is in it. */
  complete(directory: Inode): void {
    if (directory.isMerged) return;
    const { links, statements, inodes, begin } = this.#parts;
    const origin = this.originOf(directory);
    if (origin !== null && directory.volume !== null) {
      const entries = restingEntries(statements, directory.volume, origin);
      let directories = 0;
      const settle = (name: Buffer, link: Link | null, entry: RestingEntry | null) => {
        if (this.#settle(directory, name, link, entry)?.kind === S_IFDIR) directories += 1;
      };
      for (const link of links.after(directory.ino, 0, Number.MAX_SAFE_INTEGER)) {
        const key = link.name.toString('latin1');
        settle(link.name, link, entries.get(key) ?? null);
        entries.delete(key);
      }
      for (const [key, entry] of entries) settle(Buffer.from(key, 'latin1'), null, entry);
      if (directory.nlink !== 2 + directories) {
        begin();
        directory.nlink = 2 + directories;
        inodes.change(directory);
      }
    }
    directory.isMerged = true;
  }

  /** Counts the entries of a directory that never were, so that its attributes are right. */
  count(inode: Inode): void {
    if (inode.kind === S_IFDIR && inode.nlink === UNCOUNTED) this.complete(inode);
  }

  /** Where the seed's table has the entries of a directory: a path in its volume, or null. */
  originOf(directory: Inode): Buffer | null {
    if (directory.origin !== undefined) return directory.origin;
    const { inodes, links } = this.#parts;
    let origin: Buffer | null = Buffer.alloc(0);
    if (directory.ino >= FIRST_FREE) {
      const [link] = links.of(directory.ino);
      const noted = link === undefined ? NOWHERE : this.originOfLink(link, inodes.get(link.parent));
      origin = notedPath(noted)?.path ?? null;
    }
    directory.origin = origin;
    return origin;
  }

  /** Where the seed's table has what a name stands for, in the form in which it is noted. */
  originOfLink(link: Link, parent: Inode): Buffer {
    if (link.origin !== null) return link.origin;
    const above = this.originOf(parent);
    if (above === null || parent.volume === null) return NOWHERE;
    return notedPlace(parent.volume, entryPath(above, link.name));
  }

  /** Compares a link with what is at its place in the seed's table. Returns what the name stands for from now on. */
  #settle(directory: Inode, name: Buffer, link: Link | null, entry: RestingEntry | null): Inode | null {
    const { inodes, links, begin } = this.#parts;
    if (link === null) return entry === null ? null : this.#take(directory, name, entry);
    const inode = inodes.find(link.ino);
    if (inode !== null && (link.origin !== null || (entry === null && isSpecial(inode.kind)))) return inode;
    if (entry !== null && inode?.kind === ENTRY_KIND[entry.kind]) {
      if (isAsLeft(inode, link, entry)) {
        if (entry.kind === 'file' && inode.stale === 0) this.#follow(inode, entry);
        return inode;
      }
      begin();
      if (inode.nlink < 2 || entry.kind !== 'file') {
        this.#adopt(inode, entry);
        links.setVersion(link.id, entry.version);
        return inode;
      }
    }
    begin();
    this.#drop(link, inode);
    return entry === null ? null : this.#take(directory, name, entry);
  }

  /** The row of a file that nobody changed may have another number now. */
  #follow(inode: Inode, entry: FileAtRest): void {
    if (inode.contentRow === entry.row) return;
    this.#parts.begin();
    inode.contentRow = entry.row;
    this.#parts.inodes.change(inode);
  }

  /** A new link, and an inode for it. */
  #take(directory: Inode, name: Buffer, entry: RestingEntry): Inode {
    const { inodes, links, begin, statements } = this.#parts;
    begin();
    if (entry.kind === 'file' && entry.isHollow) {
      const large = statements.get<{ ino: number }>(
        `SELECT ino FROM native_inode WHERE content_row = ? AND size > ${WHOLE_BYTES} AND nlink = 0`,
        entry.row,
      );
      const moved = large === undefined ? null : inodes.find(large.ino);
      if (moved !== null) {
        moved.nlink = 1;
        inodes.change(moved);
        links.add(directory.ino, name, moved.ino, null, entry.version);
        return moved;
      }
    }
    const inode = inodes.make(ENTRY_KIND[entry.kind], MODE[entry.kind], directory.volume ?? 'workspace');
    inode.nlink = entry.kind === 'directory' ? UNCOUNTED : 1;
    this.#adopt(inode, entry);
    if (entry.kind === 'directory') {
      inode.parent = directory.ino;
      inode.name = name;
    }
    links.add(directory.ino, name, inode.ino, null, entry.version);
    return inode;
  }

  /** Makes an inode what its row says. */
  #adopt(inode: Inode, entry: RestingEntry): void {
    const { contents, inodes } = this.#parts;
    inode.mtime = { seconds: entry.mtime, nanos: 0 };
    inode.ctime = inode.mtime;
    if (entry.kind === 'link') {
      inode.target = entry.target;
      inode.size = entry.target.length;
    } else if (entry.mode !== null) inode.mode = entry.mode & 0o7777;
    if (entry.kind === 'file') {
      contents.remove(inode);
      inode.size = entry.size;
      inode.contentRow = entry.row;
      inode.base = entry.size;
      inode.charge = lowestCharge(entry.size);
    }
    inodes.change(inode);
  }

  /** Others have removed or replaced what a link stood for, while the file was at rest. */
  #drop(link: Link, inode: Inode | null): void {
    const { links, inodes, contents, statements } = this.#parts;
    links.remove(link.id);
    if (inode === null) return;
    if (inode.kind === S_IFDIR) {
      for (const below of links.after(inode.ino, 0, Number.MAX_SAFE_INTEGER)) this.#drop(below, inodes.find(below.ino));
      inodes.remove(inode);
      return;
    }
    inode.nlink -= 1;
    inodes.change(inode);
    if (inode.nlink > 0) return;
    if (inode.size > WHOLE_BYTES && isHollowRow(statements, inode.contentRow)) return;
    contents.remove(inode);
    inodes.remove(inode);
  }
}

/** Whether what rests is what this profile left. What it has changed since it woke is its own. */
export function isAsLeft(inode: Inode, link: Link, entry: RestingEntry): boolean {
  if (entry.kind === 'directory' && entry.version === null) return true;
  if (entry.version !== link.version) return false;
  if (entry.kind !== 'file' || inode.stale !== 0) return true;
  return entry.isHollow ? inode.size > WHOLE_BYTES || inode.size === 0 : isAsStored(inode, entry);
}

function isAsStored(inode: Inode, { size, mtime }: FileAtRest): boolean {
  return inode.size === size && restingSeconds(inode.mtime) === mtime;
}

/** Whether a row of the seed's table is there and has no content: its bytes are chunks. */
export function isHollowRow(statements: Statements, row: number): boolean {
  return statements.get('SELECT 1 FROM vfs WHERE rowid = ? AND content IS NULL', row) !== undefined;
}
