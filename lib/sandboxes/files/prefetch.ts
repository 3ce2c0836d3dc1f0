/**
 * Prefetch: brings the file of a sleeping sandbox to the live drawer without a process, and returns it when nothing
 * uses it.
 */
import { publicMessage } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import { isBlocking, type Source } from '../../lifecycle/words.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow, LedgerEntry } from '../../registry/types.ts';
import {
  absolutePath,
  type Engine,
  elapsedMs,
  livePath,
  now,
  requireOwnInstance,
  runRollback,
  systemAudit,
} from '../engine.ts';
import { refuseFaulted } from '../moves/transition-check.ts';
import { beginOperation } from '../recovery/intent.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import { recordReturnedFile, returnFile, runCleanup } from '../recovery/rollback.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { bringNear, storedOfFiling } from '../store/bring.ts';
import {
  fetchToLive,
  fileAt,
  fileOf,
  localAddressOf,
  locationOf,
  putIntoDrawer,
  removeEmptyLiveFolder,
  removeLiveFolder,
  SOURCE_OF,
} from './file-locations.ts';
import { fileRecord, stampAt, verifyArchived, verifyForOpening } from './file-verification.ts';
import { writeListing } from './listing.ts';

/** Seconds after which an unused prefetched file returns to its drawer. */
export const PREFETCH_SECONDS = 300;

/** Sandboxes with a prefetched file, and the epoch second at which it returns. */
export type PrefetchDeadlines = Map<InstanceId, number>;

/**
 * Brings the file to the live drawer; state and tmp stay. The caller holds the verbs lock. Throws what a wake throws.
 */
export async function prefetch(
  engine: Engine,
  prefetched: PrefetchDeadlines,
  runtime: SandboxRuntime,
  audit: AuditContext,
): Promise<{ source: Source; vfsPath: string | null }> {
  const settled = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
  const row = (await engine.store?.settleFault(runtime, settled)) ?? settled;
  const location = locationOf(engine, row);
  if (isBlocking(row.fault)) refuseFaulted(row);
  if (location !== 'cold' && location !== 'archive') return { source: SOURCE_OF[location], vfsPath: row.vfsPath };
  const started = performance.now();
  await beginOperation(engine, row, audit, {
    verb: 'prefetch',
    to: row.state,
    fromPath: row.vfsPath,
    toPath: livePath(row.id),
  });
  runtime.startOperation('prefetch', row);
  engine.failpoint('prefetch.intent');
  try {
    return await runtime.exclusive(async () => {
      const near = await bringNear(engine, row);
      const source = near.isBrought ? 'cloud' : SOURCE_OF[location];
      if (location === 'cold') await verifyForOpening(engine, near.row, fileOf(engine, row), false);
      else await verifyArchived(engine, near.row, fileOf(engine, row), false);
      const { makeDurable, moved } = await fetchToLive(engine, row, location);
      engine.failpoint('prefetch.brought');
      await makeDurable();
      await recordLocation(engine, row, livePath(row.id), [
        ledgerEntry(engine, row, audit, 'file.prefetched', { source, tookMs: elapsedMs(started) }),
      ]);
      engine.failpoint('prefetch.committed');
      if (location === 'cold' && !moved)
        await runCleanup(engine, row.id, () => engine.drawers.cold.at(row.id).remove());
      prefetched.set(row.id, now(engine) + PREFETCH_SECONDS);
      return { source, vfsPath: livePath(row.id) };
    });
  } catch (error) {
    await rollBackPrefetch(engine, runtime, row, audit, error);
    throw error;
  } finally {
    runtime.endOperation();
  }
}

/** Rolls back a prefetch that failed: the file goes back to where the row says, and the intent is removed. */
async function rollBackPrefetch(
  engine: Engine,
  runtime: SandboxRuntime,
  row: InstanceRow,
  audit: AuditContext,
  error: unknown,
): Promise<void> {
  const ledger = [ledgerEntry(engine, row, audit, 'prefetch.failed', { error: publicMessage(error) })];
  await runRollback(engine, row.id, () =>
    runtime.exclusive(async () => {
      await returnFile(engine, row);
      await engine.registry.instances.abandon(
        row.id,
        { file: (await recordReturnedFile(engine, row)) ?? row.file },
        ledger,
      );
    }),
  );
}

/** Records that the file of a row is now at `vfsPath`, in the same state. What is known of its bytes stays. */
async function recordLocation(engine: Engine, row: InstanceRow, vfsPath: string, ledger: LedgerEntry[]): Promise<void> {
  const stamp = await stampAt(fileAt(engine, row.id, vfsPath));
  const after = await engine.registry.instances.commit({
    id: row.id,
    from: row.state,
    to: row.state,
    generation: row.generation,
    vfsPath,
    file: stamp === null ? null : fileRecord(stamp, row.file),
    now: now(engine),
    ledger,
  });
  engine.store?.filed(after);
}

/**
 * Returns a prefetched file to its drawer. The caller holds the verbs lock. After a failure the file stays where it
 * was.
 */
export async function returnPrefetched(engine: Engine, runtime: SandboxRuntime): Promise<void> {
  const row = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
  if ((row.state !== 'frozen' && row.state !== 'archived') || locationOf(engine, row) !== 'live') return;
  const drawer = engine.drawers[row.state === 'frozen' ? 'cold' : 'archive'];
  const { address } = drawer.at(row.id);
  const audit = systemAudit('idle', 'ticker');
  await beginOperation(engine, row, audit, {
    verb: 'prefetch',
    to: row.state,
    fromPath: row.vfsPath,
    toPath: address,
  });
  const source = absolutePath(engine, livePath(row.id));
  // A sandbox that was archived in place, on its way to deletion, was never packed.
  const puts = row.state === 'frozen' || (await drawer.at(row.id).stat()) === null;
  let copied = row.state === 'archived';
  runtime.startOperation('prefetch', row);
  try {
    await runtime.exclusive(async () => {
      if (puts && row.state === 'archived') await writeListing(engine, row.id, source);
      if (puts) copied = (await putIntoDrawer(engine, row, source, drawer)) !== null;
      engine.failpoint('prefetch.returned');
      // What is in the store is the same file still.
      const stored = storedOfFiling(row)?.address ?? null;
      const isStored = localAddressOf(engine, stored) === address;
      await recordLocation(engine, row, isStored && stored !== null ? stored : address, [
        ledgerEntry(engine, row, audit, 'file.returned'),
      ]);
    });
  } catch (error) {
    await rollBackPrefetch(engine, runtime, row, audit, error);
    throw error;
  } finally {
    runtime.endOperation();
  }
  await runCleanup(engine, row.id, () =>
    runtime.exclusive(() => (copied ? removeLiveFolder(engine, row.id) : removeEmptyLiveFolder(engine, row.id))),
  );
}
