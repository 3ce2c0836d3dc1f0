/**
 * Rolling an operation back: its file goes to where the row says, and what the operation made elsewhere is removed.
 * Decided by the files alone, so the same steps roll back a failure, a kill and a power cut, and may be repeated. A
 * file in the live drawer of a row that rests elsewhere was made by the operation, because the live drawer was cleared
 * before the intent. The caller holds the file exclusively. Knows nothing of why an operation failed.
 */

import { dirname } from 'node:path';
import type { InstanceId } from '../../base/ids.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { FileRecord, InstanceRow } from '../../registry/types.ts';
import type { RestingFile } from '../../storage/drawer.ts';
import { lastingFolder, stampOf } from '../../storage/files.ts';
import { sameInode, sameStamp } from '../../storage/stamp.ts';
import { absolutePath, type Engine, livePath, MEMORY, systemAudit } from '../engine.ts';
import {
  drawerOf,
  fileAt,
  fileOf,
  hasSameBytes,
  locationOf,
  moveToOrphans,
  putIntoDrawer,
  removeEmptyLiveFolder,
  removeLiveFolder,
} from '../files/file-locations.ts';
import { type FileFingerprint, fileRecord, stampAt } from '../files/file-verification.ts';
import { removeListing } from '../files/listing.ts';

/** How many hops of a sandbox are searched for one out of the archive. */
const HOPS_LOOKED_AT = 20;

/**
 * Puts the file of a row back to where the row says. Does nothing when nothing was moved. Loses nothing: a file that is
 * not proved to be a copy moves to `orphans/`. Throws what the disk throws; then the caller tries it again.
 */
export async function returnFile(engine: Engine, row: InstanceRow): Promise<void> {
  const location = locationOf(engine, row);
  if (location === 'memory') return;
  const live = absolutePath(engine, livePath(row.id));
  if (location === 'live') {
    if (stampOf(live) === null && (await engine.drawers.cold.at(row.id).stat()) !== null) {
      await lastingFolder(dirname(live));
      await (await engine.drawers.cold.fetch(row.id, live)).makeDurable();
    }
    await dropDuplicate(engine, row, 'cold', fileAt(engine, row.id, livePath(row.id)));
    await dropDuplicate(engine, row, 'archive', fileAt(engine, row.id, livePath(row.id)));
    return;
  }
  if (location === 'cold') {
    const cold = engine.drawers.cold.at(row.id);
    if ((await cold.stat()) === null && stampOf(live) !== null) {
      await putIntoDrawer(engine, row, live, engine.drawers.cold);
      await removeEmptyLiveFolder(engine, row.id);
    }
    // A copy's source goes last.
    if ((await cold.stat()) !== null) await removeLiveFolder(engine, row.id);
    await dropDuplicate(engine, row, 'archive', cold);
    return;
  }
  if (location === 'archive') {
    if ((await engine.drawers.archive.at(row.id).stat()) !== null) await removeLiveFolder(engine, row.id);
    return;
  }
  // The file was made from a shared copy, or of nothing.
  await dropDuplicate(engine, row, 'archive', fileAt(engine, row.id, livePath(row.id)));
  await removeLiveFolder(engine, row.id);
}

/**
 * Removes the file that a drawer has for a row that is not filed there, when it is a copy of `original`; any other file
 * moves to `orphans/`.
 */
async function dropDuplicate(
  engine: Engine,
  row: InstanceRow,
  location: 'cold' | 'archive',
  original: RestingFile,
): Promise<void> {
  const drawer = drawerOf(engine, location);
  // The archived file stays packed after a prefetch, until the sandbox is revived.
  if (drawer === null || (location === 'archive' && row.state === 'archived')) return;
  const copy = drawer.at(row.id);
  if ((await copy.stat()) !== null) {
    const spent = location === 'archive' && (await wasRevived(engine, row));
    if (spent || (await hasSameBytes(engine, copy, original))) await copy.remove();
    else await moveToOrphans(engine, row, copy);
  }
  if (location === 'archive') await removeListing(engine, row.id);
}

/**
 * Whether the archived file is the one that a sandbox came back from: the row has its file elsewhere, and the ledger
 * has a hop out of the archive.
 */
export async function wasRevived(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.state === 'archived') return false;
  if ((await fileOf(engine, row).stat()) === null) return false;
  const { rows } = await engine.registry.ledger.page({ instance: row.id, type: 'transition' }, HOPS_LOOKED_AT);
  return rows.some(({ from }) => from === 'archived');
}

/**
 * The record of a file after a rollback, or null without a file. The recorded file gets its present stamp. What is
 * known of its bytes stays while nothing has written to it; otherwise `known` replaces it. A file that may be another
 * one keeps the old record, to be compared with.
 */
export async function recordReturnedFile(
  engine: Engine,
  row: InstanceRow,
  known: Partial<FileFingerprint> | null = null,
): Promise<FileRecord | null> {
  const stamp = row.vfsPath === null ? null : await stampAt(fileOf(engine, row));
  if (stamp === null || row.file === null) return stamp && fileRecord(stamp, known);
  if (sameStamp(stamp, row.file)) return fileRecord(stamp, row.file);
  const { size, mtimeNs, identity } = row.file;
  const same = sameInode(row.file, stamp);
  if (same && size === stamp.size && mtimeNs === stamp.mtimeNs) return fileRecord(stamp, row.file);
  const marked = known?.identity != null && known.identity === identity;
  return same || marked ? fileRecord(stamp, known) : row.file;
}

/**
 * Runs what follows a commit and may fail: the commit stands. What fails here is done by a later round of the ladder,
 * or at the next start.
 */
export async function runCleanup(
  engine: Engine,
  id: InstanceId,
  work: () => Promise<void> | void | undefined,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    engine.interrupted.add(id);
    engine.log.warn({ id, err: error }, 'what an operation leaves was not removed yet');
  }
}

/** The ledger entry of an operation that was rolled back by somebody who found it interrupted. */
export function rollbackEntry(engine: Engine, row: InstanceRow, because: string, audit = systemAudit('reconcile')) {
  return ledgerEntry(engine, row, audit, 'reconcile.rolled_back', {
    reason: `${because} during ${row.pending?.verb ?? 'a move'}`,
  });
}
