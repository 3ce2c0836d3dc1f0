/**
 * Writes the rows of a file that real programs have changed into the tables of a new one: each file that a row may hold
 * is whole there, so that every reader and profile knows it. Larger ones keep chunks, and with them the mark that says
 * so. What the two tables cannot hold is not in a copy: numbers, second names, attributes, FIFOs and sockets.
 */
import type { DatabaseSync } from 'node:sqlite';
import { Statements } from '../../vfs/statements.ts';
import type { Vfs } from '../../vfs/vfs.ts';
import type { Volume } from '../../vfs/volumes.ts';
import type { PresentedRows } from './presented-rows.ts';
import { lowestCharge } from './room.ts';
import { CHUNKS_PER_FILE, FILE_CHUNK_BYTES, putLargeFile, WHOLE_BYTES } from './tables.ts';

interface PresentedFile {
  id: number;
  volume: Volume;
  path: Uint8Array;
  mtime: number;
  size: number;
  mode: number | null;
}

/** Bytes of a large file that are read at once. */
const READ_BYTES = 128 * FILE_CHUNK_BYTES;
const ZEROS = Buffer.alloc(FILE_CHUNK_BYTES);

/** `reader` has the file open, and `target` an empty database with both tables, in a transaction. */
export function copyPresented(reader: Vfs, target: DatabaseSync, volumes: readonly Volume[]): void {
  const { presented } = reader;
  if (presented === null) return;
  const statements = new Statements(target);
  const kept = volumes.map((volume) => `'${volume}'`).join(', ');
  const rows = new Map<number, number>();
  const files = reader.db.prepare(
    `SELECT r.id AS id, r.volume AS volume, CAST(r.path AS BLOB) AS path, r.mtime AS mtime, r.size AS size, n.mode AS mode
     FROM temp.native_row r LEFT JOIN temp.native_entry n ON n.volume = r.volume AND n.path = r.path AND n.kind = 'file'
     WHERE r.volume IN (${kept}) ORDER BY r.volume, r.path`,
  );
  for (const file of files.iterate() as unknown as Iterable<PresentedFile>) {
    const row = rows.size + 1;
    rows.set(file.id, row);
    const isWhole = file.size <= WHOLE_BYTES;
    statements.run(
      `INSERT INTO vfs (rowid, volume, path, content, mtime) VALUES (?, ?, CAST(? AS TEXT), ${isWhole ? "ifnull(?, x'')" : '?'}, ?)`,
      ...[row, file.volume, file.path, isWhole ? presented.content(file.id) : null, file.mtime],
    );
    if (!isWhole) copyLarge(target, statements, presented, file, row);
  }
  const entries = reader.db.prepare(
    `SELECT volume, CAST(path AS BLOB) AS path, kind, mode, mtime, size, row, version, CAST(target AS BLOB) AS target
     FROM temp.native_entry WHERE volume IN (${kept}) ORDER BY volume, path`,
  );
  let last = 0;
  for (const entry of entries.iterate() as unknown as Iterable<Record<string, number | string | Uint8Array | null>>) {
    const { volume, path, kind, mode, mtime, size, row, version, target: leadsTo } = entry;
    const isLarge = Number(size ?? 0) > WHOLE_BYTES;
    last = Math.max(last, Number(version));
    statements.run(
      `INSERT INTO vfs_node (volume, path, kind, mode, mtime, size, row, version, target)
       VALUES (?, CAST(? AS TEXT), ?, ?, ?, ?, ?, ?, CAST(? AS TEXT))`,
      ...[volume ?? null, path ?? null, kind ?? null, mode ?? null, mtime ?? null, isLarge ? 0 : (size ?? null)],
      ...[row === null ? null : (rows.get(Number(row)) ?? null), version ?? 0, leadsTo ?? null],
    );
  }
  statements.run("INSERT INTO vfs_node (volume, path, kind, version) VALUES ('', '', 'counter', ?)", last);
  statements.clear();
}

function copyLarge(
  target: DatabaseSync,
  statements: Statements,
  presented: PresentedRows,
  file: PresentedFile,
  row: number,
): void {
  const ino = putLargeFile(target, {
    row,
    size: file.size,
    mode: file.mode ?? 0o644,
    mtime: file.mtime,
    charge: lowestCharge(file.size),
  });
  for (let from = 0; from < file.size; from += READ_BYTES) {
    const bytes = presented.part(file.id, from, READ_BYTES);
    for (let at = 0; at < bytes.length; at += FILE_CHUNK_BYTES) {
      const chunk = bytes.subarray(at, at + FILE_CHUNK_BYTES);
      const id = ino * CHUNKS_PER_FILE + (from + at) / FILE_CHUNK_BYTES;
      if (!chunk.equals(ZEROS.subarray(0, chunk.length)))
        statements.run('INSERT INTO native_chunk (id, data) VALUES (?, ?)', id, chunk);
    }
  }
}
