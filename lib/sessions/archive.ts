/** Archive: the file is compressed into the archive drawer, with a listing beside it. */
import { isWinterdockError, WinterdockError } from '../base/errors.ts';
import type { InstanceRow } from '../registry/types.ts';
import { stampOf } from '../storage/files.ts';
import { absolute, type Engine, livePath, MEMORY } from './engine.ts';
import { clearLive, placeOf, putAway } from './file-locations.ts';
import { runFiling } from './filing.ts';
import { removeListing, writeListing } from './listing.ts';
import { comeHome, forgetArchived } from './pass-through.ts';
import type { Entry } from './runtimes.ts';
import type { Cause } from './sessions.ts';
import { refuseMemory } from './transition-check.ts';
import { corrupt, ensureMovable, isSameBytes, type Known, recordOf } from './trust.ts';

/**
 * active or frozen → archived: compressed, with a listing beside it; the source goes once the row says so. `passing`:
 * from suspended and created by way of `active`.
 */
export function archive(
  engine: Engine,
  entry: Entry,
  cause: Cause,
  force: boolean,
  { passing = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    entry,
    cause,
    {
      verb: 'archive',
      to: 'archived',
      ...(passing ? { through: ['active'] } : {}),
      toPath: (row) => {
        if (!force) refuseMemory(row);
        return row.vfsPath === MEMORY ? null : engine.archive.pathOf(row.id);
      },
      work: async (row, _force, identity) => {
        if (row.vfsPath === MEMORY) return { vfsPath: null, file: null, bytes: null };
        let known: Partial<Known> | null = { identity };
        if (row.state === 'created') {
          known = await comeHome(engine, row, force);
          engine.reached('archive.brought');
        } else if (row.vfsPath === null) return { vfsPath: null, file: null, bytes: null };
        const source = absolute(engine, row.state === 'created' ? livePath(row.id) : (row.vfsPath ?? ''));
        if (force && stampOf(source) === null) return { vfsPath: null, file: null };
        if (row.state !== 'active' && row.state !== 'created') {
          known = await ensureMovable(engine, row, source, force);
        }
        const size = stampOf(source)?.size ?? null;
        await listFor(engine, row.id, source, force);
        const sha256 = await putAway(engine, row, source, engine.archive);
        engine.reached('archive.packed');
        if (!isSameBytes(known, sha256)) {
          await forgetArchived(engine, row.id);
          throw corrupt(row, 'its bytes are not those that were filed');
        }
        const stamp = engine.archive.stamp(row.id);
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The archive lost the file of "${row.id}".`);
        return {
          vfsPath: engine.archive.pathOf(row.id),
          file: recordOf(stamp, { ...known, ...(sha256 !== null && { sha256 }) }),
          bytes: size,
        };
      },
      after: async (before) => {
        if (before.vfsPath === MEMORY || (before.vfsPath === null && before.state !== 'created')) return;
        if (before.state === 'created' || placeOf(engine, before) === 'live') await clearLive(engine, before.id);
        else await engine.cold.remove(before.id);
        engine.reached('archive.removed');
      },
    },
    force,
  );
}

/**
 * Lists what is about to be archived. What is so damaged that it cannot be listed is archived by force without a
 * listing, byte for byte.
 */
async function listFor(engine: Engine, id: string, source: string, force: boolean): Promise<void> {
  try {
    await writeListing(engine, id, source);
  } catch (error) {
    if (!force || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
    await removeListing(engine, id);
  }
}
