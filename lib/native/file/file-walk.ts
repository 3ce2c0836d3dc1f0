/**
 * Walks a whole file of this profile without changing it, awake or at rest: what is at each path as of the last commit.
 * It settles names as `Merge` does, and takes nothing up. What it reads may be a stranger's: numbers are checked.
 */
import { corruptFile } from '../../vfs/sqlite-errors.ts';
import type { Statements } from '../../vfs/statements.ts';
import { VOLUMES, type Volume } from '../../vfs/volumes.ts';
import { type Inode, isSpecial, NO_BYTES, restingSeconds, S_IFDIR, S_IFLNK, S_IFREG } from './inode.ts';
import { type Link, Links, NOWHERE } from './links.ts';
import { ENTRY_KIND, isAsLeft, notedPath, notedPlace } from './merge.ts';
import { entryPath } from './names.ts';
import { type RestingEntry, restingEntries } from './resting-rows.ts';
import { CHUNKS_PER_FILE, FILE_CHUNK_BYTES, VOLUME_INOS, WHOLE_BYTES } from './tables.ts';

/** Where the bytes of a file are: chunks of an inode over the first `base` bytes of a row. */
interface FileContent {
  /** Null: it has no chunks. */
  ino: number | null;
  row: number;
  base: number;
  size: number;
}

export interface WalkedEntry {
  kind: 'file' | 'dir' | 'link';
  volume: Volume;
  path: Buffer;
  /** Null: the usual one of its kind. */
  mode: number | null;
  /** Whole seconds. */
  mtime: number;
  version: number;
  target: Buffer | null;
  /** Of a file. */
  content: FileContent | null;
}

/** A directory that this profile has never looked into: everything that the two tables have below `from`. */
export interface WalkedRest {
  volume: Volume;
  from: Buffer;
  /** Where it is now. */
  to: Buffer;
}

interface Folder {
  volume: Volume;
  /** Null: this profile has never looked into it. */
  ino: number | null;
  /** Where the seed's table has its entries; null: nowhere. */
  origin: Buffer | null;
  path: Buffer;
  /** All that is in it is among its links. */
  isMerged: boolean;
}

interface InodeRow {
  ino: number;
  kind: number;
  mode: number;
  size: number;
  mtime: number;
  ctime: number;
  ctime_ns: number;
  target: Uint8Array | null;
  content_row: number;
  base: number;
  stale: number;
  session: number;
}

/** Deeper folders than these are a circle. */
const MAX_DEPTH = 10_000;
const SLASH = 47;
const MOST_BYTES = CHUNKS_PER_FILE * FILE_CHUNK_BYTES;

/** One path: an entry, and what is directly in it. */
export interface WalkScope {
  volume: Volume;
  /** Empty for the root. */
  path: Buffer;
}

/**
 * Yields every entry once; a directory that was never looked into as a whole. With a `scope` only the directories on
 * the way to a path and what is directly in them. Throws `corrupt`.
 */
export function* walkFile(statements: Statements, scope: WalkScope | null = null): Generator<WalkedEntry | WalkedRest> {
  const state = statements.get<{ session: number; awake: number }>('SELECT session, awake FROM native_state');
  if (state === undefined) throw corruptFile('its native tables are empty');
  const session = state.awake === 0 ? null : state.session;
  const links = new Links(statements, 0);
  const seen = new Set<number>();
  const volumes = scope === null ? VOLUMES : [scope.volume];
  const left: (Folder & { depth: number })[] = volumes.map((volume) => ({
    ...{ volume, ino: VOLUME_INOS[volume], origin: NO_BYTES, path: NO_BYTES, depth: 0 },
    isMerged: session !== null && inodeOf(statements, VOLUME_INOS[volume])?.session === session,
  }));
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    if (folder.ino === null) {
      if (folder.origin !== null) yield { volume: folder.volume, from: folder.origin, to: folder.path };
      continue;
    }
    if (seen.has(folder.ino) || folder.depth > MAX_DEPTH) throw corruptFile('its folders lie in a circle');
    seen.add(folder.ino);
    for (const { entry, below } of entriesOf(statements, links, folder, session)) {
      yield entry;
      if (below !== null && isOnTheWay(below.path, scope)) left.push({ ...below, depth: folder.depth + 1 });
    }
  }
}

function isOnTheWay(path: Buffer, scope: WalkScope | null): boolean {
  if (scope === null || scope.path.equals(path)) return true;
  return scope.path[path.length] === SLASH && scope.path.subarray(0, path.length).equals(path);
}

function* entriesOf(
  statements: Statements,
  links: Links,
  folder: Folder,
  session: number | null,
): Generator<{ entry: WalkedEntry; below: Folder | null }> {
  const { volume, origin } = folder;
  const resting =
    folder.isMerged || origin === null ? new Map<string, RestingEntry>() : restingEntries(statements, volume, origin);
  for (const link of links.after(folder.ino ?? 0, 0, Number.MAX_SAFE_INTEGER)) {
    const key = link.name.toString('latin1');
    const entry = resting.get(key) ?? null;
    resting.delete(key);
    const inode = inodeOf(statements, link.ino);
    const found = settled(statements, folder, link, inode, entry);
    if (found === null) continue;
    const isFolder = found.kind === 'dir';
    const keepsInode = isFolder && inode?.kind === S_IFDIR;
    const noted = link.origin ?? (origin === null ? NOWHERE : notedPlace(volume, entryPath(origin, link.name)));
    const below = isFolder
      ? {
          ...{ volume, path: found.path, ino: keepsInode ? link.ino : null, origin: notedPath(noted)?.path ?? null },
          isMerged: keepsInode && session !== null && inode.session === session,
        }
      : null;
    yield { entry: found, below };
  }
  for (const [key, entry] of resting) {
    const name = Buffer.from(key, 'latin1');
    const found = ofResting(statements, folder, name, entry);
    const from = origin === null ? null : entryPath(origin, name);
    const below = found.kind === 'dir' ? { volume, path: found.path, ino: null, origin: from, isMerged: false } : null;
    yield { entry: found, below };
  }
}

/** What a name stands for: its inode, or what the seed's table has since. */
function settled(
  statements: Statements,
  folder: Folder,
  link: Link,
  inode: (Inode & { session: number }) | null,
  entry: RestingEntry | null,
): WalkedEntry | null {
  const isOwn =
    inode !== null &&
    (folder.isMerged ||
      folder.origin === null ||
      link.origin !== null ||
      (entry === null && isSpecial(inode.kind)) ||
      (entry !== null && inode.kind === ENTRY_KIND[entry.kind] && isAsLeft(inode, link, entry)));
  if (isOwn) return ofInode(folder, link, inode);
  return entry === null ? null : ofResting(statements, folder, link.name, entry);
}

function ofInode(folder: Folder, link: Link, inode: Inode): WalkedEntry | null {
  if (isSpecial(inode.kind)) return null;
  const kind = inode.kind === S_IFREG ? 'file' : inode.kind === S_IFDIR ? 'dir' : 'link';
  const changed = inode.ctime.seconds * 1_000_000 + Math.floor(inode.ctime.nanos / 1000);
  const content = { ino: inode.ino, row: inode.contentRow, base: inode.base, size: inode.size };
  return {
    ...{ kind, volume: folder.volume, path: entryPath(folder.path, link.name), mtime: restingSeconds(inode.mtime) },
    // What is not at rest yet has no version there: the time of its change is above all earlier ones.
    version: inode.stale === 0 && link.version !== null ? link.version : Math.max(changed, link.version ?? 0),
    mode: kind === 'link' ? null : inode.mode,
    target: inode.target,
    content: kind === 'file' ? content : null,
  };
}

function ofResting(statements: Statements, folder: Folder, name: Buffer, entry: RestingEntry): WalkedEntry {
  const path = entryPath(folder.path, name);
  const { mtime, version } = entry;
  const mode = entry.kind === 'link' ? null : entry.mode;
  const common = { volume: folder.volume, path, mode, mtime, version: version ?? mtime * 1_000_000 };
  if (entry.kind === 'file') return { ...common, kind: 'file', target: null, content: contentOf(statements, entry) };
  if (entry.kind === 'link') return { ...common, kind: 'link', target: entry.target, content: null };
  return { ...common, kind: 'dir', target: null, content: null };
}

/** The bytes of a row without a name here: a large one may have been moved by another tool. */
function contentOf(statements: Statements, { row, size, isHollow }: { row: number; size: number; isHollow: boolean }) {
  if (!isHollow) return { ino: null, row, base: size, size };
  const large = statements.get<{ ino: number }>(
    `SELECT ino FROM native_inode WHERE content_row = ? AND size > ${WHOLE_BYTES} ORDER BY nlink LIMIT 1`,
    row,
  );
  const inode = large === undefined ? null : inodeOf(statements, large.ino);
  if (inode === null) return { ino: null, row, base: 0, size: 0 };
  return { ino: inode.ino, row, base: inode.base, size: inode.size };
}

function inodeOf(statements: Statements, ino: number): (Inode & { session: number }) | null {
  const row = statements.get<InodeRow>('SELECT * FROM native_inode WHERE ino = ?', ino);
  if (row === undefined) return null;
  if (!isSpecial(row.kind) && ![S_IFREG, S_IFDIR, S_IFLNK].includes(row.kind))
    throw corruptFile('an inode of it is of no kind that a file has');
  const { size, base, mtime, ctime, ctime_ns: nanos } = row;
  const areSound = [size, base].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0 && bytes <= MOST_BYTES);
  if (!areSound || ![mtime, ctime, nanos].every(Number.isSafeInteger))
    throw corruptFile('an inode of it has a size or a time that no file has');
  return {
    ...{ ino, kind: row.kind, volume: null, mode: row.mode & 0o7777, nlink: 1, size, base, stale: row.stale },
    ...{ atime: { seconds: 0, nanos: 0 }, mtime: { seconds: mtime, nanos: 0 }, ctime: { seconds: ctime, nanos } },
    target: row.target === null ? null : Buffer.from(row.target),
    ...{ contentRow: row.content_row, charge: 0, isMerged: false, origin: undefined, parent: 0, name: NO_BYTES },
    ...{ lookups: 0, isDirty: false, session: row.session },
  };
}
