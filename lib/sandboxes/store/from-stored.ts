/**
 * The way out for a sandbox whose file is lost or damaged while an older one of it is in the store: that one becomes
 * its file. What was written since is lost, which the ledger says. What lies where the row says is kept in `orphans/`.
 *
 * There is no intent: until the commit the row says what was filed, and a file that took its place before a kill is
 * refused as another one; the same request again begins anew.
 */
import { dirname } from 'node:path';
import { WinterdockError } from '../../base/errors.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { lastingFolder } from '../../storage/files.ts';
import { absolutePath, type Engine, elapsedMs, livePath, MEMORY, now, requireOwnInstance } from '../engine.ts';
import { fileOf, moveToOrphans } from '../files/file-locations.ts';
import { settleIfInterrupted } from '../recovery/reconcile.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { tellReplica } from '../shipping.ts';
import { bringNear, fetchStored, storedOfFiling } from './bring.ts';

/**
 * Gives a sandbox the last whole object of it as its file; the state stays, a fault is cleared. The caller holds the
 * verbs lock. Throws `conflict` for one that is awake, or whose own file is there and sound, `missing_file` when the
 * store has nothing of it, `storage_unavailable`.
 */
export async function takeStored(engine: Engine, runtime: SandboxRuntime, audit: AuditContext): Promise<void> {
  const started = performance.now();
  const row = await settleIfInterrupted(engine, runtime, await requireOwnInstance(engine, runtime.id));
  const { store } = engine;
  const { stored } = row;
  if (row.state === 'active' || runtime.process !== null || row.vfsPath === MEMORY) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" is awake: it has its file.`);
  }
  if (store === null || stored === null) {
    throw new WinterdockError('missing_file', `Nothing of the sandbox "${row.id}" is in a store.`, {
      hint: waysOut('missing'),
    });
  }
  await runtime.exclusive(async () => {
    const file = fileOf(engine, row);
    const isLost = row.fault === 'missing' || row.fault === 'corrupt' || (await file.stat()) === null;
    if (!isLost) throw notLost(row);
    let brought: InstanceRow;
    const isSame = storedOfFiling(row) !== null;
    if (isSame) brought = (await bringNear(engine, row)).row;
    else {
      if ((await file.stat()) !== null) await moveToOrphans(engine, row, file);
      if (file.address === livePath(row.id)) await lastingFolder(dirname(absolutePath(engine, livePath(row.id))));
      brought = await fetchStored(engine, store, { ...row, file: null }, stored);
    }
    const of = new Date(stored.at * 1000).toISOString();
    const says = `the file in the store, of ${of}; ${isSame ? 'it is the one that was filed' : 'what was written since is lost'}`;
    await engine.registry.instances.commit({
      id: row.id,
      from: row.state,
      to: row.state,
      generation: row.generation,
      vfsPath: row.vfsPath ?? livePath(row.id),
      file: brought.file,
      fault: null,
      now: now(engine),
      ledger: [
        ledgerEntry(engine, row, audit, 'file.restored', {
          source: 'cloud',
          reason: audit.reason === null ? says : `${audit.reason} (${says})`,
          tookMs: elapsedMs(started),
        }),
        ...(row.fault === null ? [] : [ledgerEntry(engine, row, audit, 'fault.cleared', { reason: row.fault })]),
      ],
    });
    if (!isSame) tellReplica(engine, row.id, (replica) => replica.replaced(row.id));
  });
}

function notLost(row: InstanceRow): WinterdockError {
  return new WinterdockError('conflict', `The file of "${row.id}" is where its row says.`, {
    hint: 'Resume it without `from`: nothing of it is lost.',
  });
}
