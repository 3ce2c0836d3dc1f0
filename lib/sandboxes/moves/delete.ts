/** Delete: the row becomes a tombstone, then the files go. */
import type { InstanceRow } from '../../registry/types.ts';
import type { Engine } from '../engine.ts';
import { locationOf, removeLiveFolder } from '../files/file-locations.ts';
import { removeArchivedFile } from '../files/pass-through.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { runFiling } from './filing.ts';

/**
 * archived → deleted: the row first, so that a failure leaves the sandbox whole; then the files. `passThrough`: from
 * created, which has no file of its own.
 */
export function removeSandbox(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  { passThrough = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'delete',
      to: 'deleted',
      ...(passThrough ? { through: ['active', 'archived'] } : {}),
      toPath: () => null,
      needsNoFile: true,
      work: async () => ({ vfsPath: null, file: null, bytes: null }),
      after: async (before) => {
        await removeArchivedFile(engine, before.id);
        const location = locationOf(engine, before);
        if (location === 'live') await removeLiveFolder(engine, before.id);
        if (location === 'cold') await engine.drawers.cold.at(before.id).remove();
        engine.failpoint('delete.removed');
      },
    },
    true,
  );
}
