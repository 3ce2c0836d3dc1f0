/**
 * Boot: every operation that a killed server left half done is rolled forward or back by looking at the files, every process that
 * is gone is filed, and what lies where no row says is set aside. The same for one sandbox, when a person asks for it.
 */
import { existsSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { tellable } from '../errors.ts';
import type { InstanceRow } from '../registry/registry.ts';
import { clearStaging, isStaging, stampOf } from '../storage/files.ts';
import { bringBack, recordAgain } from './aside.ts';
import { discardMemory, settleDead } from './death.ts';
import { absolute, type Engine, line, livePath, MEMORY, now, systemCause } from './engine.ts';
import type { Entry } from './entries.ts';
import { listedIds, removeListing } from './listing.ts';
import {
  clearLive,
  hasWal,
  isPacked,
  isShared,
  leaveLive,
  placeOf,
  putAway,
  setAside,
  setLogsAside,
} from './places.ts';
import type { Cause } from './sessions.ts';
import { type Known, recordOf, sameStamp } from './trust.ts';

/** Hops of one sandbox among which a return from the archive is looked for. */
const HOPS_LOOKED_AT = 20;

/** Who settles, and why there is something to settle, for the ledger. */
interface Settling {
  cause: Cause;
  because: string;
}

const BOOT: Settling = { cause: systemCause('reconcile'), because: 'the server was restarted' };

export interface Reconciled {
  settled: number;
  /** Files that were set aside. */
  orphans: number;
  /** Sleeping sandboxes whose file is in the live drawer: it was brought home early, and nobody is left who would file it back. */
  early: string[];
}

/** Settles every unsettled row. Nothing else may run. */
export async function reconcile(engine: Engine): Promise<Reconciled> {
  await clearStaging(engine.config.dataFolder);
  let settled = 0;
  for (const row of await engine.registry.unsettled()) {
    try {
      await settle(engine, row, BOOT);
      settled += 1;
    } catch (error) {
      engine.log.error({ id: row.id, err: error }, 'reconcile');
      await giveUp(engine, row, error);
    }
  }
  return { settled, ...(await sweepLive(engine)) };
}

/** A row that could not be settled says so. Nothing runs, so one that was active is not any more, and its file is what a process left. */
async function giveUp(engine: Engine, row: InstanceRow, error: unknown): Promise<void> {
  const fault = { fault: 'unknown' as const, reason: `the start could not settle it: ${tellable(error)}` };
  const raised = line(engine, row, BOOT.cause, 'fault.raised', { reason: 'unknown', error: tellable(error) });
  if (row.state !== 'active' || row.vfsPath === MEMORY) return engine.registry.abandon(row.id, { fault }, [raised]);
  const stamp = stampOf(absolute(engine, livePath(row.id)));
  await engine.registry.commit({
    id: row.id,
    from: 'active',
    to: 'suspended',
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: stamp === null ? row.file : { ...recordOf(stamp), unsettled: true },
    fault,
    now: now(engine),
    ledger: [line(engine, row, BOOT.cause, 'transition', { from: 'active', to: 'suspended' }), raised],
  });
}

/**
 * Settles one sandbox whose operation nobody carries out any more, as a boot would: what has happened to its file decides. A process that
 * it still has is ended. The caller holds the verbs lock.
 */
export async function settleInterrupted(engine: Engine, entry: Entry, row: InstanceRow, cause: Cause): Promise<void> {
  const how = { cause, because: 'it was interrupted' };
  if (row.state !== 'active') return entry.exclusive(() => settle(engine, row, how));
  const { process } = entry;
  entry.process = null;
  await process?.kill('killed');
  await settle(engine, row, how);
}

/**
 * Settles what a sandbox's last operation left, when not even its failure could be written down. The caller holds the verbs lock, so nobody
 * carries out what the row says is under way. Returns the row as it is then.
 */
export async function settleFirst(engine: Engine, entry: Entry, row: InstanceRow): Promise<InstanceRow> {
  if (row.pending === null) return row;
  await settleInterrupted(engine, entry, row, systemCause('reconcile'));
  return (await engine.registry.get(row.id)) ?? row;
}

async function settle(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  if (row.state === 'active') return settleActive(engine, row, how);
  switch (row.pending?.verb) {
    case 'resume':
    case 'revive':
      return undoWake(engine, row, how);
    case 'freeze':
      return settleFreeze(engine, row, how);
    case 'archive':
      if (engine.archive.stamp(row.id) !== null) await engine.archive.remove(row.id);
      return row.state === 'created' ? undoWake(engine, row, how) : rolledBack(engine, row, how);
    case 'suspend':
      return undoWake(engine, row, how);
    case 'delete':
      return settleDelete(engine, row, how);
    case 'prefetch':
      return settlePrefetch(engine, row, how);
    case 'restore':
      return settleRestore(engine, row, how);
    default:
      return rolledBack(engine, row, how);
  }
}

/** No process outlives the server: what was active is filed as suspended, whatever was being done with it. */
async function settleActive(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const verb = row.pending?.verb;
  if (verb === 'archive' && engine.archive.stamp(row.id) !== null) await engine.archive.remove(row.id);
  await engine.entries.with(row.id, (entry) =>
    settleDead(engine, entry, row, {
      trigger: verb === undefined ? 'boot' : 'reconcile',
      fault: null,
      detail: verb === undefined ? how.because : `${how.because} during ${verb}`,
    }),
  );
}

/** A wake that was not acknowledged did not happen: the file goes back to where the row says. */
async function undoWake(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const place = placeOf(engine, row);
  const live = absolute(engine, livePath(row.id));
  if (place === 'none' || place === 'memory' || isShared(place)) {
    await clearLive(engine, row.id);
    return rolledBack(engine, row, how);
  }
  if (place === 'archive') {
    if (engine.archive.stamp(row.id) !== null) await clearLive(engine, row.id);
    return rolledBack(engine, row, how);
  }
  if (place === 'cold') {
    if (engine.cold.stamp(row.id) !== null) {
      // The copy of a move across filesystems: the source is whole.
      await clearLive(engine, row.id);
      return rolledBack(engine, row, how);
    }
    if (stampOf(live) === null) return rolledBack(engine, row, how);
    const opened = hasWal(live);
    const identity = await settleOpened(engine, row, live);
    await putAway(engine, row, live, engine.cold);
    await leaveLive(engine, row.id);
    const untouched = !opened && row.file?.mtimeNs === engine.cold.stamp(row.id)?.mtimeNs;
    return restored(engine, row, untouched ? row.file : { identity }, how);
  }
  if (stampOf(live) === null) return rolledBack(engine, row, how);
  const identity = await settleOpened(engine, row, live);
  const untouched = row.file !== null && stampOf(live)?.mtimeNs === row.file.mtimeNs;
  return restored(engine, row, untouched ? row.file : { identity }, how);
}

/** Takes up the log that a process left which had opened the file. Where none can have, what lies beside the file is not its own. */
async function settleOpened(engine: Engine, row: InstanceRow, live: string): Promise<string | null> {
  const verb = row.pending?.verb;
  if (verb === 'resume' || verb === 'revive') return engine.readers.settle(live);
  await setLogsAside(engine, row, livePath(row.id));
  return row.file?.identity ?? null;
}

/** A move to the cold drawer either happened or not; which, the drawer says. */
async function settleFreeze(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const stamp = engine.cold.stamp(row.id);
  const live = absolute(engine, livePath(row.id));
  if (stamp === null || stampOf(live) !== null) {
    if (stamp !== null) await engine.cold.remove(row.id);
    return rolledBack(engine, row, how);
  }
  await leaveLive(engine, row.id);
  await engine.registry.commit({
    id: row.id,
    from: row.state,
    to: 'frozen',
    generation: row.generation,
    vfsPath: engine.cold.pathOf(row.id),
    file: recordOf(stamp, row.file),
    bytes: stamp.size,
    now: now(engine),
    ledger: [
      line(engine, row, how.cause, 'reconcile.rolled_forward', { reason: 'freeze had moved the file' }),
      line(engine, row, how.cause, 'transition', { from: row.state, to: 'frozen' }),
    ],
  });
}

/** A deletion that had removed the file is finished; one that had not did not happen. */
async function settleDelete(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const kept = row.vfsPath !== null && existsSync(absolute(engine, row.vfsPath));
  if (kept) return rolledBack(engine, row, how);
  await engine.registry.append([
    line(engine, row, how.cause, 'reconcile.rolled_forward', { reason: 'delete had removed the file' }),
  ]);
  await discardMemory(engine, row, how.cause);
}

async function settlePrefetch(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  const live = absolute(engine, livePath(row.id));
  if (row.state === 'archived') {
    if (placeOf(engine, row) === 'archive') await clearLive(engine, row.id);
    return rolledBack(engine, row, how);
  }
  const expected = row.vfsPath === null ? null : absolute(engine, row.vfsPath);
  if (expected !== null && stampOf(expected) === null) {
    if (expected === live) await engine.cold.fetch(row.id, live);
    else if (stampOf(live) !== null) {
      await putAway(engine, row, live, engine.cold);
      await leaveLive(engine, row.id);
    }
    return restored(engine, row, row.file, how);
  }
  return rolledBack(engine, row, how);
}

/** A restore that was not committed did not happen. */
async function settleRestore(engine: Engine, row: InstanceRow, { cause, because }: Settling): Promise<void> {
  if (row.pending !== null) await bringBack(engine, row.id, row.pending);
  await engine.registry.commit({
    ...row,
    from: row.state,
    to: row.state,
    file: recordAgain(engine, row),
    fault: undefined,
    now: now(engine),
    ledger: [line(engine, row, cause, 'reconcile.rolled_back', { reason: `${because} during restore` })],
  });
}

async function rolledBack(engine: Engine, row: InstanceRow, how: Settling): Promise<void> {
  await engine.registry.abandon(row.id, {}, [
    line(engine, row, how.cause, 'reconcile.rolled_back', {
      reason: `${how.because} during ${row.pending?.verb ?? 'nothing'}`,
    }),
  ]);
}

/** The file is back where the row says; its stamp is recorded anew, with what is still known of its bytes. */
async function restored(
  engine: Engine,
  row: InstanceRow,
  known: Partial<Known> | null,
  { cause, because }: Settling,
): Promise<void> {
  const stamp = row.vfsPath === null ? null : stampOf(absolute(engine, row.vfsPath));
  await engine.registry.commit({
    id: row.id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath: row.vfsPath,
    file: stamp === null ? null : recordOf(stamp, known),
    now: now(engine),
    ledger: [
      line(engine, row, cause, 'reconcile.rolled_back', {
        reason: `${because} during ${row.pending?.verb ?? 'a move'}`,
      }),
    ],
  });
}

/** Looks at the live drawer, whose size is what was awake or suspended, and sets aside what no row claims. */
async function sweepLive(engine: Engine): Promise<Omit<Reconciled, 'settled'>> {
  const early: string[] = [];
  const landing = new Set((await engine.registry.copies.unclaimed()).filter((path) => path.startsWith('live/')));
  let orphans = 0;
  for await (const folder of await opendir(join(engine.config.dataFolder, 'live'))) {
    if (isStaging(folder.name)) continue;
    const path = livePath(folder.name);
    const row = await engine.registry.get(folder.name);
    if (row?.vfsPath === path) {
      if (row.state === 'frozen' || row.state === 'archived') early.push(row.id);
      continue;
    }
    // What was landing has a mark until it has a row.
    if (!existsSync(absolute(engine, path)) || (row === null && landing.has(path))) {
      await clearLive(engine, folder.name);
      continue;
    }
    if (row !== null && (await returned(engine, row))) continue;
    if (row !== null && wasPacked(engine, row)) {
      await finished(engine, row, 'archive had packed the file', () => clearLive(engine, row.id));
      continue;
    }
    if (!isNobodys(engine, row)) continue;
    await setAside(engine, row ?? { id: folder.name, tenant: '' }, path);
    await clearLive(engine, folder.name);
    orphans += 1;
  }
  for (const path of landing) await engine.registry.copies.forget(path);
  return { orphans, early };
}

/**
 * Whether a file that no row says is there may be set aside. Not in a registry that is not the one that was signed; and not while the file
 * that the row of its key does name is gone, for then this one may be it.
 */
function isNobodys(engine: Engine, row: InstanceRow | null): boolean {
  if (!engine.registryIsWhole()) return false;
  if (row === null || row.vfsPath === null || row.vfsPath === MEMORY) return true;
  return stampOf(absolute(engine, row.vfsPath)) !== null;
}

/** Whether the archive holds the file of an archived row as it was packed: what it was packed from is then what a kill left. */
function wasPacked(engine: Engine, row: InstanceRow): boolean {
  if (row.state !== 'archived' || row.file === null || !isPacked(engine, row)) return false;
  const stamp = engine.archive.stamp(row.id);
  return stamp !== null && sameStamp(stamp, row.file);
}

/** Whether what the archive holds is what a sandbox came back from: its row has its file elsewhere, and it was archived once. */
async function cameBack(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.state === 'archived') return false;
  if (stampOf(absolute(engine, row.vfsPath)) === null) return false;
  const { rows } = await engine.registry.ledger({ instance: row.id, type: 'transition' }, HOPS_LOOKED_AT);
  return rows.some(({ from }) => from === 'archived');
}

/** Does the last step of an operation that was committed and killed before it. */
async function finished(engine: Engine, row: InstanceRow, reason: string, step: () => Promise<void>): Promise<void> {
  await engine.registry.append([line(engine, row, BOOT.cause, 'reconcile.rolled_forward', { reason })]);
  await step();
}

/** Power loss may keep a rename and lose the intent before it. A file with the recorded inode is the row's own: it goes back. */
async function returned(engine: Engine, row: InstanceRow): Promise<boolean> {
  if (row.vfsPath === null || row.vfsPath === MEMORY || row.file === null || row.state !== 'frozen') return false;
  const live = absolute(engine, livePath(row.id));
  if (existsSync(absolute(engine, row.vfsPath)) || stampOf(live)?.inode !== row.file.inode) return false;
  const identity = await engine.readers.settle(live);
  await putAway(engine, row, live, engine.cold);
  await leaveLive(engine, row.id);
  const untouched = engine.cold.stamp(row.id)?.mtimeNs === row.file.mtimeNs;
  await restored(engine, row, untouched ? row.file : { identity }, BOOT);
  return true;
}

/** Looks through the drawers of sleeping files, a few at a time beside everything else: finishes what a kill left, and sets aside what no row claims. */
export async function sweepDrawers(engine: Engine): Promise<number> {
  let orphans = 0;
  for (const drawer of [engine.cold, engine.archive]) {
    for await (const key of drawer.keys()) {
      if (engine.stop.aborted) return orphans;
      await engine.entries.with(key, (entry) =>
        entry.verbs.runExclusive(async () => {
          const row = await engine.registry.get(key);
          const prefetched = row?.state === 'archived' && row.vfsPath === livePath(key) && drawer === engine.archive;
          if (row?.vfsPath === drawer.pathOf(key) || prefetched || drawer.stamp(key) === null) return;
          if (row !== null && drawer === engine.cold && wasPacked(engine, row)) {
            return finished(engine, row, 'archive had packed the file', () => engine.cold.remove(key));
          }
          if (row !== null && drawer === engine.archive && (await cameBack(engine, row))) {
            return finished(engine, row, 'revive had brought the file home', () => engine.archive.remove(key));
          }
          if (!isNobodys(engine, row)) return;
          await setAside(engine, row ?? { id: key, tenant: '' }, drawer.pathOf(key));
          orphans += 1;
        }),
      );
    }
  }
  await sweepListings(engine);
  return orphans;
}

/** Removes the listings of what is not archived any more, or never came to be. They are made from a file, so none is anybody's work. */
async function sweepListings(engine: Engine): Promise<void> {
  for await (const id of listedIds(engine)) {
    if (engine.stop.aborted) return;
    if (engine.archive.stamp(id) !== null) continue;
    await engine.entries.with(id, (entry) =>
      entry.verbs.runExclusive(async () => {
        const row = await engine.registry.get(id);
        if (row?.state !== 'archived' && engine.archive.stamp(id) === null) await removeListing(engine, id);
      }),
    );
  }
}
