/**
 * What lies in a drawer and is not where its row says: what a committed operation had still to remove is removed, a
 * row's own file goes back to its place, and anything else is set aside. Decided key by key, by the row and the files.
 * Knows nothing of intents.
 */
import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { InstanceRow } from '../registry/types.ts';
import type { Drawer } from '../storage/drawer.ts';
import { isStaging, sha256Of, stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, ledgerEntry, livePath, MEMORY, systemAudit } from './engine.ts';
import { hasSameBytes, hasWal, isPacked, locationOf, moveToOrphans, removeLiveFolder } from './file-locations.ts';
import { matchesRecord, sameStamp } from './file-verification.ts';
import { listedIds, removeListing } from './listing.ts';
import { recordReturnedFile, returnFile, wasRevived } from './rollback.ts';

export interface OrphanSearchResult {
  /** Files that were set aside. */
  orphans: number;
  /**
   * Sleeping sandboxes whose file is in the live drawer: it was brought home early, and nobody is left who would file
   * it back.
   */
  prefetched: string[];
}

type Outcome = 'its own' | 'settled' | 'left' | 'set aside';

/** Whether a row at rest names a place where no file is. Costs one stat. */
export function isFileMissing(engine: Engine, row: InstanceRow): boolean {
  const location = locationOf(engine, row);
  return (location === 'live' || location === 'cold') && stampOf(absolutePath(engine, row.vfsPath ?? '')) === null;
}

/**
 * Takes the file of a row at rest back from another drawer, where it lies under the row's own key, with a ledger line:
 * power loss may keep a move and lose what was written of it. True when it was there and is the one that was filed. The
 * caller holds the file exclusively.
 */
export async function reclaimFile(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (!isFileMissing(engine, row)) return false;
  const elsewhere = locationOf(engine, row) === 'live' ? engine.cold.pathOf(row.id) : livePath(row.id);
  if (!(await isFileOfRow(engine, row, elsewhere))) return false;
  // A process may have had it open where it was brought.
  const known = { identity: await engine.readers.settle(absolutePath(engine, elsewhere)) };
  await returnFile(engine, row);
  const file = recordReturnedFile(engine, row, known);
  const found = ledgerEntry(engine, row, systemAudit('reconcile'), 'file.reclaimed', {
    reason: `its file was at ${elsewhere}, not at ${row.vfsPath}`,
  });
  await engine.registry.instances.abandon(row.id, file === null ? {} : { file }, [found]);
  return true;
}

/**
 * Whether the file at `path` (relative to the data folder) is the one that was recorded in a row: the same one, or
 * another with its bytes.
 */
export async function isFileOfRow(engine: Engine, row: InstanceRow, path: string): Promise<boolean> {
  const stamp = stampOf(absolutePath(engine, path));
  if (stamp === null || row.file === null) return false;
  if (stamp.inode === row.file.inode) return true;
  if (hasWal(absolutePath(engine, path))) return false;
  const found = await engine.readers.check(absolutePath(engine, path), { urgent: true });
  return found.quickCheck === 'ok' && matchesRecord(row.file, stamp, found);
}

/**
 * Looks at the live drawer, whose size is what was awake or suspended, and sets aside what no row claims. Nothing else
 * may run.
 */
export async function searchLiveDrawer(engine: Engine): Promise<OrphanSearchResult> {
  const early: string[] = [];
  const landing = new Set((await engine.registry.copies.unclaimedFiles()).filter((path) => path.startsWith('live/')));
  let orphans = 0;
  for await (const { name: id } of await opendir(join(engine.config.dataFolder, 'live'))) {
    if (isStaging(id)) continue;
    const row = await engine.registry.instances.get(id);
    // What was landing has a mark until it has a row.
    if (row === null && landing.has(livePath(id))) {
      await removeLiveFolder(engine, id);
      continue;
    }
    const found = await resolveLiveFile(engine, id, row);
    if (found === 'its own' && (row?.state === 'frozen' || row?.state === 'archived')) early.push(id);
    if (found === 'set aside') orphans += 1;
  }
  for (const path of landing) await engine.registry.copies.clearUnclaimed(path);
  return { orphans, prefetched: early };
}

/**
 * Looks through the drawers of sleeping files, a few at a time beside everything else. Returns how many were set aside.
 */
export async function searchDrawers(engine: Engine): Promise<number> {
  let orphans = 0;
  for (const drawer of [engine.cold, engine.archive]) {
    for await (const key of drawer.keys()) {
      if (engine.stop.aborted) return orphans;
      const found = await engine.runtimes.use(key, (runtime) =>
        runtime.verbs.runExclusive(() => runtime.exclusive(() => resolveDrawerFile(engine, drawer, key))),
      );
      if (found === 'set aside') orphans += 1;
    }
  }
  await removeStaleListings(engine);
  return orphans;
}

/**
 * The same for one sandbox, which an operation has left something of. The caller holds the verbs lock and the file
 * exclusively.
 */
export async function cleanUpAfterOperation(engine: Engine, row: InstanceRow): Promise<void> {
  if (existsSync(join(engine.config.dataFolder, 'live', row.id))) await resolveLiveFile(engine, row.id, row);
  await resolveDrawerFile(engine, engine.cold, row.id);
  await resolveDrawerFile(engine, engine.archive, row.id);
  if (engine.archive.stamp(row.id) === null) await removeListing(engine, row.id);
}

async function resolveLiveFile(engine: Engine, id: string, row: InstanceRow | null): Promise<Outcome> {
  const path = livePath(id);
  if (row?.vfsPath === path) return 'its own';
  if (existsSync(absolutePath(engine, path)) && row !== null && (await reclaimFile(engine, row))) return 'settled';
  const done = row === null ? null : await whyRemovable(engine, row, path);
  if (row !== null && done !== null) {
    await finishCommitted(engine, row, done, () => removeLiveFolder(engine, id));
    return 'settled';
  }
  const lies = existsSync(absolutePath(engine, path));
  if (lies && !mayBeOrphan(engine, row)) return 'left';
  if (lies) await moveToOrphans(engine, row ?? { id, tenant: '' }, path);
  await removeLiveFolder(engine, id);
  return lies ? 'set aside' : 'settled';
}

async function resolveDrawerFile(engine: Engine, drawer: Drawer, key: string): Promise<Outcome> {
  const row = await engine.registry.instances.get(key);
  const path = drawer.pathOf(key);
  // What an archived sandbox was expanded from early stays packed.
  const expanded = drawer === engine.archive && row?.state === 'archived' && row.vfsPath === livePath(key);
  if (row?.vfsPath === path || expanded || drawer.stamp(key) === null) return 'its own';
  if (row !== null && drawer === engine.cold && (await reclaimFile(engine, row))) return 'settled';
  const done = row === null ? null : await whyRemovable(engine, row, path);
  if (row !== null && done !== null) {
    await finishCommitted(engine, row, done, () => drawer.remove(key));
    return 'settled';
  }
  if (!mayBeOrphan(engine, row)) return 'left';
  await moveToOrphans(engine, row ?? { id: key, tenant: '' }, path);
  return 'set aside';
}

/**
 * Whether a file that no row says is there may be set aside. Not in a registry that is not the one that was signed; and
 * not while the file that the row of its key does name is gone, for then this one may be it.
 */
function mayBeOrphan(engine: Engine, row: InstanceRow | null): boolean {
  if (!engine.registryIsWhole()) return false;
  if (row === null || row.vfsPath === null || row.vfsPath === MEMORY) return true;
  return stampOf(absolutePath(engine, row.vfsPath)) !== null;
}

/**
 * Why the file at `path` (relative to the data folder) of a row that names another may go, or null: the row was
 * deleted, or what the row names is the same file, packed, expanded or moved by an operation that was committed and had
 * still to remove it.
 */
async function whyRemovable(engine: Engine, row: InstanceRow, path: string): Promise<string | null> {
  if (row.state === 'deleted') return 'delete was committed';
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.state === 'active') {
    return path === engine.archive.pathOf(row.id) && (await wasRevived(engine, row)) ? REVIVE_COMMITTED : null;
  }
  const own = absolutePath(engine, row.vfsPath);
  // A log may hold what the file beside it lacks.
  if (stampOf(absolutePath(engine, path)) === null || stampOf(own) === null || hasWal(absolutePath(engine, path)))
    return null;
  if (path === engine.archive.pathOf(row.id)) {
    return (await wasRevived(engine, row)) || (await hasSameBytes(engine, path, true, own)) ? REVIVE_COMMITTED : null;
  }
  if (!isPacked(engine, row)) return (await hasSameBytes(engine, path, false, own)) ? 'the file had been moved' : null;
  return (await isPackedFrom(engine, row, absolutePath(engine, path))) ? 'archive had packed the file' : null;
}

/**
 * Whether the archived file of a row was packed from the one at `source`. What is packed is read only where its hash is
 * not known.
 */
async function isPackedFrom(engine: Engine, row: InstanceRow, source: string): Promise<boolean> {
  const packed = engine.archive.stamp(row.id);
  const known = packed !== null && row.file !== null && sameStamp(packed, row.file) ? row.file.sha256 : null;
  if (known !== null) return (await sha256Of(source)) === known;
  return hasSameBytes(engine, row.vfsPath ?? '', true, source);
}

const REVIVE_COMMITTED = 'revive had brought the file home';

/** Does the last step of an operation that was committed and killed before it. */
async function finishCommitted(
  engine: Engine,
  row: InstanceRow,
  reason: string,
  step: () => Promise<void>,
): Promise<void> {
  await engine.registry.ledger.append([
    ledgerEntry(engine, row, systemAudit('reconcile'), 'reconcile.rolled_forward', { reason }),
  ]);
  await step();
}

/**
 * Removes the listings of what is not archived any more, or never came to be. They are made from a file, so none is
 * anybody's work.
 */
async function removeStaleListings(engine: Engine): Promise<void> {
  for await (const id of listedIds(engine)) {
    if (engine.stop.aborted) return;
    if (engine.archive.stamp(id) !== null) continue;
    await engine.runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(async () => {
        const row = await engine.registry.instances.get(id);
        if (row?.state !== 'archived' && engine.archive.stamp(id) === null) await removeListing(engine, id);
      }),
    );
  }
}
