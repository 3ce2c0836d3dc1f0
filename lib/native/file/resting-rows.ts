/**
 * What the two tables of every VFS file have in a directory, as bytes: names need not be text. Reads no content and
 * writes nothing. Names that Linux cannot have are not shown, and stay where they are.
 */
import type { Statements } from '../../vfs/statements.ts';
import { MTIME, OWN_MTIME, SIZE, WITH_NODE } from '../../vfs/table-reader.ts';
import type { Volume } from '../../vfs/volumes.ts';
import { isFileName } from './names.ts';

export interface FileAtRest {
  kind: 'file';
  row: number;
  size: number;
  /** It has no content: a file that is larger than a row may be, or one of another tool. */
  isHollow: boolean;
  mtime: number;
  mode: number | null;
  /** Of the second table, where what it says of the row is still so; null: another tool has written it. */
  version: number | null;
}

interface RestingDirectory {
  kind: 'directory';
  mode: number | null;
  mtime: number;
  /** Null where only a deeper path implies it. */
  version: number | null;
}

interface RestingLink {
  kind: 'link';
  target: Buffer;
  mtime: number;
  version: number | null;
}

export type RestingEntry = FileAtRest | RestingDirectory | RestingLink;

const FILE_COLUMNS = `CAST(v.path AS BLOB) AS path, v.rowid AS row, ${SIZE} AS size, v.content IS NULL AS hollow, ${MTIME} AS mtime, n.mode AS mode,
  CASE WHEN n.size = ${SIZE} AND n.row = v.rowid AND (n.size > 262144 OR n.mtime = ${OWN_MTIME}) THEN n.version END AS version`;
const NODE_COLUMNS = 'CAST(path AS BLOB) AS path, kind, mode, mtime, version, CAST(target AS BLOB) AS target';
const NODES = "vfs_node WHERE kind <> 'file' AND";
const BETWEEN = 'volume = ? AND path > CAST(? AS TEXT) AND path < CAST(? AS TEXT)';
/** Rows that are read at once. */
const BATCH = 256;

interface FileRow {
  path: Uint8Array;
  row: number;
  size: number;
  hollow: number;
  mtime: number;
  mode: number | null;
  version: number | null;
}

interface NodeRow {
  path: Uint8Array;
  kind: string;
  mode: number | null;
  mtime: number | null;
  version: number;
  target: Uint8Array | null;
}

/** The entry at exactly this path; null where there is nothing. */
export function restingEntry(statements: Statements, volume: Volume, path: Buffer): RestingEntry | null {
  const node = statements.get<NodeRow>(
    `SELECT ${NODE_COLUMNS} FROM ${NODES} volume = ? AND path = CAST(? AS TEXT)`,
    volume,
    path,
  );
  if (node !== undefined && node.kind === 'dir') return ofNode(node);
  const file = statements.get<FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${WITH_NODE} WHERE v.volume = ? AND v.path = CAST(? AS TEXT)`,
    volume,
    path,
  );
  if (file !== undefined) return ofFile(file);
  if (node !== undefined) return ofNode(node);
  const [above, below] = [Buffer.concat([path, SLASH]), Buffer.concat([path, AFTER_SLASH])];
  for (const from of ['vfs WHERE', NODES]) {
    const deeper = statements.get(`SELECT 1 FROM ${from} ${BETWEEN} LIMIT 1`, volume, above, below);
    if (deeper !== undefined) return IMPLIED;
  }
  return null;
}

/** The entries directly in a directory, by name (as latin1, so that bytes stay bytes). */
export function restingEntries(statements: Statements, volume: Volume, directory: Buffer): Map<string, RestingEntry> {
  const found = new Map<string, RestingEntry>();
  const above = Buffer.concat([directory, SLASH]);
  const end = Buffer.concat([directory, AFTER_SLASH]);
  const files = `SELECT ${FILE_COLUMNS} FROM ${WITH_NODE} WHERE ${BETWEEN.replaceAll(/(volume|path) /g, 'v.$1 ')} ORDER BY v.path LIMIT ${BATCH}`;
  const nodes = `SELECT ${NODE_COLUMNS} FROM ${NODES} ${BETWEEN} ORDER BY path LIMIT ${BATCH}`;
  const nextFile = `SELECT CAST(path AS BLOB) AS path FROM vfs WHERE ${BETWEEN} ORDER BY path LIMIT 1`;
  const nextNode = `SELECT CAST(path AS BLOB) AS path FROM ${NODES} ${BETWEEN} ORDER BY path LIMIT 1`;
  for (const [batch, next] of [
    [files, nextFile],
    [nodes, nextNode],
  ] as const) {
    for (let after: Buffer | null = above; after !== null; ) {
      // A directory with all that is below it is stepped over at once, before its rows are read.
      const first = statements.get<{ path: Uint8Array }>(next, volume, after, end);
      if (first === undefined) break;
      const deep = deeperName(first.path, above.length);
      if (deep !== null) {
        noteImplied(found, deep);
        after = Buffer.concat([above, deep, AFTER_SLASH]);
        continue;
      }
      const rows: (FileRow | NodeRow)[] = statements.all(batch, volume, after, end);
      after = rows.length < BATCH ? null : bytesOfRow(rows.at(-1)?.path);
      for (const row of rows) {
        const below = deeperName(row.path, above.length);
        if (below !== null) {
          noteImplied(found, below);
          after = Buffer.concat([above, below, AFTER_SLASH]);
          break;
        }
        const name = bytesOfRow(row.path).subarray(above.length);
        if (!isFileName(name)) continue;
        const key = name.toString('latin1');
        const entry = 'row' in row ? ofFile(row) : ofNode(row);
        // A directory that was implied says more of itself; it also hides a file of its name.
        const known = found.get(key);
        if (known?.kind !== 'file' || entry.kind === 'directory') found.set(key, entry);
      }
    }
  }
  return found;
}

const SLASH = Buffer.from('/');
/** The character behind the slash ends the range of all that is below a directory. */
const AFTER_SLASH = Buffer.from('0');
const IMPLIED: RestingDirectory = { kind: 'directory', mode: null, mtime: 0, version: null };

/** The name of the directory that a deeper path implies; null for an entry of this directory. */
function deeperName(path: Uint8Array, from: number): Buffer | null {
  const slash = path.indexOf(47, from);
  return slash < 0 ? null : bytesOfRow(path).subarray(from, slash);
}

function noteImplied(found: Map<string, RestingEntry>, name: Buffer): void {
  if (!isFileName(name)) return;
  const key = name.toString('latin1');
  if (!found.has(key)) found.set(key, IMPLIED);
}

function bytesOfRow(bytes: Uint8Array | null | undefined): Buffer {
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
}

function ofFile({ row, size, hollow, mtime, mode, version }: FileRow): FileAtRest {
  return { kind: 'file', row, size, isHollow: hollow !== 0, mtime, mode, version };
}

function ofNode({ kind, mode, mtime, version, target }: NodeRow): RestingEntry {
  const seconds = typeof mtime === 'number' ? Math.max(0, mtime) : 0;
  if (kind === 'link') return { kind: 'link', target: bytesOfRow(target), mtime: seconds, version };
  return { kind: 'directory', mode, mtime: seconds, version };
}
