/**
 * Answers every read request from one open VFS. Used by reader processes and by the process of a `:memory:` sandbox.
 */
import { folderPage } from './folder.ts';
import { runQuery } from './query.ts';
import type { PeekRequest, ReadAnswer, ReadRequest } from './types.ts';
import type { Vfs } from './vfs.ts';

/** One request, one answer. Throws what the operations of Vfs and `runQuery` throw. */
export function answerRead(vfs: Vfs, request: ReadRequest): ReadAnswer {
  switch (request.op) {
    case 'volumes':
      return { op: 'volumes', volumes: vfs.sizes() };
    case 'list':
      return { op: 'list', ...vfs.list(request.volume, request) };
    case 'folder': {
      const children = vfs.readdir(request.path, request.volume);
      const items = children.map(({ path, kind, size, mtime }) => ({ name: nameOf(path), kind, size, mtime }));
      return { op: 'folder', ...folderPage(items, request.limit, request.after) };
    }
    case 'directories':
      return { op: 'directories', paths: vfs.directories(request.volume) };
    case 'stat':
      return { op: 'stat', stat: vfs.stat(request.path, request.volume) };
    case 'get': {
      const stat = vfs.stat(request.path, request.volume);
      return { op: 'get', stat, content: stat && contentOf(vfs, request) };
    }
    case 'search':
      return { op: 'search', ...vfs.search(request) };
    case 'query':
      return { op: 'query', ...runQuery(vfs.db, request.sql, request.params) };
  }
}

/** Answers a read of one file. Null when that would give more than `maxBytes` of its content. */
export function answerPeek(vfs: Vfs, request: PeekRequest, maxBytes: number): ReadAnswer | null {
  const stat = vfs.stat(request.path, request.volume);
  if (request.op === 'stat') return { op: 'stat', stat };
  const { range } = request;
  const bytes = range ? range.end - range.start + 1 : (stat?.size ?? 0);
  return bytes > maxBytes ? null : { op: 'get', stat, content: stat && contentOf(vfs, request) };
}

function contentOf(vfs: Vfs, { path, volume, range }: Extract<ReadRequest, { op: 'get' }>): Uint8Array | null {
  return range ? vfs.slice(path, volume, range.start, range.end) : vfs.get(path, volume);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
