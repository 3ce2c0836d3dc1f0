/**
 * Reconcile, at the start of the server: every operation that was interrupted is rolled forward or back by looking at
 * the files, every sandbox whose process is gone is suspended, and orphans move to `orphans/`. Settles a single sandbox
 * too, when a person asks for it.
 */
import { isCloudAddress } from '../../base/cloud-address.ts';
import { isMachineFailure, publicMessage } from '../../base/errors.ts';
import { WAKE_VERBS } from '../../lifecycle/state-map.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { clearStaging, stampOf } from '../../storage/files.ts';
import { absolutePath, type Engine, livePath, MEMORY, now, systemAudit } from '../engine.ts';
import { fileAt, fileOf, locationOf, moveLogsToOrphans } from '../files/file-locations.ts';
import { fileRecord } from '../files/file-verification.ts';
import { finishLandings } from '../moves/live-folder-landing.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { landShipped, tellRested } from '../shipping.ts';
import { isFileMissing, type OrphanSearchResult, reclaimFile, searchLiveDrawer } from './orphan-search.ts';
import { deleteMemorySandbox, settleDeadProcess } from './process-death.ts';
import { recordAfterReturn, returnReplacedFile } from './replaced-file.ts';
import { recordReturnedFile, returnFile, rollbackEntry } from './rollback.ts';
import { settleFile } from './settle-file.ts';
import { finishTakeover } from './takeover.ts';

/** Who settles and why, for the ledger. */
interface SettleContext {
  audit: AuditContext;
  because: string;
}

const BOOT: SettleContext = { audit: systemAudit('reconcile'), because: 'the server was restarted' };

/** Settles every unsettled row. Nothing else may run. */
export async function reconcile(engine: Engine): Promise<OrphanSearchResult & { settled: number }> {
  await clearStaging(engine.config.dataFolder);
  await finishLandings(engine);
  let settled = 0;
  for (const row of await engine.registry.instances.unsettled()) {
    try {
      await settle(engine, row, BOOT);
      settled += 1;
    } catch (error) {
      engine.log.error({ id: row.id, err: error }, 'reconcile');
      const isTaken = row.pending?.verb === 'takeover';
      if (isTaken || isMachineFailure(error)) engine.interrupted.add(row.id);
      else await giveUp(engine, row, error);
    }
  }
  return { settled, ...(await searchLiveDrawer(engine)) };
}

/**
 * Raises a fault on a row that could not be settled. No process runs, so an active sandbox becomes suspended with the
 * file that its process left.
 */
async function giveUp(engine: Engine, row: InstanceRow, error: unknown): Promise<void> {
  const fault = { fault: 'unknown' as const, reason: `the start could not settle it: ${publicMessage(error)}` };
  const raised = ledgerEntry(engine, row, BOOT.audit, 'fault.raised', {
    reason: 'unknown',
    error: publicMessage(error),
  });
  if (row.state !== 'active' || row.vfsPath === MEMORY) {
    await engine.registry.instances.abandon(row.id, { fault }, [raised]);
    return;
  }
  const stamp = stampOf(absolutePath(engine, livePath(row.id)));
  const filed = await engine.registry.instances.commit({
    id: row.id,
    from: 'active',
    to: 'suspended',
    generation: row.generation,
    vfsPath: livePath(row.id),
    file: stamp === null ? row.file : { ...fileRecord(stamp), unsettled: true },
    fault,
    now: now(engine),
    ledger: [ledgerEntry(engine, row, BOOT.audit, 'transition', { from: 'active', to: 'suspended' }), raised],
  });
  tellRested(engine, filed);
}

/**
 * Settles one sandbox whose operation nobody carries out any more, as a start does: what happened to its file decides.
 * Ends a process that it still has. The caller holds the verbs lock.
 */
export async function settleInterrupted(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  audit: AuditContext,
): Promise<void> {
  const how = { audit, because: 'it was interrupted' };
  if (row.state !== 'active') return runtime.exclusive(() => settle(engine, row, how));
  const { process } = runtime;
  runtime.process = null;
  await process?.end();
  await settle(engine, row, how);
}

/**
 * Settles the last operation of a sandbox when it was interrupted and not even its failure could be recorded. The
 * caller holds the verbs lock, so nobody carries out the intent in the row. Returns the row as it is then.
 */
export async function settleIfInterrupted(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
): Promise<InstanceRow> {
  if (row.pending !== null) await settleInterrupted(engine, runtime, row, systemAudit('reconcile'));
  else if (row.state === 'active' && runtime.process === null && row.vfsPath !== MEMORY) {
    // Its process is gone, and the disk refused its recovery.
    await settleDeadProcess(engine, runtime, row, { trigger: 'reconcile', fault: null, detail: 'its process is gone' });
  } else if (row.state === 'active' || !(await isFileMissing(engine, row))) return row;
  // A power cut may keep a move and lose the row that tells of it.
  else if (!(await runtime.exclusive(() => reclaimFile(engine, row)))) return row;
  return (await engine.registry.instances.get(row.id)) ?? row;
}

/**
 * Rolls back what was not committed: the file goes back to where the row says. A deletion of an earlier version, which
 * removed the file first, is finished.
 */
async function settle(engine: Engine, row: InstanceRow, how: SettleContext): Promise<void> {
  if (row.pending?.verb === 'takeover') return void (await finishTakeover(engine, row, how.audit));
  if (row.state === 'active') return settleActive(engine, row, how);
  // A cached copy may have been removed at any time: nothing follows from that.
  const isGone = async () => !isCloudAddress(row.vfsPath) && (await fileOf(engine, row).stat()) === null;
  if (row.pending?.verb === 'delete' && row.vfsPath !== null && (await isGone())) {
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, how.audit, 'reconcile.rolled_forward', { reason: 'delete had removed the file' }),
    ]);
    return deleteMemorySandbox(engine, row, how.audit);
  }
  if (row.pending?.verb === 'restore') return settleRestore(engine, row, how);
  const location = locationOf(engine, row);
  const live = absolutePath(engine, livePath(row.id));
  // Its process may have had the folder.
  if (location !== 'memory' && WAKE_VERBS.some((verb) => verb === row.pending?.verb)) await landShipped(engine, row);
  const known = location === 'live' || location === 'cold' ? await recoverLog(engine, row, live) : null;
  await returnFile(engine, row);
  const file = await recordReturnedFile(engine, row, known);
  await engine.registry.instances.abandon(row.id, file === null ? {} : { file }, [
    rollbackEntry(engine, row, how.because, how.audit),
  ]);
  if (location !== 'memory') tellRested(engine, row, file);
}

/**
 * Recovers the log of a process that had opened the file. When no process can have opened it, a log beside the file is
 * stray.
 */
async function recoverLog(engine: Engine, row: InstanceRow, live: string): Promise<{ identity: string | null } | null> {
  if (stampOf(live) === null) return null;
  if (WAKE_VERBS.some((verb) => verb === row.pending?.verb)) return { identity: await settleFile(engine, row) };
  await moveLogsToOrphans(engine, row, fileAt(engine, row.id, livePath(row.id)));
  return null;
}

/** No process outlives the server: an active sandbox becomes suspended, whatever operation was under way. */
async function settleActive(engine: Engine, row: InstanceRow, how: SettleContext): Promise<void> {
  const verb = row.pending?.verb;
  await engine.runtimes.use(row.id, async (runtime) => {
    await settleDeadProcess(engine, runtime, row, {
      trigger: verb === undefined ? 'boot' : 'reconcile',
      fault: null,
      detail: verb === undefined ? how.because : `${how.because} during ${verb}`,
    });
    if (verb !== undefined) await returnFile(engine, { ...row, state: 'suspended', vfsPath: row.vfsPath });
  });
}

/** Rolls back a restore that was not committed. */
async function settleRestore(engine: Engine, row: InstanceRow, { audit, because }: SettleContext): Promise<void> {
  if (row.pending !== null) await returnReplacedFile(engine, row.id, row.pending);
  const rolledBack = rollbackEntry(engine, row, because, audit);
  await engine.registry.instances.abandon(row.id, { file: await recordAfterReturn(engine, row) }, [rolledBack]);
}
