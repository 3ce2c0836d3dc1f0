/**
 * The file that a restore in place replaces: it is kept in `orphans/` under a name that follows from the intent, and
 * comes back when the restore fails. Opens no file; the caller writes the row.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder, unlinkFile } from '../base/effects.ts';
import type { FileRecord, InstanceRow, Intent } from '../registry/types.ts';
import { lastingFolder, moveFile, stagingFor, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, livePath } from './engine.ts';
import { isSharedCopy, locationOf, removeEmptyLiveFolder, removeLiveFolder } from './file-locations.ts';

/** A file and its logs; they move together. */
const PARTS = ['', '-wal', '-journal'] as const;

type RestoreIntent = Pick<Intent, 'startedMs' | 'generation' | 'fromPath'>;

/**
 * The path, relative to the data folder, of the file that belongs to this sandbox alone, or of a log of it; null when
 * there is none.
 */
export function ownFilePath(engine: Engine, row: InstanceRow): string | null {
  const location = locationOf(engine, row);
  if (row.vfsPath === null || location === 'none' || location === 'memory' || isSharedCopy(location)) return null;
  const path = absolutePath(engine, row.vfsPath);
  return PARTS.some((part) => existsSync(path + part)) ? row.vfsPath : null;
}

/**
 * The path in `orphans/`, relative to the data folder, that the replaced file gets; null when there was no file. No two
 * operations have the same path: each raises the generation, even when it is rolled back.
 */
export function orphanPath(id: string, { startedMs, generation, fromPath }: RestoreIntent): string | null {
  return fromPath === null ? null : join('orphans', `${startedMs}-${id}-${generation}-${basename(fromPath)}`);
}

/** Moves the file that is to be replaced to `orphans/`, durably. */
export async function moveReplacedFile(engine: Engine, id: string, intent: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, intent);
  if (kept === null || intent.fromPath === null) return;
  await lastingFolder(join(engine.config.dataFolder, 'orphans'));
  const source = absolutePath(engine, intent.fromPath);
  for (const part of PARTS) {
    if (existsSync(source + part)) await move(engine, source + part, absolutePath(engine, kept) + part);
  }
  await unlinkFile(`${source}-shm`);
}

/** Brings the replaced file back and removes the new one. May be repeated. */
export async function returnReplacedFile(engine: Engine, id: string, intent: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, intent);
  if (kept === null || intent.fromPath === null) {
    // There was no file before, so the file in the live drawer is the new one.
    await removeLiveFolder(engine, id);
    return;
  }
  const orphan = absolutePath(engine, kept);
  const source = absolutePath(engine, intent.fromPath);
  const isLive = intent.fromPath === livePath(id);
  if (!PARTS.some((part) => existsSync(orphan + part))) {
    if (!isLive) await removeEmptyLiveFolder(engine, id);
    return;
  }
  if (!isLive) await removeLiveFolder(engine, id);
  else if (!existsSync(orphan)) await unlinkFile(source);
  for (const part of PARTS) {
    if (existsSync(orphan + part)) await move(engine, orphan + part, source + part);
  }
  if (isLive) await syncFolder(join(source, '..'));
}

/** The record of a file that was moved and came back: another stat, the same bytes. */
export function recordAfterReturn(engine: Engine, row: InstanceRow): FileRecord | null {
  if (row.vfsPath === null || row.file === null) return row.file;
  const stamp = stampOf(absolutePath(engine, row.vfsPath));
  const same = stamp !== null && stamp.inode === row.file.inode && stamp.mtimeNs === row.file.mtimeNs;
  return same && stamp.size === row.file.size ? { ...row.file, ...stamp } : row.file;
}

async function move(engine: Engine, source: string, target: string): Promise<void> {
  await (await moveFile(source, target, stagingFor(engine.config.dataFolder, target))).makeDurable();
}
