/** Addresses of what is inside a sandbox: of its pages, and of the API's bytes. Pure. */
import type { VolumeInfo } from '#lib/contract/schema.ts';
import { folderOf } from './file-tree.ts';

export type VolumeName = VolumeInfo['volume'];

/** Where the files of a sandbox are looked at: its page, or its page at the support desk. */
export interface FilesPage {
  id: string;
  at: '/sandboxes' | '/archive';
}

export interface FileView {
  /** First byte of the part that is shown. */
  from?: number;
  /** A line to show and mark, from 1. */
  line?: number;
  /** As its source, where it is shown as something else. */
  source?: boolean;
  edit?: boolean;
  /** How many of a folder are listed. */
  shown?: number;
}

/** The page of a sandbox with a folder or a file of it open. */
export function fileAddress({ id, at }: FilesPage, volume: VolumeName, path = '/', look: FileView = {}): string {
  const search = new URLSearchParams({ volume });
  if (path !== '/') search.set('path', path);
  if (look.from !== undefined && look.from > 0) search.set('from', String(look.from));
  if (look.line !== undefined) search.set('line', String(look.line));
  if (look.source) search.set('as', 'source');
  if (look.edit) search.set('edit', '1');
  if (look.shown !== undefined) search.set('shown', String(look.shown));
  return `${at}/${id}?${search}#${look.line === undefined ? 'inside' : `L${look.line}`}`;
}

/** Where the API gives and takes the bytes of a file. */
export function bytesAddress(id: string, volume: VolumeName, path: string): string {
  return `/api/instances/${encodeURIComponent(id)}/volumes/${volume}${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** Where the API lists a folder; `cursor` for a later page. */
export function folderAddress(
  id: string,
  volume: VolumeName,
  path: string,
  limit: number,
  cursor: string | null,
): string {
  const search = new URLSearchParams({ path, limit: String(limit) });
  if (cursor !== null) search.set('cursor', cursor);
  return `/api/instances/${encodeURIComponent(id)}/folders/${volume}?${search}`;
}

/**
 * The path that a link in the file at `path` leads to, inside its volume: `../b.md` in `/docs/a.md` is `/b.md`. Null
 * for what leads elsewhere (another site, another scheme, a mark in the same file) or out of the volume.
 */
export function linkedPath(path: string, link: string): string | null {
  if (link === '' || link.startsWith('#') || link.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(link)) return null;
  const bare = link.replace(/[?#].*$/s, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(bare);
  } catch {
    // A stray percent sign is one of the name.
    decoded = bare;
  }
  const steps = decoded.startsWith('/') ? [] : folderOf(path).split('/').filter(Boolean);
  for (const step of decoded.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') steps.push(step);
    else if (steps.pop() === undefined) return null;
  }
  return `/${steps.join('/')}${decoded.endsWith('/') && steps.length > 0 ? '/' : ''}`;
}
