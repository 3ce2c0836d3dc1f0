/**
 * The search for files that are in a drawer but not where their row says. What a committed operation had still to
 * remove is removed, the own file of a row goes back, and any other file moves to `orphans/`. Decided key by key, from
 * the row and the files. Knows nothing of intents.
 */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isCloudAddress } from '../../base/cloud-address.ts';
import { type InstanceId, instanceIdOfFile } from '../../base/ids.ts';
import { isThereNow } from '../../base/strangers-file.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import type { Drawer, RestingFile } from '../../storage/drawer.ts';
import { isStaging, sha256Of } from '../../storage/files.ts';
import { sameInode, sameStamp } from '../../storage/stamp.ts';
import { absolutePath, type Engine, isOwn, livePath, MEMORY, systemAudit } from '../engine.ts';
import {
  fileAt,
  fileOf,
  hasLog,
  hasSameBytes,
  isPacked,
  localAddressOf,
  locationOf,
  moveToOrphans,
  removeLiveFolder,
} from '../files/file-locations.ts';
import { matchesRecord, stampAt } from '../files/file-verification.ts';
import { listedIds, removeListing } from '../files/listing.ts';
import { isOfWorkers, land } from '../moves/live-folder-landing.ts';
import { recordReturnedFile, returnFile, wasRevived } from './rollback.ts';
import { settleAt } from './settle-file.ts';
import { wasTakenFromHere } from './takeover.ts';

export interface OrphanSearchResult {
  /** Files that were moved to `orphans/`. */
  orphans: number;
  /** Frozen and archived sandboxes whose file is in the live drawer: prefetched, and still to be returned. */
  prefetched: InstanceId[];
}

type Outcome = 'its own' | 'settled' | 'left' | 'orphaned';

/** Whether the file of a row at rest is missing where the row says. Costs one stat. */
export async function isFileMissing(engine: Engine, row: InstanceRow): Promise<boolean> {
  const location = locationOf(engine, row);
  return (location === 'live' || location === 'cold') && (await fileOf(engine, row).stat()) === null;
}

/**
 * Takes the file of a row at rest back from another drawer, where it is under the key of the row, with a ledger entry:
 * a power cut may keep a move and lose the row that tells of it. True when the file was there and is the one that was
 * filed. The caller holds the file exclusively.
 */
export async function reclaimFile(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (!(await isFileMissing(engine, row))) return false;
  const isLive = locationOf(engine, row) === 'live';
  const elsewhere = isLive ? engine.drawers.cold.at(row.id) : fileAt(engine, row.id, livePath(row.id));
  if (!(await isFileOfRow(engine, row, elsewhere))) return false;
  // A process may have had the file open where it was.
  const known = { identity: await settleAt(engine, row, elsewhere) };
  await returnFile(engine, row);
  const file = await recordReturnedFile(engine, row, known);
  const reclaimed = ledgerEntry(engine, row, systemAudit('reconcile'), 'file.reclaimed', {
    reason: `its file was at ${elsewhere.address}, not at ${row.vfsPath}`,
  });
  await engine.registry.instances.abandon(row.id, file === null ? {} : { file }, [reclaimed]);
  return true;
}

/**
 * Whether a file at rest is the one that a row recorded: the same inode, or the same
 * bytes.
 */
export async function isFileOfRow(engine: Engine, row: InstanceRow, file: RestingFile): Promise<boolean> {
  const stamp = await stampAt(file);
  if (stamp === null || row.file === null) return false;
  // Of what is in the store another host may have made the record, whose disk has the same numbers.
  const isRecordedHere = !isCloudAddress(row.vfsPath);
  if ((isRecordedHere && sameInode(stamp, row.file)) || sameStamp(stamp, row.file)) return true;
  if (await hasLog(file)) return false;
  const found = await file.read((path) => engine.readers.check(path, { urgent: true }));
  return found.quickCheck === 'ok' && matchesRecord(row.file, stamp, found);
}

/**
 * Searches the live drawer, which holds what was active or suspended, and moves files that no row names to `orphans/`.
 * Nothing else may run.
 */
export async function searchLiveDrawer(engine: Engine): Promise<OrphanSearchResult> {
  const prefetched: InstanceId[] = [];
  const landing = new Set((await engine.registry.copies.unclaimedFiles()).filter((path) => path.startsWith('live/')));
  let orphans = 0;
  for await (const { name } of await opendir(join(engine.config.dataFolder, 'live'))) {
    if (isStaging(name)) continue;
    const id = instanceIdOfFile(name);
    const row = await engine.registry.instances.get(id);
    // An earlier version left the folders of sandboxes to them.
    if (isOfWorkers(join(engine.config.dataFolder, 'live', name))) await land(engine, row ?? { id, tenant: '' });
    // A file that was landing from a bundle has a mark until it has a row.
    if (row === null && landing.has(livePath(id))) {
      await removeLiveFolder(engine, id);
      await engine.registry.copies.clearUnclaimed(livePath(id));
      continue;
    }
    const outcome = await resolveLiveFile(engine, id, row);
    if (outcome === 'its own' && (row?.state === 'frozen' || row?.state === 'archived')) prefetched.push(id);
    if (outcome === 'orphaned') orphans += 1;
  }
  // One whose file is not here may be landing on another host.
  if (engine.host.isAlone) for (const path of landing) await engine.registry.copies.clearUnclaimed(path);
  return { orphans, prefetched };
}

/**
 * Searches the drawers of frozen and archived files, a few at a time, beside everything else. Returns how many files it
 * moved to `orphans/`.
 */
export async function searchDrawers(engine: Engine): Promise<number> {
  let orphans = 0;
  for (const drawer of [engine.drawers.cold, engine.drawers.archive]) {
    for await (const keys of drawer.keyPages()) {
      for (const key of keys) {
        if (engine.stop.aborted) return orphans;
        const id = instanceIdOfFile(key);
        const outcome = await engine.runtimes.use(id, (runtime) =>
          runtime.verbs.runExclusive(() => runtime.exclusive(() => resolveDrawerFile(engine, drawer, id))),
        );
        if (outcome === 'orphaned') orphans += 1;
      }
    }
  }
  await removeStaleListings(engine);
  return orphans;
}

/**
 * The same search for one sandbox, after an operation that left something. The caller holds the verbs lock and the file
 * exclusively.
 */
export async function cleanUpAfterOperation(engine: Engine, row: InstanceRow): Promise<void> {
  if (isThereNow(join(engine.config.dataFolder, 'live', row.id))) await resolveLiveFile(engine, row.id, row);
  const { cold, archive } = engine.drawers;
  await resolveDrawerFile(engine, cold, row.id);
  await resolveDrawerFile(engine, archive, row.id);
  if ((await archive.at(row.id).stat()) === null) await removeListing(engine, row.id);
}

async function resolveLiveFile(engine: Engine, id: InstanceId, row: InstanceRow | null): Promise<Outcome> {
  const path = livePath(id);
  // Its file has the same name on the disk of its owner: what lies here is of an earlier time.
  if (row !== null && !isOwn(engine, row)) return setAsideTaken(engine, row, fileAt(engine, id, path));
  if (row?.vfsPath === path) return 'its own';
  if (isThereNow(absolutePath(engine, path)) && row !== null && (await reclaimFile(engine, row))) return 'settled';
  const file = fileAt(engine, id, path);
  const done = row === null ? null : await whyRemovable(engine, row, file);
  if (row !== null && done !== null) {
    await finishCommitted(engine, row, done, () => removeLiveFolder(engine, id));
    return 'settled';
  }
  const exists = isThereNow(absolutePath(engine, path));
  if (exists && !(await mayBeOrphan(engine, row))) return 'left';
  if (exists) await moveToOrphans(engine, row ?? { id, tenant: '' }, file);
  await removeLiveFolder(engine, id);
  return exists ? 'orphaned' : 'settled';
}

/** What another host has taken over is not what lies here any more. Any other file of its sandboxes stays. */
async function setAsideTaken(engine: Engine, row: InstanceRow, file: RestingFile): Promise<Outcome> {
  if ((await file.stat()) === null || !(await wasTakenFromHere(engine, row))) return 'left';
  await moveToOrphans(engine, row, file);
  return 'orphaned';
}

async function resolveDrawerFile(engine: Engine, drawer: Drawer, id: InstanceId): Promise<Outcome> {
  const row = await engine.registry.instances.get(id);
  const file = drawer.at(id);
  if (row !== null && !isOwn(engine, row)) return setAsideTaken(engine, row, file);
  // The archived file stays packed after a prefetch.
  const expanded = drawer === engine.drawers.archive && row?.state === 'archived' && row.vfsPath === livePath(id);
  if (localAddressOf(engine, row?.vfsPath ?? null) === file.address || expanded || (await file.stat()) === null)
    return 'its own';
  if (row !== null && drawer === engine.drawers.cold && (await reclaimFile(engine, row))) return 'settled';
  const done = row === null ? null : await whyRemovable(engine, row, file);
  if (row !== null && done !== null) {
    await finishCommitted(engine, row, done, () => file.remove());
    return 'settled';
  }
  if (!(await mayBeOrphan(engine, row))) return 'left';
  await moveToOrphans(engine, row ?? { id, tenant: '' }, file);
  return 'orphaned';
}

/**
 * Whether a file that no row names may move to `orphans/`. Not when the registry is not the one that was signed last;
 * and not while the file that the row of the same key names is missing, because then this may be it.
 */
async function mayBeOrphan(engine: Engine, row: InstanceRow | null): Promise<boolean> {
  if (!engine.registryIsWhole()) return false;
  // What is in the store is whole there.
  if (row === null || row.vfsPath === null || row.vfsPath === MEMORY || isCloudAddress(row.vfsPath)) return true;
  return (await fileOf(engine, row).stat()) !== null;
}

/**
 * Why a file may be removed though its row names another file; else null.
 * Either the row was deleted, or the file that the row names is the same file: packed, expanded or moved by an
 * operation that committed and had still to remove this one.
 */
async function whyRemovable(engine: Engine, row: InstanceRow, file: RestingFile): Promise<string | null> {
  if (row.state === 'deleted') return 'delete was committed';
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.state === 'active') {
    return file.packed && (await wasRevived(engine, row)) ? REVIVE_COMMITTED : null;
  }
  const own = fileOf(engine, row);
  // A log may hold commits that the file beside it lacks.
  if ((await file.stat()) === null || (await own.stat()) === null || (await hasLog(file))) return null;
  if (file.packed) {
    return (await wasRevived(engine, row)) || (await hasSameBytes(engine, file, own)) ? REVIVE_COMMITTED : null;
  }
  if (!isPacked(engine, row)) return (await hasSameBytes(engine, file, own)) ? 'the file had been moved' : null;
  return (await isPackedFrom(engine, row, file)) ? 'archive had packed the file' : null;
}

/**
 * Whether the archived file of a row was packed from `source`. Expands the archived file only when its hash
 * is not known.
 */
async function isPackedFrom(engine: Engine, row: InstanceRow, source: RestingFile): Promise<boolean> {
  const packed = await stampAt(engine.drawers.archive.at(row.id));
  const known = packed !== null && row.file !== null && sameStamp(packed, row.file) ? row.file.sha256 : null;
  if (known !== null) return (await source.read(sha256Of)) === known;
  return hasSameBytes(engine, fileOf(engine, row), source);
}

const REVIVE_COMMITTED = 'revive had brought the file home';

/** Does the last step of an operation that committed and was killed before that step. */
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

/** Removes the listings of sandboxes that are not archived. A listing is made from a file, so nothing is lost. */
async function removeStaleListings(engine: Engine): Promise<void> {
  for await (const id of listedIds(engine)) {
    if (engine.stop.aborted) return;
    const archived = engine.drawers.archive.at(id);
    if ((await archived.stat()) !== null) continue;
    await engine.runtimes.use(id, (runtime) =>
      runtime.verbs.runExclusive(async () => {
        const row = await engine.registry.instances.get(id);
        if (row !== null && !isOwn(engine, row)) return;
        if (row?.state !== 'archived' && (await archived.stat()) === null) await removeListing(engine, id);
      }),
    );
  }
}
