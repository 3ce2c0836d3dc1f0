/** Folders and files for the tests of the VFS, removed after the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../base/clock.ts';
import { openLive } from '../open.ts';
import { parseVfsPath } from '../paths.ts';
import type { Vfs } from '../vfs.ts';

export const MIB = 1024 * 1024;

/** The seed's table as the seed itself declares it, spaces included. */
export const SEED_TABLE = `CREATE TABLE IF NOT EXISTS vfs (
  volume TEXT NOT NULL, path TEXT NOT NULL, content BLOB, mtime INTEGER, PRIMARY KEY (volume, path))`;

/** An empty folder that is removed after the test. */
export function tmpFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vfs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A path in a folder of its own, where there is no file yet. */
export function tmpFile(): string {
  return join(tmpFolder(), 'vfs.sqlite');
}

/** A live VFS, by default in memory, closed after the test. */
export function liveVfs(
  options: { file?: string; maxBytes?: number; maxFileBytes?: number; mustExist?: boolean; clock?: Clock } = {},
): Vfs {
  const vfs = openLive(options.file ?? ':memory:', {
    maxBytes: options.maxBytes ?? 512 * MIB,
    maxFileBytes: options.maxFileBytes ?? 64 * MIB,
    mustExist: options.mustExist ?? false,
    clock: options.clock,
  });
  onTestFinished(() => vfs.close());
  return vfs;
}

/** A file written as the seed writes it: its table alone, not in WAL mode. `rows`: volume, path, content, mtime. */
export function writeRows(file: string, rows: [string, string, string | Uint8Array | null, number | null][]): void {
  const db = new DatabaseSync(file);
  db.exec(SEED_TABLE);
  const insert = db.prepare('INSERT OR REPLACE INTO vfs VALUES (?, ?, ?, ?)');
  for (const row of rows) insert.run(...row);
  db.close();
}

/** A plain handle as another tool would open it, closed after the test. */
export function otherTool(file: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  const db = new DatabaseSync(file, options);
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}

/** Parses a path of a test, as a border would. */
export const vfsPath = parseVfsPath;

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function text(content: Uint8Array | null): string | null {
  return content && new TextDecoder().decode(content);
}

/** The code of the error that `run` throws; undefined when it throws none. */
export function codeOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}
