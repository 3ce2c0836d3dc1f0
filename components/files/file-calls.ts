/** The browser's API calls for files: list a folder, upload, delete, undo a deletion. They never throw. */
import type { FolderItem, Problem } from '#lib/contract/schema.ts';
import type { ActionOutcome } from '../ui/outcome.tsx';
import { bytesAddress, type FilesPage, folderAddress, type VolumeName } from './file-address.ts';
import type { Folder } from './file-tree.ts';
import type { UploadEnd } from './upload-queue.ts';

/** Larger files are not kept in the browser, so their deletion cannot be undone. */
export const UNDO_BYTES = 16 * 1024 * 1024;
/** Items of a folder per request. */
export const FOLDER_PAGE = 500;

const LOST: ActionOutcome = {
  ok: false,
  says: 'The connection broke.',
  hint: 'Look at the files before trying again.',
};

/** A deleted file, kept in the browser for undo. */
export interface DeletedFile {
  volume: VolumeName;
  path: string;
  content: Blob;
}

async function refusalIn(answer: Response): Promise<ActionOutcome> {
  try {
    const { detail, hint } = (await answer.json()) as Partial<Problem>;
    return { ok: false, says: detail ?? `It was refused (${answer.status}).`, hint };
  } catch {
    // What is between here and the server answered in its own words.
    return { ok: false, says: `It was refused (${answer.status}).` };
  }
}

/** Reads a folder, or, with `before`, the page after what was read. */
export async function readFolder(
  place: FilesPage,
  volume: VolumeName,
  path: string,
  before: Folder | null,
): Promise<Folder | ActionOutcome> {
  try {
    const answer = await fetch(folderAddress(place, volume, path, FOLDER_PAGE, before?.next ?? null), {
      headers: { accept: 'application/json' },
    });
    if (!answer.ok) return await refusalIn(answer);
    const items = (await answer.json()) as FolderItem[];
    const next = /<([^>]+)>;\s*rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    const cursor = next === undefined ? null : new URL(next, location.origin).searchParams.get('cursor');
    const known = before?.items.filter(({ name }) => !items.some((item) => item.name === name)) ?? [];
    const total = Number(answer.headers.get('x-total-count') ?? items.length);
    return { path, items: [...known, ...items], next: cursor, total };
  } catch {
    return LOST;
  }
}

/** Uploads one file and reports progress. It replaces an existing file only with `replace`. */
export function sendFile(
  address: string,
  file: Blob,
  options: { replace: boolean; signal: AbortSignal; onSent(bytes: number): void },
): Promise<UploadEnd> {
  const request = new XMLHttpRequest();
  return new Promise((resolve) => {
    options.signal.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded }) => options.onSent(loaded);
    request.onabort = () => resolve({ state: 'stopped' });
    request.onerror = () => resolve({ state: 'failed', says: 'The connection broke, or the file changed meanwhile.' });
    request.onload = () => {
      if (request.status === 412 && !options.replace) resolve({ state: 'exists' });
      else if (request.status < 300) resolve({ state: 'done' });
      else resolve({ state: 'failed', says: messageIn(request.responseText, request.status) });
    };
    request.open('PUT', address);
    request.setRequestHeader('content-type', 'application/octet-stream');
    if (!options.replace) request.setRequestHeader('if-none-match', '*');
    request.send(file);
  });
}

function messageIn(text: string, status: number): string {
  try {
    const { detail, hint } = JSON.parse(text) as Partial<Problem>;
    return [detail ?? `It was refused (${status}).`, hint].filter(Boolean).join(' ');
  } catch {
    // What is between here and the server answered in its own words.
    return `It was refused (${status}).`;
  }
}

/** Reads a file, then deletes exactly that version. */
export async function deleteWithUndo(
  id: string,
  volume: VolumeName,
  path: string,
): Promise<DeletedFile | ActionOutcome> {
  const address = bytesAddress({ id }, volume, path);
  try {
    const read = await fetch(address, { cache: 'no-store' });
    if (!read.ok) return await refusalIn(read);
    const content = await read.blob();
    const etag = read.headers.get('etag') ?? '';
    const deleted = await fetch(address, { method: 'DELETE', headers: { 'if-match': etag } });
    return deleted.ok ? { volume, path, content } : await refusalIn(deleted);
  } catch {
    return LOST;
  }
}

/** Restores a deleted file, unless something else has taken its path. */
export async function undoDelete(id: string, { volume, path, content }: DeletedFile): Promise<ActionOutcome> {
  try {
    const answer = await fetch(bytesAddress({ id }, volume, path), {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'if-none-match': '*' },
      body: content,
    });
    if (answer.ok) return { ok: true, says: `/${volume}${path} is back.` };
    if (answer.status !== 412) return await refusalIn(answer);
    return {
      ok: false,
      says: `There is a newer /${volume}${path} now. Yours was not put over it.`,
      hint: 'Rename the newer one first, then undo again.',
    };
  } catch {
    return LOST;
  }
}

/** The end of a followed file. */
export interface FileTail {
  text: string;
  /** The offset after what was read; null before the first answer. */
  end: number | null;
  /** The version that was read. */
  etag: string | null;
  /** Why nothing was read. */
  says: string | null;
}

export const NO_TAIL: FileTail = { text: '', end: null, etag: null, says: null };

const TAIL_BYTES = 16 * 1024;
/** Characters of a followed file that are kept. */
const TAIL_LENGTH = 256 * 1024;

/** Reads what was added to a file since `before`; the same object when nothing was. A shorter file is read anew. */
export async function readTail(
  address: string,
  before: FileTail,
  size: number,
  signal: AbortSignal,
): Promise<FileTail> {
  const from = before.end ?? Math.max(0, size - TAIL_BYTES);
  try {
    const answer = await fetch(address, {
      cache: 'no-store',
      signal,
      headers: {
        ...(from > 0 ? { range: `bytes=${from}-` } : {}),
        ...(before.etag === null ? {} : { 'if-none-match': before.etag }),
      },
    });
    if (answer.status === 304) return before;
    if (answer.status === 416) return { ...NO_TAIL, text: `${before.text}\n… the file became shorter …\n`, end: 0 };
    if (!answer.ok) return { ...before, says: (await refusalIn(answer)).says };
    const bytes = await answer.arrayBuffer();
    const text = before.text + new TextDecoder().decode(bytes);
    const end = from + bytes.byteLength;
    return { text: text.slice(-TAIL_LENGTH), end, etag: answer.headers.get('etag'), says: null };
  } catch {
    return signal.aborted ? before : { ...before, says: LOST.says };
  }
}
