/** Suspend: the process ends, and the file stays in the live drawer. */
import { dirname } from 'node:path';
import { syncFolder } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { waysOut } from '../lifecycle/ways-out.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { absolute, type Engine, livePath } from './engine.ts';
import { runFiling } from './filing.ts';
import { comeHome, forgetArchived } from './pass-through.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { refuseMemory } from './transition-check.ts';
import { type Known, recordOf } from './trust.ts';

/**
 * active → suspended: the process ends, the file stays in the live drawer, clean. `passing`: from anywhere else by way
 * of `active`. `unasked`: its process has to end, whatever it was created as; otherwise `conflict` for an ephemeral
 * one.
 */
export function suspend(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  force: boolean,
  { passing = false, unasked = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    entry,
    cause,
    {
      verb: 'suspend',
      to: 'suspended',
      unasked,
      ...(passing ? { through: ['active'] } : {}),
      toPath: (row) => {
        refuseMemory(row);
        return livePath(row.id);
      },
      work: async (row, _force, identity) => {
        let known: Partial<Known> | null = { identity };
        if (row.state !== 'active') {
          known = await comeHome(engine, row, force);
          engine.reached('suspend.brought');
        }
        const stamp = stampOf(absolute(engine, livePath(row.id)));
        if (stamp === null)
          throw new WinterdockError('missing_file', `The file of "${row.id}" is gone from the live drawer.`, {
            hint: waysOut('missing'),
          });
        await syncFolder(dirname(absolute(engine, livePath(row.id))));
        return { vfsPath: livePath(row.id), file: recordOf(stamp, known), bytes: stamp.size };
      },
      after: async (before, after) => {
        if (after.file?.sha256 === null || after.file?.quickCheck === null)
          engine.checkLater(after.id, after.generation);
        if (before.state === 'archived') await forgetArchived(engine, before.id);
      },
    },
    force,
  );
}
