/**
 * Taking an operation back: whatever it did to a file, the file goes to where the row says, and what it made elsewhere
 * goes. Decided by the files alone, so a failure, a kill and a power cut are taken back by the same steps, and by doing
 * them again. What is in the live drawer of a row that rests elsewhere was made by the operation: the ground was
 * cleared before its intent. The caller holds the file exclusively. Knows nothing of why an operation failed.
 */

import { dirname } from 'node:path';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import { lastingFolder, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, ledgerEntry, livePath, MEMORY, systemAudit } from './engine.ts';
import {
  drawerOf,
  hasSameBytes,
  locationOf,
  moveToOrphans,
  putIntoDrawer,
  removeEmptyLiveFolder,
  removeLiveFolder,
} from './file-locations.ts';
import { type FileFingerprint, fileRecord } from './file-verification.ts';
import { removeListing } from './listing.ts';

/** Hops of one sandbox among which a return from the archive is looked for. */
const HOPS_LOOKED_AT = 20;

/**
 * Puts the file of a row back to where the row says. Does nothing when nothing was moved, and loses nothing: what is
 * not proved to be a copy of the row's own file is set aside. Throws what the disk throws; then it is to be done again.
 */
export async function returnFile(engine: Engine, row: InstanceRow): Promise<void> {
  const location = locationOf(engine, row);
  if (location === 'memory') return;
  const live = absolutePath(engine, livePath(row.id));
  if (location === 'live') {
    if (stampOf(live) === null && engine.cold.stamp(row.id) !== null) {
      await lastingFolder(dirname(live));
      await (await engine.cold.fetch(row.id, live)).makeDurable();
    }
    await dropDuplicate(engine, row, 'cold', live);
    await dropDuplicate(engine, row, 'archive', live);
    return;
  }
  if (location === 'cold') {
    const cold = absolutePath(engine, row.vfsPath ?? '');
    if (stampOf(cold) === null && stampOf(live) !== null) {
      await putIntoDrawer(engine, row, live, engine.cold);
      await removeEmptyLiveFolder(engine, row.id);
    }
    // The copy of a move to another filesystem: its source goes last.
    if (stampOf(cold) !== null) await removeLiveFolder(engine, row.id);
    await dropDuplicate(engine, row, 'archive', cold);
    return;
  }
  if (location === 'archive') {
    if (engine.archive.stamp(row.id) !== null) await removeLiveFolder(engine, row.id);
    return;
  }
  // It was made from a copy that stays where it is, or of nothing.
  await dropDuplicate(engine, row, 'archive', live);
  await removeLiveFolder(engine, row.id);
}

/**
 * Removes what a drawer has under the key of a row that is not filed there, when it is a copy of `original`; anything
 * else is set aside.
 */
async function dropDuplicate(
  engine: Engine,
  row: InstanceRow,
  location: 'cold' | 'archive',
  original: string,
): Promise<void> {
  const drawer = drawerOf(engine, location);
  // What an archived sandbox is expanded from stays packed until it is revived.
  if (drawer === null || (location === 'archive' && row.state === 'archived')) return;
  if (drawer.stamp(row.id) !== null) {
    const spent = location === 'archive' && (await wasRevived(engine, row));
    if (spent || (await hasSameBytes(engine, drawer.pathOf(row.id), location === 'archive', original))) {
      await drawer.remove(row.id);
    } else await moveToOrphans(engine, row, drawer.pathOf(row.id));
  }
  if (location === 'archive') await removeListing(engine, row.id);
}

/**
 * Whether what the archive holds is what a sandbox came back from: its row has its file elsewhere, and it was archived
 * once.
 */
export async function wasRevived(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.state === 'archived') return false;
  if (stampOf(absolutePath(engine, row.vfsPath)) === null) return false;
  const { rows } = await engine.registry.ledger.page({ instance: row.id, type: 'transition' }, HOPS_LOOKED_AT);
  return rows.some(({ from }) => from === 'archived');
}

/**
 * The record of a file that was put back: its stamp of now, when it is the recorded file. All that was known of its
 * bytes stays known while nothing has written to it; else it is what is `known` now. What may be another file keeps the
 * record that it is to be compared with. Null without a file.
 */
export function recordReturnedFile(
  engine: Engine,
  row: InstanceRow,
  known: Partial<FileFingerprint> | null = null,
): FileRecord | null {
  const stamp = row.vfsPath === null ? null : stampOf(absolutePath(engine, row.vfsPath));
  if (stamp === null || row.file === null) return stamp && fileRecord(stamp, known);
  const { inode, size, mtimeNs, identity } = row.file;
  const same = inode === stamp.inode;
  if (same && size === stamp.size && mtimeNs === stamp.mtimeNs) return fileRecord(stamp, row.file);
  const marked = known?.identity != null && known.identity === identity;
  return same || marked ? fileRecord(stamp, known) : row.file;
}

/**
 * Does what may follow a commit and needs none: what was committed stays so whether or not it succeeds now. What fails
 * is done by a later round of the ladder, or at the next start.
 */
export async function runCleanup(
  engine: Engine,
  id: string,
  work: () => Promise<void> | void | undefined,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    engine.interrupted.add(id);
    engine.log.warn({ id, err: error }, 'what an operation leaves was not removed yet');
  }
}

/** The ledger's line of an operation that was taken back by whoever found it. */
export function rollbackEntry(engine: Engine, row: InstanceRow, because: string, audit = systemAudit('reconcile')) {
  return ledgerEntry(engine, row, audit, 'reconcile.rolled_back', {
    reason: `${because} during ${row.pending?.verb ?? 'a move'}`,
  });
}
