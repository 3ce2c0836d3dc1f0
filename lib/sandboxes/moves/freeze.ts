/** Freeze: the file moves from the live drawer to the cold drawer. */
import { WinterdockError } from '../../base/errors.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { stampOf } from '../../storage/files.ts';
import { absolutePath, type Engine, livePath } from '../engine.ts';
import { fileAt, putIntoDrawer, removeEmptyLiveFolder, removeLiveFolder } from '../files/file-locations.ts';
import { corruptFileError, fileRecord, mayBeSameBytes, stampAt, verifyForMoving } from '../files/file-verification.ts';
import { hashAtFiling } from '../files/filed-hash.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { runFiling } from './filing.ts';

/** suspended → frozen: the file goes to the cold drawer. */
export function freeze(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  force: boolean,
): Promise<InstanceRow> {
  let copied = false;
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'freeze',
      to: 'frozen',
      toPath: (row) => engine.drawers.cold.at(row.id).address,
      work: async (row) => {
        const source = absolutePath(engine, livePath(row.id));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        const known = await verifyForMoving(engine, row, fileAt(engine, row.id, livePath(row.id)), force);
        const { cold } = engine.drawers;
        const before = stampOf(source);
        const filed = known?.sha256 ?? (before && (await hashAtFiling(engine, source, before)));
        const read = await putIntoDrawer(engine, row, source, cold);
        const sha256 = read ?? filed;
        copied = read !== null;
        engine.failpoint('freeze.moved');
        if (!mayBeSameBytes(known, read)) {
          await cold.at(row.id).remove();
          throw corruptFileError(row, 'its bytes are not those that were filed');
        }
        const stamp = await stampAt(cold.at(row.id));
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The cold drawer lost the file of "${row.id}".`);
        const file = fileRecord(stamp, { ...known, sha256 });
        return { vfsPath: cold.at(row.id).address, file, bytes: stamp.size };
      },
      // Not before the commit: a rollback needs the folder, and a full disk gives no new one.
      after: async (_before, after) => {
        if (after.file?.sha256 === null || after.file?.quickCheck === null)
          engine.scheduleCheck(after.id, after.generation);
        await (copied ? removeLiveFolder(engine, after.id) : removeEmptyLiveFolder(engine, after.id));
      },
    },
    force,
  );
}
