/**
 * Where the file of a row is, and its moves between that drawer and the live drawer, or out of the drawers to
 * `orphans/`.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolderNow, removeFolder, removeTree, syncFolder } from '../base/effects.ts';
import { isWinterdockError } from '../base/errors.ts';
import type { Source } from '../lifecycle/words.ts';
import { type CopyKind, parseCopyPath } from '../registry/copies.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { Drawer, Placed } from '../storage/drawer.ts';
import { lastingFolder, moveFile, removeFile, sha256Of, stagingFor, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, ledgerEntry, livePath, MEMORY, systemAudit } from './engine.ts';

/** Where a row says that its file is. */
export type FileLocation = 'none' | 'memory' | 'live' | 'cold' | 'archive' | CopyKind;

export function locationOf(engine: Engine, row: Pick<InstanceRow, 'id' | 'vfsPath'>): FileLocation {
  switch (row.vfsPath) {
    case null:
      return 'none';
    case ':memory:':
      return 'memory';
    case livePath(row.id):
      return 'live';
    case engine.cold.pathOf(row.id):
      return 'cold';
    case engine.archive.pathOf(row.id):
      return 'archive';
    default: {
      const copy = parseCopyPath(row.vfsPath);
      if (copy !== null) return copy.kind;
      throw new Error(`The row of ${row.id} names a path that is in no drawer.`);
    }
  }
}

export const SOURCE_OF: Readonly<Record<FileLocation, Source>> = {
  none: 'fresh',
  memory: 'fresh',
  live: 'local',
  cold: 'cold',
  archive: 'archive',
  snapshot: 'snapshot',
  blueprint: 'blueprint',
};

/** The drawer of a location; null for the live drawer, for no file, and for a copy that other sandboxes share. */
export function drawerOf(engine: Engine, location: FileLocation): Drawer | null {
  if (location === 'cold') return engine.cold;
  return location === 'archive' ? engine.archive : null;
}

/** Whether the file of a row is kept compressed. */
export function isPacked(engine: Engine, row: Pick<InstanceRow, 'id' | 'vfsPath'>): boolean {
  return row.vfsPath === engine.archive.pathOf(row.id);
}

/** Makes the live folder of a sandbox and brings its file there from its location. */
export async function fetchToLive(engine: Engine, row: InstanceRow, location: FileLocation): Promise<Placed> {
  if (location === 'memory' || location === 'live') return { makeDurable: async () => {} };
  const file = absolutePath(engine, livePath(row.id));
  const folder = dirname(file);
  makeFolderNow(folder);
  const placed = await fetchFromRest(engine, row, location, file);
  return {
    async makeDurable() {
      // The name of the folder first: a move gives up the old name of a file only once the new one, with every folder
      // above it, is durable.
      await syncFolder(dirname(folder));
      // The process that opens a new file makes it and syncs it, but may not be able to sync folders.
      await (placed === null ? syncFolder(folder) : placed.makeDurable());
    },
  };
}

/**
 * Clears the live drawer of a sandbox whose file is elsewhere: a copy of its own file is removed, any other file moves
 * to `orphans/`. A file found there later was made by the operation that follows.
 */
export async function clearStrayLiveFile(engine: Engine, row: InstanceRow): Promise<void> {
  const path = livePath(row.id);
  const file = absolutePath(engine, path);
  if (row.vfsPath === path || row.vfsPath === MEMORY || row.state === 'active' || !existsSync(dirname(file))) return;
  if (existsSync(file)) {
    // A power cut may keep both names of a file that was being moved.
    if (await isSameAsLive(engine, row, locationOf(engine, row))) await removeFile(file);
    else await moveToOrphans(engine, row, path);
  }
  await moveLogsToOrphans(engine, row, path);
}

/** Whether the file in the live drawer has the bytes of the file at its location. */
async function isSameAsLive(engine: Engine, row: InstanceRow, location: FileLocation): Promise<boolean> {
  const live = livePath(row.id);
  if (row.vfsPath === null || hasWal(absolutePath(engine, live))) return false;
  if (location === 'archive') return hasSameBytes(engine, row.vfsPath, true, absolutePath(engine, live));
  return hasSameBytes(engine, live, false, absolutePath(engine, row.vfsPath));
}

async function fetchFromRest(
  engine: Engine,
  row: InstanceRow,
  location: FileLocation,
  file: string,
): Promise<Placed | null> {
  const copy = parseCopyPath(row.vfsPath ?? '');
  if (copy !== null) return engine.copies[copy.kind].fetch(copy.hash, file);
  return drawerOf(engine, location)?.fetch(row.id, file) ?? null;
}

/**
 * Whether a location is the file of a snapshot or a blueprint. Only sandboxes that were never resumed are there;
 * several may share one file.
 */
export function isSharedCopy(location: FileLocation): location is CopyKind {
  return location === 'snapshot' || location === 'blueprint';
}

/** Removes the live folder of a sandbox with everything in it. */
export async function removeLiveFolder(engine: Engine, id: string): Promise<void> {
  const folder = dirname(absolutePath(engine, livePath(id)));
  await removeTree(folder);
  await syncFolder(dirname(folder));
}

/**
 * Removes the live folder of a sandbox whose file moved on. A folder that is not empty stays, for reconcile to clear.
 */
export async function removeEmptyLiveFolder(engine: Engine, id: string): Promise<void> {
  try {
    await removeFolder(dirname(absolutePath(engine, livePath(id))));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTEMPTY')))
      throw error;
  }
}

/**
 * Puts a clean live file into a drawer. What an earlier fault left there under the same key goes first: a copy of the
 * file is removed, any other file moves to `orphans/`. Returns the hash of the bytes where the drawer read them.
 */
export async function putIntoDrawer(
  engine: Engine,
  row: InstanceRow,
  source: string,
  drawer: Drawer,
): Promise<string | null> {
  if (drawer.stamp(row.id) !== null) {
    if (await hasSameBytes(engine, drawer.pathOf(row.id), drawer === engine.archive, source))
      await drawer.remove(row.id);
    else await moveToOrphans(engine, row, drawer.pathOf(row.id));
  }
  await moveLogsToOrphans(engine, row, drawer.pathOf(row.id));
  return drawer.put(source, row.id);
}

/**
 * Whether the file at `path` (relative to the data folder) has the bytes of `original`, after expanding it when
 * `packed`.
 */
export async function hasSameBytes(engine: Engine, path: string, packed: boolean, original: string): Promise<boolean> {
  if (stampOf(original) === null) return false;
  const copy = packed
    ? (await engine.readers.check(absolutePath(engine, path), { urgent: true, packed: true })).sha256
    : await sha256Of(absolutePath(engine, path));
  return copy === (await sha256Of(original));
}

/** Whether the live file has a WAL that is not empty. */
export function hasWal(file: string): boolean {
  return (stampOf(`${file}-wal`)?.size ?? 0) > 0;
}

/** The logs in which SQLite keeps committed pages, or pages to undo, beside a file. */
const LOGS = ['-wal', '-journal'];

type OrphanContext = Pick<Engine, 'clock' | 'registry'> & { config: Pick<Engine['config'], 'dataFolder'> };

/**
 * Moves an orphan out of the drawers into `orphans/`, with a ledger entry. An orphan is never preferred and never
 * deleted.
 */
export async function moveToOrphans(
  engine: OrphanContext,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  path: string,
): Promise<void> {
  // The log goes first: alone it is useless, and a file without its log may lack commits.
  const kept = await moveFilesToOrphans(engine, row.id, path, [...LOGS, '']);
  await engine.registry.ledger.append([
    ledgerEntry(engine, row, systemAudit('reconcile'), 'orphan.set_aside', {
      reason: `${path} is not where the row says its file is; kept as orphans/${kept}`,
    }),
  ]);
}

/**
 * Moves logs that lie beside a file at rest to `orphans/`, with a ledger entry. A file at rest has no log, and SQLite
 * would apply any that it finds. Empty ones are removed.
 */
export async function moveLogsToOrphans(
  engine: OrphanContext,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  path: string,
): Promise<void> {
  const source = absolutePath(engine, path);
  const found = [...LOGS, '-shm'].filter((suffix) => existsSync(source + suffix));
  if (found.length === 0) return;
  const logs = found.filter((suffix) => LOGS.includes(suffix) && stampOf(source + suffix)?.size !== 0);
  if (logs.length > 0) {
    const kept = await moveFilesToOrphans(engine, row.id, path, logs);
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, systemAudit('reconcile'), 'orphan.set_aside', {
        reason: `${logs.map((suffix) => path + suffix).join(' and ')} lay beside a file at rest, which has no log; kept beside orphans/${kept}`,
      }),
    ]);
  }
  for (const suffix of found) await removeFile(source + suffix);
}

/** Moves the files at `path` with each suffix into `orphans/` under one name, and returns that name. */
async function moveFilesToOrphans(
  engine: OrphanContext,
  id: string,
  path: string,
  suffixes: readonly string[],
): Promise<string> {
  const source = absolutePath(engine, path);
  const folder = join(engine.config.dataFolder, 'orphans');
  await lastingFolder(folder);
  const name = (n: number) => `${engine.clock.now() + n}-${id}-${basename(path)}`;
  const isTaken = (n: number) => ['', ...LOGS].some((suffix) => existsSync(join(folder, name(n) + suffix)));
  let n = 0;
  while (isTaken(n)) n += 1;
  const kept = name(n);
  const staging = stagingFor(engine.config.dataFolder, join(folder, kept));
  for (const suffix of suffixes) {
    if (!existsSync(source + suffix)) continue;
    try {
      await (await moveFile(source + suffix, join(folder, kept + suffix), staging)).makeDurable();
    } catch (error) {
      // Another reader of the same file moved it first.
      if (!isWinterdockError(error) || error.code !== 'missing_file') throw error;
    }
  }
  await removeFile(`${source}-shm`);
  return kept;
}
