/**
 * Answers every read request from one open VFS. Used by reader processes and by the process of a `:memory:` sandbox.
 */
import { createHash } from 'node:crypto';
import { databaseRows, databaseTables, databaseTooLarge, MAX_DATABASE_BYTES } from './database-file.ts';
import { folderPage } from './folder.ts';
import { followed } from './followed.ts';
import type { ReadScope } from './open.ts';
import { parseVfsPath } from './paths.ts';
import { runQuery } from './query.ts';
import { piecesAt } from './tree-pieces.ts';
import type { PeekRequest, ReadAnswer, ReadRequest, VfsAddress, VfsDigest, VfsStat } from './types.ts';
import type { Vfs } from './vfs.ts';
import type { Volume } from './volumes.ts';

/** What is hashed at once of a large content. */
const PART_BYTES = 8 * 1024 * 1024;

/** One request, one answer. Throws what the operations of Vfs and `runQuery` throw. */
export function answerRead(vfs: Vfs, request: ReadRequest): ReadAnswer {
  switch (request.op) {
    case 'volumes':
      return { op: 'volumes', volumes: vfs.sizes() };
    case 'list':
      return { op: 'list', ...vfs.list(request.volume, request) };
    case 'digests':
      return { op: 'digests', ...digestsOf(vfs, request) };
    case 'folder': {
      const children = vfs.readdir(request.path, request.volume);
      const items = children.map(({ path, kind, size, mtime }) => ({ name: nameOf(path), kind, size, mtime }));
      return { op: 'folder', ...folderPage(items, request.limit, request.after) };
    }
    case 'directories':
      return { op: 'directories', ...vfs.directories(request.volume, request) };
    case 'stat':
      return { op: 'stat', stat: foundFile(vfs, request).stat };
    case 'get': {
      const { stat, at } = foundFile(vfs, request);
      return { op: 'get', stat, content: stat && contentOf(vfs, { ...request, ...at }) };
    }
    case 'pieces':
      return { op: 'pieces', ...piecesAt(vfs, request) };
    case 'tables': {
      const content = databaseOf(vfs, request);
      return { op: 'tables', tables: content && databaseTables(content, request) };
    }
    case 'rows': {
      const content = databaseOf(vfs, request);
      return { op: 'rows', rows: content && databaseRows(content, request) };
    }
    case 'search':
      return { op: 'search', ...vfs.search(request) };
    case 'query':
      return { op: 'query', ...runQuery(vfs.db, request.sql, request.params, vfs.presented) };
  }
}

/**
 * Answers a request for what is at one path, from a file that `open` lists no further than that. Null where that does
 * not suffice: links lead elsewhere, or nothing is there. A file that is all rows is never listed, and answers all.
 */
export function answerScoped(open: (scope: ReadScope) => Vfs, request: ReadRequest): ReadAnswer | null {
  if (request.op !== 'stat' && request.op !== 'get' && request.op !== 'folder') return null;
  const { volume, path } = request;
  const vfs = open({ volume, path });
  try {
    if (vfs.presented === null) return answerRead(vfs, request);
    const entry = vfs.entry(path, volume);
    const isThere = request.op === 'folder' ? entry?.kind === 'dir' : entry?.kind === 'file';
    return isThere ? answerRead(vfs, request) : null;
  } finally {
    vfs.close();
  }
}

/** Answers a read of one file. Null when that would give more than `maxBytes` of its content. */
export function answerPeek(vfs: Vfs, request: PeekRequest, maxBytes: number): ReadAnswer | null {
  const { stat, at } = foundFile(vfs, request);
  if (request.op === 'stat') return { op: 'stat', stat };
  const { range } = request;
  const bytes = range ? range.end - range.start + 1 : (stat?.size ?? 0);
  return bytes > maxBytes ? null : { op: 'get', stat, content: stat && contentOf(vfs, { ...request, ...at }) };
}

/** The file at a path, or the one that the links on the way lead to. */
function foundFile(vfs: Vfs, { volume, path }: VfsAddress): { stat: VfsStat | null; at: VfsAddress } {
  const stat = vfs.stat(path, volume);
  const at = stat === null ? followed(vfs, { volume, path }) : { volume, path };
  return { stat: stat ?? vfs.stat(at.path, at.volume), at };
}

function digestsOf(
  vfs: Vfs,
  { volume, limit, bytes, after }: Extract<ReadRequest, { op: 'digests' }>,
): { files: VfsDigest[]; next: string | null } {
  const page = vfs.list(volume, { limit, ...(after === undefined ? {} : { after }) });
  const files: VfsDigest[] = [];
  let hashed = 0;
  for (const file of page.files) {
    if (hashed >= bytes) return { files, next: files.at(-1)?.path ?? null };
    files.push({ ...file, sha256: digestOf(vfs, volume, file) });
    hashed += file.size;
  }
  return { files, next: page.next };
}

/** A content that is no row's is read in parts: it may be larger than memory. */
function digestOf(vfs: Vfs, volume: Volume, { path, size }: { path: string; size: number }): string {
  const hash = createHash('sha256');
  const at = parseVfsPath(path);
  if (vfs.presented === null) return hash.update(vfs.get(at, volume) ?? new Uint8Array()).digest('hex');
  for (let start = 0; start < size; start += PART_BYTES)
    hash.update(vfs.slice(at, volume, start, start + PART_BYTES - 1) ?? new Uint8Array());
  return hash.digest('hex');
}

/** The bytes of a file that may be a database; null without one. Throws `too_large`. */
function databaseOf(vfs: Vfs, { path, volume }: VfsAddress): Uint8Array | null {
  const { stat, at } = foundFile(vfs, { path, volume });
  const size = stat?.size ?? 0;
  if (size > MAX_DATABASE_BYTES) throw databaseTooLarge(size);
  return vfs.get(at.path, at.volume);
}

function contentOf(vfs: Vfs, { path, volume, range }: Extract<ReadRequest, { op: 'get' }>): Uint8Array | null {
  return range ? vfs.slice(path, volume, range.start, range.end) : vfs.get(path, volume);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
