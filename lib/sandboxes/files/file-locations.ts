/**
 * Where the file of a row is, and its moves between that drawer and the live drawer, or out of the drawers to
 * `orphans/`.
 */
import { basename, dirname, join } from 'node:path';
import { parseCloudAddress } from '../../base/cloud-address.ts';
import { type CopyKind, parseCopyPath } from '../../base/copy-paths.ts';
import { makeFolderNow, removeFolder, removeTree, syncFolder } from '../../base/effects.ts';
import { isWinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { isThereNow } from '../../base/strangers-file.ts';
import type { Source } from '../../lifecycle/words.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { fileOnDisk } from '../../storage/disk.ts';
import type { Drawer, FilePart, Placed, RestingFile } from '../../storage/drawer.ts';
import { lastingFolder, removeFile, sha256Of, stampOf } from '../../storage/files.ts';
import { holdsOwnFilesAlone, removeLater, setAsideNow } from '../../storage/landing-folder.ts';
import { absolutePath, type Engine, livePath, MEMORY, systemAudit } from '../engine.ts';

/** Where a row says that its file is. */
export type FileLocation = 'none' | 'memory' | 'live' | 'cold' | 'archive' | CopyKind;

/**
 * The address in the drawers of what a row names: of a file in the store that of its cached copy, which need not be
 * there; of any other file its own.
 */
export function localAddressOf<P extends string | null>({ drawers }: Pick<Engine, 'drawers'>, vfsPath: P): P | string {
  const stored = parseCloudAddress(vfsPath);
  return stored === null ? vfsPath : drawers[stored.kind].at(stored.id).address;
}

export function locationOf(engine: Pick<Engine, 'drawers'>, row: Pick<InstanceRow, 'id' | 'vfsPath'>): FileLocation {
  const address = localAddressOf(engine, row.vfsPath);
  switch (address) {
    case null:
      return 'none';
    case ':memory:':
      return 'memory';
    case livePath(row.id):
      return 'live';
    case engine.drawers.cold.at(row.id).address:
      return 'cold';
    case engine.drawers.archive.at(row.id).address:
      return 'archive';
    default: {
      const copy = parseCopyPath(address);
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
  return location === 'cold' || location === 'archive' ? engine.drawers[location] : null;
}

/** What is needed to find a file at rest. */
export type DrawerAccess = Pick<Engine, 'drawers'> & { config: Pick<Engine['config'], 'dataFolder'> };

/**
 * The file at an address that a row shows: of the live drawer, of the drawer of a copy, or under the sandbox's own id
 * in one of the others.
 */
export function fileAt(engine: DrawerAccess, id: InstanceId, address: string): RestingFile {
  const file = findFileAt(engine, id, address);
  if (file === null) throw new Error(`No drawer has ${address} of ${id}.`);
  return file;
}

/** The same; null for an address that no drawer has, as after a drawer was given another driver. */
export function findFileAt({ config, drawers }: DrawerAccess, id: InstanceId, of: string): RestingFile | null {
  const address = localAddressOf({ drawers }, of);
  if (address === livePath(id)) return fileOnDisk(config.dataFolder, address);
  const copy = parseCopyPath(address);
  if (copy !== null) return drawers[copy.kind].at(copy.hash);
  return [drawers.cold.at(id), drawers.archive.at(id)].find((file) => file.address === address) ?? null;
}

/**
 * The file of a row, where the row says, or its cached copy; of one that has none, the one that it would have in the
 * live drawer.
 */
export function fileOf(engine: DrawerAccess, { id, vfsPath }: Pick<InstanceRow, 'id' | 'vfsPath'>): RestingFile {
  return fileAt(engine, id, vfsPath === null || vfsPath === MEMORY ? livePath(id) : vfsPath);
}

/** Whether the file of a row is kept compressed. */
export function isPacked(engine: Pick<Engine, 'drawers'>, row: Pick<InstanceRow, 'id' | 'vfsPath'>): boolean {
  return localAddressOf(engine, row.vfsPath) === engine.drawers.archive.at(row.id).address;
}

/** Makes the live folder of a sandbox and brings its file there from its location. */
export async function fetchToLive(engine: Engine, row: InstanceRow, location: FileLocation): Promise<Placed> {
  if (location === 'memory' || location === 'live') return { moved: false, makeDurable: async () => {} };
  const file = absolutePath(engine, livePath(row.id));
  const folder = dirname(file);
  makeFolderNow(folder);
  const placed = await fetchFromRest(engine, row, location, file);
  return {
    moved: placed?.moved ?? false,
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
  if (row.vfsPath === path || row.vfsPath === MEMORY || row.state === 'active' || !isThereNow(dirname(file))) return;
  if (isThereNow(file)) {
    // A power cut may keep both names of a file that was being moved.
    if (await isSameAsLive(engine, row, locationOf(engine, row))) await removeFile(file);
    else await moveToOrphans(engine, row, fileAt(engine, row.id, path));
  }
  await moveLogsToOrphans(engine, row, fileAt(engine, row.id, path));
}

/** Whether the file in the live drawer has the bytes of the file at its location. */
async function isSameAsLive(engine: Engine, row: InstanceRow, location: FileLocation): Promise<boolean> {
  const live = fileAt(engine, row.id, livePath(row.id));
  if (row.vfsPath === null || (await hasLog(live))) return false;
  const own = fileOf(engine, row);
  return location === 'archive' ? hasSameBytes(engine, own, live) : hasSameBytes(engine, live, own);
}

async function fetchFromRest(
  engine: Engine,
  row: InstanceRow,
  location: FileLocation,
  file: string,
): Promise<Placed | null> {
  const copy = parseCopyPath(row.vfsPath ?? '');
  if (copy !== null) return engine.drawers[copy.kind].fetch(copy.hash, file);
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
export async function removeLiveFolder(engine: Engine, id: InstanceId): Promise<void> {
  const folder = dirname(absolutePath(engine, livePath(id)));
  if (holdsOwnFilesAlone(folder)) await removeTree(folder);
  else {
    // Nobody waits until what else is there is removed, however much it is.
    const aside = setAsideNow(engine.config.dataFolder, folder);
    if (aside !== null) removeLater(aside);
  }
  await syncFolder(dirname(folder));
}

/**
 * Removes the live folder of a sandbox whose file moved on. A folder that is not empty stays, for reconcile to clear.
 */
export async function removeEmptyLiveFolder(engine: Engine, id: InstanceId): Promise<void> {
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
  const there = drawer.at(row.id);
  if ((await there.stat()) !== null) {
    if (await hasBytesOf(engine, there, source)) await there.remove();
    else await moveToOrphans(engine, row, there);
  }
  await moveLogsToOrphans(engine, row, there);
  return drawer.put(source, row.id);
}

/** Whether a file at rest has the bytes of another, expanded when it is packed. False when `original` is not there. */
export async function hasSameBytes(engine: Engine, file: RestingFile, original: RestingFile): Promise<boolean> {
  return (await original.stat()) !== null && original.read((path) => hasBytesOf(engine, file, path));
}

/** The same of a local file (absolute). */
async function hasBytesOf(engine: Engine, file: RestingFile, original: string): Promise<boolean> {
  if (stampOf(original) === null) return false;
  const copy = await file.read(async (path) =>
    file.packed ? (await engine.readers.check(path, { urgent: true, packed: true })).sha256 : sha256Of(path),
  );
  return copy === (await sha256Of(original));
}

/** Whether a file at rest has a WAL that is not empty. */
export async function hasLog(file: RestingFile): Promise<boolean> {
  return (await file.neighbours()).some(({ part, size }) => part === '-wal' && (size ?? 0) > 0);
}

/** The logs in which SQLite keeps committed pages, or pages to undo, beside a file. */
const LOGS: readonly FilePart[] = ['-wal', '-journal'];

type OrphanContext = Pick<Engine, 'clock' | 'registry'> & { config: Pick<Engine['config'], 'dataFolder'> };

/**
 * Moves an orphan out of the drawers into `orphans/`, with a ledger entry. An orphan is never preferred and never
 * deleted.
 */
export async function moveToOrphans(
  engine: OrphanContext,
  row: Pick<InstanceRow, 'id' | 'tenant'>,
  file: RestingFile,
): Promise<void> {
  // The log goes first: alone it is useless, and a file without its log may lack commits.
  const logs = (await file.neighbours()).map(({ part }) => part).filter((part) => LOGS.includes(part));
  const kept = await moveFilesToOrphans(engine, row.id, file, [...logs, '']);
  await engine.registry.ledger.append([
    ledgerEntry(engine, row, systemAudit('reconcile'), 'orphan.set_aside', {
      reason: `${file.address} is not where the row says its file is; kept as orphans/${kept}`,
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
  file: RestingFile,
): Promise<void> {
  const found = await file.neighbours();
  if (found.length === 0) return;
  const logs = found.filter(({ part, size }) => LOGS.includes(part) && size !== 0).map(({ part }) => part);
  if (logs.length > 0) {
    const kept = await moveFilesToOrphans(engine, row.id, file, logs);
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, systemAudit('reconcile'), 'orphan.set_aside', {
        reason: `${logs.map((part) => file.address + part).join(' and ')} lay beside a file at rest, which has no log; kept beside orphans/${kept}`,
      }),
    ]);
  }
  for (const { part } of found) await file.remove(part);
}

/** Moves `parts` of a file at rest into `orphans/` under one name, and returns that name. */
async function moveFilesToOrphans(
  engine: OrphanContext,
  id: InstanceId,
  file: RestingFile,
  parts: readonly FilePart[],
): Promise<string> {
  const folder = join(engine.config.dataFolder, 'orphans');
  await lastingFolder(folder);
  const name = (n: number) => `${engine.clock.now() + n}-${id}-${basename(file.address)}`;
  const isTaken = (n: number) => ['', ...LOGS].some((suffix) => isThereNow(join(folder, name(n) + suffix)));
  let n = 0;
  while (isTaken(n)) n += 1;
  const kept = name(n);
  for (const part of parts) {
    try {
      await file.takeOut(part, join(folder, kept + part));
    } catch (error) {
      // Another reader of the same file moved it first.
      if (!isWinterdockError(error) || error.code !== 'missing_file') throw error;
    }
  }
  await file.remove('-shm');
  return kept;
}
