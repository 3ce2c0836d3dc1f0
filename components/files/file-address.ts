/** Addresses of a sandbox's files: their pages, and the API's routes. Pure. */
import type { VolumeInfo } from '#lib/contract/schema.ts';
import { folderOf } from './file-tree.ts';

export type VolumeName = VolumeInfo['volume'];

/** Whose files a page shows, and as of when. */
export interface FilesPage {
  id: string;
  /** Of a moment, as the API takes it; absent: as they are now. */
  at?: string;
  /** Parameters that each address of the page has. */
  keep?: Readonly<Record<string, string>>;
}

export interface FileView {
  /** The offset of the part to show. */
  from?: number;
  /** A line to show and highlight, from 1. */
  line?: number;
  /** Shows the source of a file that would be rendered. */
  source?: boolean;
  edit?: boolean;
  /** How many items of a folder to list. */
  shown?: number;
  /** Of a database: the table to show, where its page begins, and where the list of tables begins. */
  table?: string;
  rows?: string;
  tables?: string;
}

/** The page of a sandbox with a folder or a file open. */
export function fileAddress({ id, keep }: FilesPage, volume: VolumeName, path = '/', look: FileView = {}): string {
  const search = new URLSearchParams({ ...keep, volume });
  if (path !== '/') search.set('path', path);
  if (look.from !== undefined && look.from > 0) search.set('from', String(look.from));
  if (look.line !== undefined) search.set('line', String(look.line));
  if (look.source) search.set('as', 'source');
  if (look.edit) search.set('edit', '1');
  if (look.shown !== undefined) search.set('shown', String(look.shown));
  if (look.tables !== undefined) search.set('tables', look.tables);
  if (look.table !== undefined) search.set('table', look.table);
  if (look.rows !== undefined) search.set('rows', look.rows);
  return `/sandboxes/${id}?${search}#${look.line === undefined ? 'inside' : `L${look.line}`}`;
}

/** The API route of a file's content. */
export function bytesAddress({ id, at }: Pick<FilesPage, 'id' | 'at'>, volume: VolumeName, path: string): string {
  const steps = path.split('/').map(encodeURIComponent).join('/');
  return `/api/instances/${encodeURIComponent(id)}/volumes/${volume}${steps}${at === undefined ? '' : `?at=${at}`}`;
}

/** The API route that lists a folder; `cursor`: of a later page. */
export function folderAddress(
  { id, at }: Pick<FilesPage, 'id' | 'at'>,
  volume: VolumeName,
  path: string,
  limit: number,
  cursor: string | null,
): string {
  const search = new URLSearchParams({ path, limit: String(limit), ...(at === undefined ? {} : { at }) });
  if (cursor !== null) search.set('cursor', cursor);
  return `/api/instances/${encodeURIComponent(id)}/folders/${volume}?${search}`;
}

/**
 * The path inside the volume that a link in the file at `path` leads to: `../b.md` in `/docs/a.md` is `/b.md`. Null for
 * a link out of the volume, to another site or scheme, or within the same file.
 */
export function linkedPath(path: string, link: string): string | null {
  if (link === '' || link.startsWith('#') || link.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(link)) return null;
  const bare = link.replace(/[?#].*$/s, '');
  let decoded: string;
  try {
    decoded = decodeURIComponent(bare);
  } catch {
    // A stray percent sign belongs to the name.
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
