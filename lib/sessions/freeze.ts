/** Freeze: the file moves from the live drawer to the cold drawer. */
import { WinterdockError } from '../base/errors.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { absolute, type Engine, livePath } from './engine.ts';
import { leaveLive, putAway } from './file-locations.ts';
import { runFiling } from './filing.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { ensureMovable, recordOf } from './trust.ts';

/** suspended → frozen: the file goes to the cold drawer. */
export function freeze(engine: Engine, entry: Entry, cause: Cause, force: boolean): Promise<InstanceRow> {
  return runFiling(
    engine,
    entry,
    cause,
    {
      verb: 'freeze',
      to: 'frozen',
      toPath: (row) => engine.cold.pathOf(row.id),
      work: async (row) => {
        const source = absolute(engine, livePath(row.id));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        const known = await ensureMovable(engine, row, source, force);
        await putAway(engine, row, source, engine.cold);
        engine.reached('freeze.moved');
        const stamp = engine.cold.stamp(row.id);
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The cold drawer lost the file of "${row.id}".`);
        return { vfsPath: engine.cold.pathOf(row.id), file: recordOf(stamp, known), bytes: stamp.size };
      },
      // Not before: to be put back a file needs its folder, and a full disk gives no new one.
      after: async (_before, after) => {
        if (after.file?.sha256 === null) engine.checkLater(after.id, after.generation);
        await leaveLive(engine, after.id);
      },
    },
    force,
  );
}
