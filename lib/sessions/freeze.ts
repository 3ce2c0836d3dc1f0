/** Freeze: the file moves from the live drawer to the cold drawer. */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { absolutePath, type Engine, livePath } from './engine.ts';
import { putIntoDrawer, removeEmptyLiveFolder } from './file-locations.ts';
import { fileRecord, verifyForMoving } from './file-verification.ts';
import { runFiling } from './filing.ts';
import type { SandboxRuntime } from './runtimes.ts';
import type { AuditContext } from './sessions.ts';

/** suspended → frozen: the file goes to the cold drawer. */
export function freeze(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  force: boolean,
): Promise<InstanceRow> {
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'freeze',
      to: 'frozen',
      toPath: (row) => engine.cold.pathOf(row.id),
      work: async (row) => {
        const source = absolutePath(engine, livePath(row.id));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        const known = await verifyForMoving(engine, row, source, force);
        await putIntoDrawer(engine, row, source, engine.cold);
        engine.failpoint('freeze.moved');
        const stamp = engine.cold.stamp(row.id);
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The cold drawer lost the file of "${row.id}".`);
        return { vfsPath: engine.cold.pathOf(row.id), file: fileRecord(stamp, known), bytes: stamp.size };
      },
      // Not before the commit: a rollback needs the folder, and a full disk gives no new one.
      after: async (_before, after) => {
        if (after.file?.sha256 === null) engine.scheduleCheck(after.id, after.generation);
        await removeEmptyLiveFolder(engine, after.id);
      },
    },
    force,
  );
}
