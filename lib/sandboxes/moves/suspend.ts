/** Suspend: the process ends, and the file stays in the live drawer. */
import { dirname } from 'node:path';
import { syncFolder } from '../../base/effects.ts';
import { WinterdockError } from '../../base/errors.ts';
import { waysOut } from '../../lifecycle/ways-out.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { stampOf } from '../../storage/files.ts';
import { absolutePath, type Engine, livePath } from '../engine.ts';
import { locationOf } from '../files/file-locations.ts';
import { type FileFingerprint, fileRecord } from '../files/file-verification.ts';
import { hashAtFiling } from '../files/filed-hash.ts';
import { bringLiveWithoutProcess, removeArchivedFile } from '../files/pass-through.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { runFiling } from './filing.ts';
import { refuseMemory } from './transition-check.ts';

/**
 * active → suspended: the process ends, and the clean file stays in the live drawer. `passThrough`: from any other
 * state by way of `active`. `evenIfEphemeral`: because the process has to end; otherwise `conflict` for an ephemeral
 * sandbox.
 */
export function suspend(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  force: boolean,
  { passThrough = false, evenIfEphemeral = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'suspend',
      to: 'suspended',
      evenIfEphemeral,
      ...(passThrough ? { through: ['active'] } : {}),
      toPath: (row) => {
        refuseMemory(row);
        return livePath(row.id);
      },
      work: async (row, _force, identity) => {
        let known: Partial<FileFingerprint> | null = { identity };
        if (row.state !== 'active') {
          known = await bringLiveWithoutProcess(engine, row, force);
          engine.failpoint('suspend.brought');
        }
        const file = absolutePath(engine, livePath(row.id));
        const stamp = stampOf(file);
        if (stamp === null)
          throw new WinterdockError('missing_file', `The file of "${row.id}" is gone from the live drawer.`, {
            hint: waysOut('missing'),
          });
        const [sha256] = await Promise.all([
          known?.sha256 ?? hashAtFiling(engine, file, stamp),
          syncFolder(dirname(file)),
        ]);
        return { vfsPath: livePath(row.id), file: fileRecord(stamp, { ...known, sha256 }), bytes: stamp.size };
      },
      after: async (before, after) => {
        if (after.file?.sha256 === null || after.file?.quickCheck === null)
          engine.scheduleCheck(after.id, after.generation);
        if (before.state === 'archived') await removeArchivedFile(engine, before.id);
        // A drawer that the file was copied from has it still.
        if (locationOf(engine, before) === 'cold') await engine.drawers.cold.at(before.id).remove();
      },
    },
    force,
  );
}
