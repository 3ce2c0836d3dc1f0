/** Archive: the file is compressed into the archive drawer, with a listing beside it. */
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import type { InstanceId } from '../../base/ids.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { type Engine, livePath, MEMORY } from '../engine.ts';
import { fileAt, fileOf, locationOf, putIntoDrawer, removeLiveFolder } from '../files/file-locations.ts';
import {
  corruptFileError,
  type FileFingerprint,
  fileRecord,
  mayBeSameBytes,
  stampAt,
  verifyForMoving,
} from '../files/file-verification.ts';
import { removeListing, writeListing } from '../files/listing.ts';
import { bringLiveWithoutProcess, removeArchivedFile } from '../files/pass-through.ts';
import type { SandboxRuntime } from '../runtimes.ts';
import type { AuditContext } from '../sandboxes.ts';
import { runFiling } from './filing.ts';
import { refuseMemory } from './transition-check.ts';

/**
 * active or frozen → archived: compresses the file and writes a listing beside it. The source goes after the commit.
 * `passThrough`: from suspended or created by way of `active`.
 */
export function archive(
  engine: Engine,
  runtime: SandboxRuntime,
  audit: AuditContext,
  force: boolean,
  { passThrough = false } = {},
): Promise<InstanceRow> {
  return runFiling(
    engine,
    runtime,
    audit,
    {
      verb: 'archive',
      to: 'archived',
      ...(passThrough ? { through: ['active'] } : {}),
      toPath: (row) => {
        if (!force) refuseMemory(row);
        return row.vfsPath === MEMORY ? null : engine.drawers.archive.at(row.id).address;
      },
      work: async (row, _force, identity) => {
        if (row.vfsPath === MEMORY) return { vfsPath: null, file: null, bytes: null };
        let known: Partial<FileFingerprint> | null = { identity };
        if (row.state === 'created') {
          known = await bringLiveWithoutProcess(engine, row, force);
          engine.failpoint('archive.brought');
        } else if (row.vfsPath === null) return { vfsPath: null, file: null, bytes: null };
        const source = row.state === 'created' ? fileAt(engine, row.id, livePath(row.id)) : fileOf(engine, row);
        if (force && (await source.stat()) === null) return { vfsPath: null, file: null };
        if (row.state !== 'active' && row.state !== 'created') {
          known = await verifyForMoving(engine, row, source, force);
        }
        const size = (await source.stat())?.size ?? null;
        const drawer = engine.drawers.archive;
        const sha256 = await source.read(async (path) => {
          await writeListingUnlessDamaged(engine, row.id, path, force);
          return putIntoDrawer(engine, row, path, drawer);
        });
        engine.failpoint('archive.packed');
        if (!mayBeSameBytes(known, sha256)) {
          await removeArchivedFile(engine, row.id);
          throw corruptFileError(row, 'its bytes are not those that were filed');
        }
        const stamp = await stampAt(drawer.at(row.id));
        if (stamp === null)
          throw new WinterdockError('storage_unavailable', `The archive lost the file of "${row.id}".`);
        return {
          vfsPath: drawer.at(row.id).address,
          file: fileRecord(stamp, { ...known, ...(sha256 !== null && { sha256 }) }),
          bytes: size,
        };
      },
      after: async (before) => {
        if (before.vfsPath === MEMORY || (before.vfsPath === null && before.state !== 'created')) return;
        if (before.state === 'created' || locationOf(engine, before) === 'live')
          await removeLiveFolder(engine, before.id);
        else await engine.drawers.cold.at(before.id).remove();
        engine.failpoint('archive.removed');
      },
    },
    force,
  );
}

/**
 * Writes the listing of a file that is about to be archived. By force, a file too damaged to list is archived without
 * one.
 */
async function writeListingUnlessDamaged(
  engine: Engine,
  id: InstanceId,
  source: string,
  force: boolean,
): Promise<void> {
  try {
    await writeListing(engine, id, source);
  } catch (error) {
    if (!force || !isWinterdockError(error) || error.code !== 'corrupt') throw error;
    await removeListing(engine, id);
  }
}
