/**
 * The reads of the file pages: the folders above the open path, a part of the open file, search results. They wake
 * nothing.
 */
import type { FileView, VolumeName } from '#components/files/file-address.ts';
import { FOLDER_PAGE } from '#components/files/file-calls.ts';
import { type Folder, folderOf, foldersAbove, nameOf, parentFolder, withItem } from '#components/files/file-tree.ts';
import type { PreviewedPart } from '#components/files/preview.tsx';
import { decodeText, editable, lineEnds, PART_BYTES, previewOf, startOfLine } from '#components/files/preview-kind.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import type { Database, DatabaseRows, PastQuery, SearchHit } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parseVfsPath, type VfsPath } from '#lib/vfs/paths.ts';
import { problemInWords, problemOf } from '../../problem.ts';

/** How far into a file lines are counted, which is as far as its content is searched. */
const COUNTED_BYTES = 8 * 1024 * 1024;
/** The largest text that is edited in place. */
const EDITED_BYTES = 256 * 1024;
const MAX_SHOWN = 10_000;
const HITS = 100;

/** What the address asks for. */
export interface FileQuery {
  volume: VolumeName;
  /** A folder's ends with a slash. */
  path: string;
  look: FileView;
  find: { text: string; in: 'name' | 'content'; everywhere: boolean } | null;
  /** As of when; nothing in it: now. */
  past: PastQuery;
}

function whole(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Parses the address's parameters. `volume`: one that the visitor may read. */
export function parseFileQuery(
  values: Readonly<Record<string, string>>,
  volume: VolumeName,
  rawPath: string | undefined,
  /** The name of a table, as it was given. */
  table?: string,
  past: PastQuery = {},
): FileQuery {
  const path = rawPath === undefined || rawPath === '' ? '/' : rawPath;
  const line = whole(values.line);
  const text = values.find ?? '';
  return {
    volume,
    past,
    path: path.startsWith('/') ? path : `/${path}`,
    look: {
      from: whole(values.from) ?? 0,
      ...(line === undefined || line === 0 ? {} : { line }),
      source: values.as === 'source',
      edit: values.edit === '1',
      ...(values.tables === undefined ? {} : { tables: values.tables }),
      ...(values.rows === undefined ? {} : { rows: values.rows }),
      ...(table === undefined ? {} : { table }),
      shown: Math.min(MAX_SHOWN, Math.max(FOLDER_PAGE, whole(values.shown) ?? 0)),
    },
    find:
      text === '' ? null : { text, in: values.in === 'content' ? 'content' : 'name', everywhere: values.all === '1' },
  };
}

async function readOne(
  caller: Caller,
  id: InstanceId,
  { volume, past }: FileQuery,
  path: string,
  limit: number,
): Promise<Folder> {
  const { items, next, total } = await getHost().operations.folder(caller, id, volume, {
    path: parseVfsPath(path),
    limit,
    ...past,
  });
  return { path, items, next, total };
}

/** Whether a read failed because there is no such folder. */
function isAbsence(error: unknown): boolean {
  return isWinterdockError(error) && ['not_found', 'conflict', 'validation'].includes(error.code);
}

/** The folders along a path, from the root, as far as they exist; and the path, a folder's with its slash. */
async function readFolders(caller: Caller, id: InstanceId, query: FileQuery) {
  const { path, look } = query;
  const read = (at: string) =>
    readOne(caller, id, query, at, at === folderOf(path) ? (look.shown ?? FOLDER_PAGE) : FOLDER_PAGE);
  const above = foldersAbove(path);
  const answers = await Promise.allSettled(above.map(read));
  const folders: Folder[] = [];
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') folders.push(answer.value);
    else if (index > 0 && isAbsence(answer.reason)) return { folders, path, missing: above[index] ?? path };
    else throw answer.reason;
  }
  const name = nameOf(path);
  const parent = folders.at(-1);
  const isFolder =
    !path.endsWith('/') && (parent?.items.some((item) => item.kind === 'dir' && item.name === name) ?? false);
  if (!isFolder) return { folders, path, missing: null };
  return { folders: [...folders, await read(`${path}/`)], path: `${path}/`, missing: null };
}

interface Edited {
  text: string;
  etag: string;
  lineEnd: '\n' | '\r\n';
}

/** An open file: the visible part, its ETag, and its text for the editor, or the reason why it cannot be edited. */
export interface OpenFile {
  opened: PreviewedPart;
  etag: string;
  edited: Edited | string | null;
  /** What a database holds, or why it is not shown; null for another file. */
  database: OpenedDatabase | ActionOutcome | null;
}

export interface OpenedDatabase {
  listed: Database;
  /** Where the list of tables begins; undefined at its beginning. */
  tables: string | undefined;
  /** The rows of one table, or why they are not shown; null when no table can be opened. */
  shown: DatabaseRows | ActionOutcome | null;
}

const TABLES_SHOWN = 100;
const ROWS_SHOWN = 50;

async function readDatabase(
  caller: Caller,
  id: InstanceId,
  { volume, past, look: { table, rows, tables } }: FileQuery,
  path: VfsPath,
): Promise<OpenedDatabase | ActionOutcome> {
  const refusal = (error: unknown): ActionOutcome => ({ ok: false, ...problemInWords(problemOf(error, caller)) });
  const { operations } = getHost();
  try {
    const at = { path, limit: TABLES_SHOWN, ...past, ...(tables === undefined ? {} : { cursor: tables }) };
    const listed = await operations.tables(caller, id, volume, at);
    const first = listed.tables.find(({ kind, problem }) => kind === 'table' && problem === null);
    const name = table ?? first?.name;
    if (name === undefined) return { listed, tables, shown: null };
    const page = { path, table: name, limit: ROWS_SHOWN, ...past, ...(rows === undefined ? {} : { cursor: rows }) };
    return { listed, tables, shown: await operations.tableRows(caller, id, volume, page).catch(refusal) };
  } catch (error) {
    return refusal(error);
  }
}

async function editedText(caller: Caller, id: InstanceId, volume: VolumeName, path: VfsPath): Promise<Edited | string> {
  const { stat, content } = await getHost().operations.file(caller, id, volume, path, { start: 0, end: EDITED_BYTES });
  if (content.length > EDITED_BYTES) return 'It is too large to be edited here: at most 256 KiB are.';
  const text = decodeText(content);
  if (text === null) return 'It is not text.';
  const plain = editable(text);
  return plain === null ? 'Its line ends are mixed: saving it here would change them.' : { ...plain, etag: stat.etag };
}

/** The offset of the part that contains a line, at a line's beginning. */
async function partWith(
  caller: Caller,
  id: InstanceId,
  { volume, past }: FileQuery,
  path: VfsPath,
  line: number,
): Promise<number> {
  const counted = { start: 0, end: COUNTED_BYTES - 1 };
  const { content } = await getHost().operations.file(caller, id, volume, path, counted, past);
  const start = startOfLine(content, line) ?? 0;
  // Some lines earlier, so that the line is not at the edge.
  return start < PART_BYTES / 2 ? 0 : (startOfLine(content, Math.max(1, line - 20)) ?? 0);
}

async function readFile(caller: Caller, id: InstanceId, query: FileQuery): Promise<OpenFile> {
  const { volume, look, past } = query;
  const path = parseVfsPath(query.path);
  const { operations } = getHost();
  const { from: wanted = 0, line, source = false, edit = false } = look;
  const from = line === undefined ? wanted : await partWith(caller, id, query, path, line);
  const counted = from > 0 && from <= COUNTED_BYTES;
  const [{ stat, content }, before, edited] = await Promise.all([
    operations.file(caller, id, volume, path, { start: from, end: from + PART_BYTES - 1 }, past),
    counted ? operations.file(caller, id, volume, path, { start: 0, end: from - 1 }, past) : null,
    edit ? editedText(caller, id, volume, path) : null,
  ]);
  // A part that starts past the end: the file has become shorter.
  if (from > 0 && from >= stat.size) return readFile(caller, id, { ...query, look: { source, edit } });
  const asSource = source || line !== undefined;
  const preview = previewOf({ path, bytes: content, from, size: stat.size, source: asSource });
  return {
    database: preview.kind === 'database' ? await readDatabase(caller, id, query, path) : null,
    opened: {
      path,
      size: stat.size,
      mtime: stat.mtime,
      from,
      firstLine: from === 0 ? 1 : before === null ? null : lineEnds(before.content) + 1,
      marked: line ?? null,
      preview,
    },
    etag: stat.etag,
    edited,
  };
}

export interface SearchResults {
  hits: SearchHit[];
  truncated: boolean;
}

async function search(
  caller: Caller,
  id: InstanceId,
  { volume, find, past }: FileQuery,
): Promise<SearchResults | null> {
  if (find === null) return null;
  return getHost().operations.search(caller, id, {
    q: find.text.slice(0, 500),
    in: find.in,
    limit: HITS,
    ...past,
    ...(find.everywhere ? {} : { volume }),
  });
}

/** Reads everything that the page shows. Throws when nothing of the sandbox can be read. */
export async function readVolume(caller: Caller, id: InstanceId, query: FileQuery) {
  const refusal = (error: unknown): ActionOutcome => ({ ok: false, ...problemInWords(problemOf(error, caller)) });
  const [infos, { folders, path, missing }, found] = await Promise.all([
    getHost().operations.volumes(caller, id, query.past),
    readFolders(caller, id, query),
    search(caller, id, query).catch(refusal),
  ]);
  const at = { ...query, path };
  const gone: ActionOutcome = { ok: false, says: `There is no folder ${missing} in ${query.volume}.` };
  const folder = path.endsWith('/');
  const file =
    missing !== null ? gone : folder || found !== null ? null : await readFile(caller, id, at).catch(refusal);
  return { infos, folders: withOpened(folders, path, file), path, found, file };
}

/** The folders with the open file in them, even when it lies beyond the loaded items. */
function withOpened(folders: Folder[], path: string, file: OpenFile | ActionOutcome | null): Folder[] {
  const within = parentFolder(path);
  return folders.map((folder) => {
    if (folder.path !== within || file === null || !('opened' in file)) return folder;
    const { size, mtime } = file.opened;
    return withItem(folder, { name: nameOf(path), kind: 'file', size, mtime });
  });
}
