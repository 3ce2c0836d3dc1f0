/**
 * Carries out a plan: several hops, one by one under one lock, each with a ledger entry. When a hop leaves `active` at
 * once, no process starts: both hops are one filing and one transaction. lib/lifecycle/plan.ts chooses the hops.
 */
import { isCloudAddress } from '../../base/cloud-address.ts';
import { publicMessage, WinterdockError } from '../../base/errors.ts';
import { plan } from '../../lifecycle/plan.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { ledgerEntry } from '../../registry/ledger-entry.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { type Engine, MEMORY, requireOwnInstance } from '../engine.ts';
import { fileAt } from '../files/file-locations.ts';
import { fileRecord, stampAt } from '../files/file-verification.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { archive } from './archive.ts';
import { removeSandbox } from './delete.ts';
import { runFiling } from './filing.ts';
import { freeze } from './freeze.ts';
import { suspend } from './suspend.ts';
import { transitionRefusal } from './transition-check.ts';
import { wake } from './wake.ts';

/**
 * Brings a sandbox to `to`; it may be there already. The caller holds the verbs lock. A plan that fails stops in the
 * state that it came to. Throws what its hops throw, `invalid_transition` when no plan leads there, `conflict` where an
 * ephemeral sandbox would be suspended or frozen, and `conflict` with its `state` when it is not in `from`.
 */
export async function executePlan(
  engine: Engine,
  runtime: SandboxRuntime,
  to: State,
  audit: AuditContext,
  { force = false, from }: { force?: boolean; from?: State },
): Promise<InstanceRow> {
  let row = await requireOwnInstance(engine, runtime.id);
  if (from !== undefined && row.state !== from) {
    throw new WinterdockError('conflict', `The sandbox "${row.id}" has moved on: it is ${row.state}, not ${from}.`, {
      hint: 'Look at it again, then decide.',
      extra: { state: row.state },
    });
  }
  const hops = plan(row.state, to, row);
  if (hops === null) {
    const error = transitionRefusal(row, to, 'way');
    await engine.registry.ledger.append([
      ledgerEntry(engine, row, audit, 'plan.refused', { error: publicMessage(error) }),
    ]);
    throw error;
  }
  const planned: AuditContext = hops.length > 1 ? { ...audit, trigger: 'plan' } : audit;
  // It has no file of its own yet, so nothing has to be archived.
  if (row.state === 'created' && to === 'deleted')
    return removeSandbox(engine, runtime, planned, { passThrough: true });
  for (const [at, hop] of hops.entries()) {
    if (hop === 'active' && at < hops.length - 1) continue;
    if (hop === 'active') row = (await wake(engine, runtime, planned, { revives: true, force })).row;
    else if (hop === 'suspended') row = await suspend(engine, runtime, planned, force, { passThrough: true });
    else if (hop === 'frozen') row = await freeze(engine, runtime, planned, force);
    else if (hop === 'deleted') row = await removeSandbox(engine, runtime, planned);
    else if (to === 'deleted') row = await archiveInPlace(engine, runtime, planned, force);
    else row = await archive(engine, runtime, planned, force, { passThrough: true });
  }
  return row;
}

/**
 * The hop to `archived` on the way to `deleted`: the file stays where it is, as nothing of it is to be kept. A plan
 * that stops here has lost nothing. A damaged file does not stop it.
 */
function archiveInPlace(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  force: boolean,
): Promise<InstanceRow> {
  const kept = (row: InstanceRow) => (row.vfsPath === MEMORY ? null : row.vfsPath);
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'archive',
      to: 'archived',
      through: ['active'],
      refusesFaulted: false,
      toPath: kept,
      needsNoFile: true,
      work: async (row, _force, identity) => {
        const vfsPath = kept(row);
        if (isCloudAddress(vfsPath)) return { vfsPath, file: row.file, bytes: row.bytes };
        const stamp = vfsPath === null ? null : await stampAt(fileAt(engine, row.id, vfsPath));
        // A file at rest is not touched: its record still holds.
        const file = row.state !== 'active' && row.file !== null ? row.file : stamp && fileRecord(stamp, { identity });
        return { vfsPath, file: stamp && file, bytes: stamp?.size ?? null };
      },
    },
    force,
  );
}
