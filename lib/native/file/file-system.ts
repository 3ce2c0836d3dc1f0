/**
 * What a file system does with names, on the tables of an awake file: by numbers of inodes and bytes of names. Every
 * argument is a guest's, so each is checked before anything changes; a request that is refused has changed nothing.
 * Knows nothing of FUSE and of commits.
 */
import type { Attributes } from './attributes.ts';
import {
  EEXIST,
  EINVAL,
  EISDIR,
  EMLINK,
  ENAMETOOLONG,
  ENOENT,
  ENOTDIR,
  ENOTEMPTY,
  EPERM,
  EXDEV,
  endWith,
} from './errno.ts';
import { type Inode, isSpecial, S_IFDIR, S_IFLNK, S_IFREG, STALE_ATTRIBUTES, STALE_CONTENT } from './inode.ts';
import type { Inodes } from './inodes.ts';
import { type Link, type Links, NOWHERE } from './links.ts';
import type { Merge } from './merge.ts';
import { requireFileName } from './names.ts';
import type { Removal } from './removal.ts';
import { highestCharge, type Room } from './room.ts';
import { ROOT_INO, VOLUME_INOS } from './tables.ts';

interface FileSystemParts {
  inodes: Inodes;
  links: Links;
  attributes: Attributes;
  merge: Merge;
  removal: Removal;
  room: Room;
  /** Begins a transaction where none is open: before the first change of a request. */
  begin: () => void;
}

export interface NamedInode {
  /** Where a reader goes on behind this one. */
  cookie: number;
  name: Buffer;
  inode: Inode;
}

const MAX_TARGET_BYTES = 4095;
/** As long as a path that Linux takes at once. */
const MAX_PATH_BYTES = 4095;
/** Names of one file, each of which is a copy at rest. */
const MAX_LINKS = 65_000;
/** Below the numbers of links, so that the names of the root come in order too. */
const FIRST_COOKIE = 1;
const NO_REPLACE = 1;
const SET_GID = 0o2000;

export class FileSystem {
  readonly #parts: FileSystemParts;

  constructor(parts: FileSystemParts) {
    this.#parts = parts;
  }

  /** The inode of a number, with its attributes complete. */
  inode(ino: number): Inode {
    const inode = this.#parts.inodes.get(ino);
    this.#parts.merge.count(inode);
    return inode;
  }

  /** What has this name; null where nothing has. */
  lookup(parent: number, name: Buffer): Inode | null {
    const directory = this.#directory(parent);
    if (parent === ROOT_INO) {
      const volume = VOLUME_BY_NAME.get(name.toString('latin1'));
      return volume === undefined ? null : this.inode(volume);
    }
    requireFileName(name);
    const link = this.#parts.merge.find(directory, name);
    return link === null ? null : this.inode(link.ino);
  }

  /** Makes a file, a directory, a FIFO, a socket or a link with a `target`. Devices are refused. */
  create(parent: number, name: Buffer, kind: number, mode: number, target: Buffer | null = null): Inode {
    const { inodes, links, begin } = this.#parts;
    if (kind !== S_IFREG && kind !== S_IFDIR && kind !== S_IFLNK && !isSpecial(kind)) endWith(EPERM);
    if ((kind === S_IFLNK) !== (target !== null)) endWith(EINVAL);
    if (target !== null && target.length > MAX_TARGET_BYTES) endWith(ENAMETOOLONG);
    if (target !== null && (target.length === 0 || target.includes(0))) endWith(target.length === 0 ? ENOENT : EINVAL);
    const directory = this.#place(parent, name);
    const charge = this.#chargeOf(directory, name, target?.length ?? 0);
    begin();
    // A directory in one whose files belong to its group does so too.
    const inherited = kind === S_IFDIR ? directory.mode & SET_GID : 0;
    const inode = inodes.make(kind, (mode & 0o7777) | inherited, directory.volume ?? endWith(EPERM));
    inode.nlink = kind === S_IFDIR ? 2 : 1;
    inode.target = target;
    inode.size = target?.length ?? 0;
    inode.stale = kind === S_IFREG ? STALE_CONTENT : STALE_ATTRIBUTES;
    inode.isMerged = kind === S_IFDIR;
    inode.origin = null;
    inode.charge = charge;
    inode.parent = kind === S_IFDIR ? directory.ino : 0;
    inode.name = name;
    this.#parts.room.add(charge);
    links.add(directory.ino, name, inode.ino, NOWHERE, null);
    if (kind === S_IFDIR) directory.nlink += 1;
    this.#touch(directory);
    return inode;
  }

  /** Gives a file another name. */
  link(ino: number, parent: number, name: Buffer): Inode {
    const { inodes, links, room, begin } = this.#parts;
    const inode = inodes.get(ino);
    if (inode.kind === S_IFDIR) endWith(EPERM);
    const directory = this.#place(parent, name);
    if (inode.nlink === 0) endWith(ENOENT);
    if (inode.nlink >= MAX_LINKS) endWith(EMLINK);
    if (inode.volume !== directory.volume) endWith(EXDEV);
    const charge = Math.max(inode.charge, this.#chargeOf(directory, name, inode.size));
    // From here on each of its names is counted in the same way.
    room.require(charge * (inode.nlink + 1) - inode.charge * inode.nlink);
    begin();
    room.add(charge * (inode.nlink + 1) - inode.charge * inode.nlink);
    inode.charge = charge;
    inode.nlink += 1;
    inode.stale |= inode.kind === S_IFREG ? STALE_CONTENT : STALE_ATTRIBUTES;
    inode.ctime = inodes.now();
    inodes.change(inode);
    links.add(directory.ino, name, inode.ino, NOWHERE, null);
    this.#touch(directory);
    return inode;
  }

  unlink(parent: number, name: Buffer): void {
    const { directory, link, inode } = this.#existing(parent, name);
    if (inode.kind === S_IFDIR) endWith(EISDIR);
    this.#parts.begin();
    this.#removeName(directory, link, inode);
  }

  rmdir(parent: number, name: Buffer): void {
    const { directory, link, inode } = this.#existing(parent, name);
    if (inode.kind !== S_IFDIR) endWith(ENOTDIR);
    this.#requireEmpty(inode);
    this.#parts.begin();
    this.#removeName(directory, link, inode);
  }

  /** `flags` as of renameat2(2): none, or that nothing may be replaced. */
  rename(parent: number, name: Buffer, newParent: number, newName: Buffer, flags: number): void {
    if ((flags & ~NO_REPLACE) !== 0) endWith(EINVAL);
    const { inodes, links, merge, begin } = this.#parts;
    const { directory, link, inode } = this.#existing(parent, name);
    const newDirectory = this.#writable(newParent);
    requireFileName(newName);
    if (directory.volume !== newDirectory.volume) endWith(EXDEV);
    merge.complete(newDirectory);
    if (inode.kind === S_IFDIR && inodes.isWithin(newDirectory, inode)) endWith(EINVAL);
    const replaced = links.find(newDirectory.ino, newName);
    const former = replaced === null ? null : inodes.get(replaced.ino);
    if (former !== null) {
      if ((flags & NO_REPLACE) !== 0) endWith(EEXIST);
      if (former === inode) return;
      if (former.kind === S_IFDIR) {
        if (inode.kind !== S_IFDIR) endWith(EISDIR);
        if (inodes.isWithin(directory, former)) endWith(ENOTEMPTY);
        this.#requireEmpty(former);
      } else if (inode.kind === S_IFDIR) endWith(ENOTDIR);
    }
    this.#requirePath(newDirectory, newName);
    // What it has at rest stays where it is until the file comes to rest.
    const origin = merge.originOfLink(link, directory);
    if (inode.kind === S_IFDIR) merge.originOf(inode);
    begin();
    if (replaced !== null && former !== null) this.#removeName(newDirectory, replaced, former);
    links.remove(link.id);
    links.add(newDirectory.ino, newName, inode.ino, origin, link.version);
    if (inode.kind === S_IFDIR) {
      inode.parent = newDirectory.ino;
      inode.name = newName;
      directory.nlink -= 1;
      newDirectory.nlink += 1;
    }
    inode.ctime = inodes.now();
    inodes.change(inode);
    this.#touch(directory);
    if (newDirectory !== directory) this.#touch(newDirectory);
  }

  /** At most `limit` entries of a directory behind a cookie; 0: from the first on. */
  entries(ino: number, cookie: number, limit: number): NamedInode[] {
    const { inodes, links, merge } = this.#parts;
    const directory = this.#directory(ino);
    if (directory.nlink === 0) return [];
    if (ino === ROOT_INO) {
      return [...VOLUME_BY_NAME]
        .map(([name, volume], at) => ({ cookie: FIRST_COOKIE + at, name: Buffer.from(name), ino: volume }))
        .filter((entry) => entry.cookie > cookie)
        .map((entry) => ({ cookie: entry.cookie, name: entry.name, inode: this.inode(entry.ino) }));
    }
    merge.complete(directory);
    return links.after(ino, cookie, limit).flatMap((link) => {
      const inode = inodes.find(link.ino);
      return inode === null ? [] : [{ cookie: link.id, name: link.name, inode }];
    });
  }

  /** The directory above one. */
  parentOf(ino: number): Inode {
    const directory = this.#directory(ino);
    const isRoot = directory.ino === ROOT_INO || VOLUME_BY_INO.has(directory.ino);
    return isRoot || directory.nlink === 0 ? directory : this.#parts.inodes.parentOf(directory);
  }

  attribute(ino: number, name: Buffer): Buffer {
    return this.#parts.attributes.get(this.#parts.inodes.get(ino).ino, name);
  }

  attributeNames(ino: number): Buffer {
    return this.#parts.attributes.list(this.#parts.inodes.get(ino).ino);
  }

  setAttribute(ino: number, name: Buffer, value: Buffer, flags: number): void {
    const inode = this.#attributed(ino);
    this.#parts.attributes.set(inode.ino, name, value, flags);
    inode.ctime = this.#parts.inodes.now();
    this.#parts.inodes.change(inode);
  }

  removeAttribute(ino: number, name: Buffer): void {
    const inode = this.#attributed(ino);
    this.#parts.attributes.remove(inode.ino, name);
    inode.ctime = this.#parts.inodes.now();
    this.#parts.inodes.change(inode);
  }

  /** The kernel has one more use of an inode. */
  remember(inode: Inode): void {
    inode.lookups += 1;
  }

  /** The kernel has `count` fewer; without any, a file without a name ends. */
  forget(ino: number, count: number): void {
    const inode = this.#parts.inodes.find(ino);
    if (inode === null || ino === ROOT_INO || inode.lookups === 0) return;
    inode.lookups = Math.max(0, inode.lookups - count);
    if (inode.lookups > 0 || inode.nlink > 0) return;
    this.#parts.begin();
    this.#parts.removal.end(inode);
  }

  get room(): Room {
    return this.#parts.room;
  }

  #directory(ino: number): Inode {
    const inode = this.#parts.inodes.get(ino);
    return inode.kind === S_IFDIR ? inode : endWith(ENOTDIR);
  }

  /** What may have attributes of users: files and directories, as on Linux. */
  #attributed(ino: number): Inode {
    const inode = this.#parts.inodes.get(ino);
    return ino !== ROOT_INO && (inode.kind === S_IFREG || inode.kind === S_IFDIR) ? inode : endWith(EPERM);
  }

  /** A directory in which names may change: one of a volume, that was not removed. */
  #writable(ino: number): Inode {
    const directory = this.#directory(ino);
    if (ino === ROOT_INO) endWith(EPERM);
    return directory.nlink === 0 ? endWith(ENOENT) : directory;
  }

  /** The directory of a name that is free. */
  #place(parent: number, name: Buffer): Inode {
    const directory = this.#writable(parent);
    requireFileName(name);
    this.#parts.merge.complete(directory);
    if (this.#parts.links.find(parent, name) !== null) endWith(EEXIST);
    this.#requirePath(directory, name);
    return directory;
  }

  #existing(parent: number, name: Buffer): { directory: Inode; link: Link; inode: Inode } {
    const directory = this.#writable(parent);
    requireFileName(name);
    this.#parts.merge.complete(directory);
    const link = this.#parts.links.find(parent, name) ?? endWith(ENOENT);
    return { directory, link, inode: this.#parts.inodes.get(link.ino) };
  }

  #requirePath(directory: Inode, name: Buffer): number {
    const bytes = this.#parts.inodes.pathOf(directory).length + 1 + name.length;
    return bytes > MAX_PATH_BYTES ? endWith(ENAMETOOLONG) : bytes;
  }

  #chargeOf(directory: Inode, name: Buffer, size: number): number {
    const charge = highestCharge(size, this.#requirePath(directory, name));
    this.#parts.room.require(charge);
    return charge;
  }

  #requireEmpty(directory: Inode): void {
    this.#parts.merge.complete(directory);
    if (!this.#parts.links.isEmpty(directory.ino)) endWith(ENOTEMPTY);
  }

  #removeName(directory: Inode, link: Link, inode: Inode): void {
    const { inodes, removal, room } = this.#parts;
    removal.unname(directory, link, inode);
    // What is in use without a name still takes its room.
    if (inode.nlink > 1 && inode.kind !== S_IFDIR) room.add(-inode.charge);
    if (inode.kind === S_IFDIR) {
      inode.nlink = 0;
      directory.nlink -= 1;
    } else inode.nlink -= 1;
    inode.ctime = inodes.now();
    inodes.change(inode);
    this.#touch(directory);
    if (inode.nlink === 0 && inode.lookups === 0) removal.end(inode);
  }

  #touch(directory: Inode): void {
    directory.mtime = this.#parts.inodes.now();
    directory.ctime = directory.mtime;
    directory.stale |= STALE_ATTRIBUTES;
    this.#parts.inodes.change(directory);
  }
}

const VOLUME_BY_NAME = new Map<string, number>(Object.entries(VOLUME_INOS));
const VOLUME_BY_INO = new Set<number>(Object.values(VOLUME_INOS));
