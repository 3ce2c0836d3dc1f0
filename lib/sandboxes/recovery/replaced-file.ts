/**
 * The file that a restore in place replaces: it is kept in `orphans/` under a name that follows from the intent, and
 * comes back when the restore fails. Opens no file; the caller writes the row.
 */
import { basename, dirname, join } from 'node:path';
import { syncFolder, unlinkFile } from '../../base/effects.ts';
import type { InstanceId } from '../../base/ids.ts';
import { isThere } from '../../base/is-there.ts';
import type { FileRecord, InstanceRow, Intent } from '../../registry/types.ts';
import type { FilePart, RestingFile } from '../../storage/drawer.ts';
import { lastingFolder } from '../../storage/files.ts';
import { sameInode } from '../../storage/stamp.ts';
import { absolutePath, type Engine, livePath } from '../engine.ts';
import {
  fileAt,
  fileOf,
  isSharedCopy,
  localAddressOf,
  locationOf,
  removeEmptyLiveFolder,
  removeLiveFolder,
} from '../files/file-locations.ts';
import { stampAt } from '../files/file-verification.ts';

/** A file and its logs; they move together. */
const PARTS: readonly FilePart[] = ['', '-wal', '-journal'];

type RestoreIntent = Pick<Intent, 'startedMs' | 'generation' | 'fromPath'>;

/**
 * The path, relative to the data folder, of the file that belongs to this sandbox alone, or of a log of it; null when
 * there is none.
 */
export async function ownFilePath(engine: Engine, row: InstanceRow): Promise<string | null> {
  const location = locationOf(engine, row);
  if (row.vfsPath === null || location === 'none' || location === 'memory' || isSharedCopy(location)) return null;
  return (await partsOf(fileOf(engine, row))).length > 0 ? localAddressOf(engine, row.vfsPath) : null;
}

/** What there is of a file at rest. */
async function partsOf(file: RestingFile): Promise<FilePart[]> {
  const beside = (await file.neighbours()).map(({ part }) => part);
  const isThere = (await file.stat()) !== null;
  return PARTS.filter((part) => (part === '' ? isThere : beside.includes(part)));
}

/**
 * The path in `orphans/`, relative to the data folder, that the replaced file gets; null when there was no file. No two
 * operations have the same path: each raises the generation, even when it is rolled back.
 */
export function orphanPath(id: InstanceId, { startedMs, generation, fromPath }: RestoreIntent): string | null {
  return fromPath === null ? null : join('orphans', `${startedMs}-${id}-${generation}-${basename(fromPath)}`);
}

/** Moves the file that is to be replaced to `orphans/`, durably. */
export async function moveReplacedFile(engine: Engine, id: InstanceId, intent: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, intent);
  if (kept === null || intent.fromPath === null) return;
  await lastingFolder(join(engine.config.dataFolder, 'orphans'));
  const source = fileAt(engine, id, intent.fromPath);
  for (const part of await partsOf(source)) await source.takeOut(part, absolutePath(engine, kept) + part);
  await source.remove('-shm');
}

/** Brings the replaced file back and removes the new one. May be repeated. */
export async function returnReplacedFile(engine: Engine, id: InstanceId, intent: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, intent);
  if (kept === null || intent.fromPath === null) {
    // There was no file before, so the file in the live drawer is the new one.
    await removeLiveFolder(engine, id);
    return;
  }
  const orphan = absolutePath(engine, kept);
  const source = fileAt(engine, id, intent.fromPath);
  const isLive = intent.fromPath === livePath(id);
  if (!PARTS.some((part) => isThere(orphan + part))) {
    if (!isLive) await removeEmptyLiveFolder(engine, id);
    return;
  }
  if (!isLive) await removeLiveFolder(engine, id);
  else if (!isThere(orphan)) await unlinkFile(absolutePath(engine, intent.fromPath));
  for (const part of PARTS) {
    if (isThere(orphan + part)) await source.giveBack(orphan + part, part);
  }
  if (isLive) await syncFolder(dirname(absolutePath(engine, intent.fromPath)));
}

/** The record of a file that was moved and came back: another stat, the same bytes. */
export async function recordAfterReturn(engine: Engine, row: InstanceRow): Promise<FileRecord | null> {
  if (row.vfsPath === null || row.file === null) return row.file;
  const stamp = await stampAt(fileOf(engine, row));
  const same = stamp !== null && sameInode(stamp, row.file) && stamp.mtimeNs === row.file.mtimeNs;
  return same && stamp.size === row.file.size ? { ...row.file, ...stamp } : row.file;
}
