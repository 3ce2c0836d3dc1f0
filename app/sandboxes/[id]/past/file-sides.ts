/** Reads a file at two times, and what its tables are where it is a database. Wakes nothing. */
import type { VolumeName } from '#components/files/file-address.ts';
import { decodeText, isDatabaseFile, isImage } from '#components/files/preview-kind.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { isWinterdockError } from '#lib/base/errors.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import type { DatabaseRows, DatabaseTable, PastQuery } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { parseVfsPath, type VfsPath } from '#lib/vfs/paths.ts';
import { problemInWords, problemOf } from '../../../problem.ts';
import { type RowChange, rowDifference } from './row-difference.ts';

/** Of a text whose lines are compared. */
export const COMPARED_BYTES = 256 * 1024;
/** Of a table, rows that are compared. */
const MOST_ROWS = 500;
const MOST_TABLES = 20;

/** A file of a volume, and the two times that it is read at; `after`: nothing in it is now. */
interface ComparedFile {
  volume: VolumeName;
  path: string;
  before: PastQuery;
  after: PastQuery;
}

export interface TableChange {
  name: string;
  /** `kept`: it is there at both times. */
  change: 'added' | 'removed' | 'kept';
  /** The columns of the rows. */
  columns: readonly string[];
  rows: readonly RowChange[];
  /** Only the first rows of a longer table are compared. */
  isCut: boolean;
  /** Why its rows are not compared. */
  problem: string | null;
}

/** What a file was and became. The sizes are in bytes; null where it is not there. */
export type FileSides = { before: number | null; after: number | null } & (
  | { kind: 'text'; texts: [before: string, after: string] }
  | { kind: 'image' }
  | { kind: 'tables'; tables: readonly TableChange[]; more: number }
  | { kind: 'refused'; refused: ActionOutcome }
  /** `why`: why there is nothing to read. */
  | { kind: 'bytes'; why: string }
);

interface Side {
  size: number;
  bytes: Uint8Array;
}

/** Null where there is no such file. */
async function readSide(
  caller: Caller,
  id: InstanceId,
  volume: VolumeName,
  path: VfsPath,
  past: PastQuery,
): Promise<Side | null> {
  try {
    const range = { start: 0, end: COMPARED_BYTES };
    const { stat, content } = await getHost().operations.file(caller, id, volume, path, range, past);
    return { size: stat.size, bytes: content };
  } catch (error) {
    if (isWinterdockError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

async function tablesAt(caller: Caller, id: InstanceId, file: ComparedFile, past: PastQuery): Promise<DatabaseTable[]> {
  const path = parseVfsPath(file.path);
  const { tables } = await getHost().operations.tables(caller, id, file.volume, { path, limit: 100, ...past });
  return tables.filter(({ kind }) => kind === 'table');
}

async function rowsAt(
  caller: Caller,
  id: InstanceId,
  file: ComparedFile,
  past: PastQuery,
  table: string,
): Promise<DatabaseRows> {
  const page = { path: parseVfsPath(file.path), table, limit: MOST_ROWS, ...past };
  return getHost().operations.tableRows(caller, id, file.volume, page);
}

async function tableChange(
  caller: Caller,
  id: InstanceId,
  file: ComparedFile,
  [was, is]: [DatabaseTable | undefined, DatabaseTable | undefined],
): Promise<TableChange> {
  const name = (is ?? was)?.name ?? '';
  const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'kept';
  const nothing = { name, change, columns: [], rows: [], isCut: false } as const;
  const problem = was?.problem ?? is?.problem ?? null;
  if (problem !== null) return { ...nothing, problem };
  const [old, fresh] = await Promise.all([
    was === undefined ? null : rowsAt(caller, id, file, file.before, name),
    is === undefined ? null : rowsAt(caller, id, file, file.after, name),
  ]);
  const columns = (fresh ?? old)?.columns.map((column) => column.name) ?? [];
  if (old !== null && fresh !== null && old.columns.map((column) => column.name).join('\0') !== columns.join('\0')) {
    const words = (rows: DatabaseRows) => rows.columns.map((column) => column.name).join(', ');
    return { ...nothing, problem: `Its columns were ${words(old)} and are ${words(fresh)}.` };
  }
  const isCut = (old?.next ?? null) !== null || (fresh?.next ?? null) !== null;
  return { name, change, columns, rows: rowDifference(old?.rows ?? [], fresh?.rows ?? []), isCut, problem: null };
}

async function tableChanges(caller: Caller, id: InstanceId, file: ComparedFile, sides: [Side | null, Side | null]) {
  const [was, is] = await Promise.all([
    sides[0] === null ? [] : tablesAt(caller, id, file, file.before),
    sides[1] === null ? [] : tablesAt(caller, id, file, file.after),
  ]);
  const names = [...new Set([...was, ...is].map(({ name }) => name))];
  const of = (tables: readonly DatabaseTable[], wanted: string) => tables.find(({ name }) => name === wanted);
  const changes: TableChange[] = [];
  for (const name of names.slice(0, MOST_TABLES)) {
    changes.push(await tableChange(caller, id, file, [of(was, name), of(is, name)]));
  }
  return { tables: changes, more: Math.max(0, names.length - MOST_TABLES) };
}

/** Reads both; a refusal is a part of the answer. */
export async function readSides(caller: Caller, id: InstanceId, file: ComparedFile): Promise<FileSides> {
  const { volume, before, after } = file;
  try {
    const path = parseVfsPath(file.path);
    const sides = await Promise.all([
      readSide(caller, id, volume, path, before),
      readSide(caller, id, volume, path, after),
    ]);
    const [was, is] = sides;
    const sizes = { before: was?.size ?? null, after: is?.size ?? null };
    const present = sides.filter((side) => side !== null);
    if (present.length === 0) return { ...sizes, kind: 'bytes', why: 'It is there at neither time.' };
    if (isImage(file.path)) return { ...sizes, kind: 'image' };
    if (present.every(({ bytes }) => isDatabaseFile(bytes))) {
      return { ...sizes, kind: 'tables', ...(await tableChanges(caller, id, file, sides)) };
    }
    if (present.some(({ size }) => size > COMPARED_BYTES)) {
      return { ...sizes, kind: 'bytes', why: 'It is too large for a comparison by line: at most 256 KiB are.' };
    }
    const texts = sides.map((side) => (side === null ? '' : decodeText(side.bytes)));
    const [old = null, fresh = null] = texts;
    if (old === null || fresh === null) return { ...sizes, kind: 'bytes', why: 'It is not text.' };
    return { ...sizes, kind: 'text', texts: [old, fresh] };
  } catch (error) {
    const refused = { ok: false, ...problemInWords(problemOf(error, caller)) };
    return { before: null, after: null, kind: 'refused', refused };
  }
}
