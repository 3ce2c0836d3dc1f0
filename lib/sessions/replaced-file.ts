/**
 * Keeping a file aside while another takes its place, and taking that back. What was there goes to `orphans/` under a
 * name that the intent gives, so that whoever finds it half done knows it. Opens nothing; the row is the caller's to
 * write.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder, unlinkFile } from '../base/effects.ts';
import type { FileRecord, InstanceRow, Intent } from '../registry/types.ts';
import { lastingFolder, moveFile, stagingFor, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, livePath } from './engine.ts';
import { isSharedCopy, locationOf, removeEmptyLiveFolder, removeLiveFolder } from './file-locations.ts';

/** A file and what SQLite keeps beside it; they move together. */
const PARTS = ['', '-wal', '-journal'] as const;

type RestoreIntent = Pick<Intent, 'startedMs' | 'generation' | 'fromPath'>;

/**
 * Where a file of its own lies, or a log of one, relative to the data folder; null when there is nothing, or only what
 * others have too.
 */
export function ownFilePath(engine: Engine, row: InstanceRow): string | null {
  const location = locationOf(engine, row);
  if (row.vfsPath === null || location === 'none' || location === 'memory' || isSharedCopy(location)) return null;
  const path = absolutePath(engine, row.vfsPath);
  return PARTS.some((part) => existsSync(path + part)) ? row.vfsPath : null;
}

/**
 * The path in `orphans/` of what was there, relative to the data folder; null when there was nothing. No two operations
 * have the same: each raises the generation, whether it is done or taken back.
 */
export function orphanPath(id: string, { startedMs, generation, fromPath }: RestoreIntent): string | null {
  return fromPath === null ? null : join('orphans', `${startedMs}-${id}-${generation}-${basename(fromPath)}`);
}

/** Moves what is there to `orphans/`, durably. */
export async function moveReplacedFile(engine: Engine, id: string, aside: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, aside);
  if (kept === null || aside.fromPath === null) return;
  await lastingFolder(join(engine.config.dataFolder, 'orphans'));
  const source = absolutePath(engine, aside.fromPath);
  for (const part of PARTS) {
    if (existsSync(source + part)) await move(engine, source + part, absolutePath(engine, kept) + part);
  }
  await unlinkFile(`${source}-shm`);
}

/** Brings back what moved aside and removes what took its place. May be repeated. */
export async function returnReplacedFile(engine: Engine, id: string, aside: RestoreIntent): Promise<void> {
  const kept = orphanPath(id, aside);
  if (kept === null || aside.fromPath === null) {
    // There was no file of its own, so whatever is in the live drawer is what took its place.
    await removeLiveFolder(engine, id);
    return;
  }
  const away = absolutePath(engine, kept);
  const source = absolutePath(engine, aside.fromPath);
  const isLive = aside.fromPath === livePath(id);
  if (!PARTS.some((part) => existsSync(away + part))) {
    if (!isLive) await removeEmptyLiveFolder(engine, id);
    return;
  }
  if (!isLive) await removeLiveFolder(engine, id);
  else if (!existsSync(away)) await unlinkFile(source);
  for (const part of PARTS) {
    if (existsSync(away + part)) await move(engine, away + part, source + part);
  }
  if (isLive) await syncFolder(join(source, '..'));
}

/** What is recorded of a file that moved there and back: its stat is another, its bytes are the same. */
export function recordAfterReturn(engine: Engine, row: InstanceRow): FileRecord | null {
  if (row.vfsPath === null || row.file === null) return row.file;
  const stamp = stampOf(absolutePath(engine, row.vfsPath));
  const same = stamp !== null && stamp.inode === row.file.inode && stamp.mtimeNs === row.file.mtimeNs;
  return same && stamp.size === row.file.size ? { ...row.file, ...stamp } : row.file;
}

async function move(engine: Engine, source: string, target: string): Promise<void> {
  await (await moveFile(source, target, stagingFor(engine.config.dataFolder, target))).makeDurable();
}
