/**
 * Brings the file of a sandbox from the store to where its row says, when it is not there, or is not the one that was
 * filed. What is brought is hashed on the way and takes its place whole. Writes no state; knows nothing of uploads.
 */
import { isCloudAddress, objectNameOf, parseCloudAddress } from '../../base/cloud-address.ts';
import { isWinterdockError, messageOf } from '../../base/errors.ts';
import { isThere } from '../../base/is-there.ts';
import type { InstanceRow, StoredObject } from '../../registry/types.ts';
import type { RestingFile } from '../../storage/drawer.ts';
import { intoPlace, stagingFor } from '../../storage/files.ts';
import { type FileStamp, sameStamp } from '../../storage/stamp.ts';
import type { Engine, StoreBelow } from '../engine.ts';
import { fileOf, moveToOrphans } from '../files/file-locations.ts';
import { fileRecord, stampAt, verifyArchived, verifyForReading } from '../files/file-verification.ts';
import { listingPath } from '../files/listing.ts';
import { LISTING_SUFFIX } from './row-document.ts';

/** An object has wrong bytes when so many downloads of it had, with the marker there after each. */
const WRONG_TIMES = 2;

/** What is in the store of the very file that a row has at rest; null when that is another one, or nothing. */
export function storedOfFiling(row: Pick<InstanceRow, 'state' | 'file' | 'stored'>): StoredObject | null {
  if (row.state === 'active' || row.state === 'created' || row.state === 'deleted') return null;
  const { stored, file } = row;
  return stored !== null && file !== null && file.sha256 === stored.sha256 ? stored : null;
}

/** A row whose file is where it says, and whether it was brought there. */
export interface Nearby {
  row: InstanceRow;
  isBrought: boolean;
}

/**
 * Makes sure that the file of a row at rest is where the row says, if the store has it; what lies there and is another
 * one moves to `orphans/`. The row that it returns has the stat of what was brought. The caller holds the verbs lock
 * and the file exclusively. Throws `storage_unavailable` while the store is away, or has another marker, `missing_file`
 * and `corrupt` of the object. A file of which the store has nothing is left to who asks.
 */
export async function bringNear(engine: Engine, row: InstanceRow): Promise<Nearby> {
  const stored = storedOfFiling(row);
  if (engine.store === null || stored === null) return { row, isBrought: false };
  const file = fileOf(engine, row);
  const stamp = await stampAt(file);
  if (stamp !== null) {
    if (await isAsFiled(engine, row, file, stamp)) {
      engine.store.used(row);
      return { row, isBrought: false };
    }
    // Beside others it is the copy of before another host had it, and what is brought takes its place.
    if (engine.host.isAlone || !isCloudAddress(row.vfsPath)) await moveToOrphans(engine, row, file);
  }
  return { row: await fetchStored(engine, engine.store, row, stored), isBrought: true };
}

/** Whether what lies at the place of a row's file is the file that was filed. */
async function isAsFiled(engine: Engine, row: InstanceRow, file: RestingFile, stamp: FileStamp): Promise<boolean> {
  if (row.file !== null && sameStamp(stamp, row.file)) return true;
  try {
    if (file.packed) await verifyArchived(engine, row, file, false);
    else await verifyForReading(engine, row, file);
    return true;
  } catch (error) {
    if (isWinterdockError(error) && (error.code === 'corrupt' || error.code === 'missing_file')) return false;
    throw error;
  }
}

/** Brings an object to the place of a row's file, as that drawer keeps it, and returns the row with its stat. */
export async function fetchStored(
  engine: Engine,
  store: StoreBelow,
  row: InstanceRow,
  stored: StoredObject,
): Promise<InstanceRow> {
  const target = fileOf(engine, row);
  const name = objectNameOf(stored.address);
  const packed = parseCloudAddress(stored.address)?.kind === 'archive';
  const { sha256, bytes } = stored;
  const signal = engine.stop;
  const expand = packed && !target.packed;
  const bring = async (path: string) => {
    for (let times = 1; ; times += 1) {
      try {
        return void (await store.objects.download(name, path, { sha256, bytes, signal, packed, expand }));
      } catch (error) {
        if (!isWinterdockError(error)) throw error;
        if (error.code === 'missing_file') throw await store.missing({ ...row, stored }, error);
        if (error.code !== 'corrupt') throw error;
        // What is not the installation's store says nothing of the object.
        await store.requireMarker(signal);
        if (times === WRONG_TIMES) throw error;
      }
    }
  };
  engine.failpoint('bring.begun');
  if (target.packed && !packed) {
    // It was archived, and of that only the file before it was packed is stored.
    const plain = engine.drawers.cold.at(row.id);
    await plain.replace(bring, { isSynced: true });
    await plain.read((path) => engine.drawers.archive.put(path, row.id));
    await plain.remove();
  } else await target.replace(bring, { isSynced: true });
  engine.failpoint('bring.brought');
  const stamp = await stampAt(target);
  const known = { ...row.file, sha256 };
  const brought = { ...row, file: stamp === null ? row.file : fileRecord(stamp, known) };
  store.used(brought);
  return brought;
}

/**
 * Brings the file of a sandbox for who only reads it. The caller holds the verbs lock; the row is without an
 * operation under way.
 */
export async function bringForReading(engine: Engine, row: InstanceRow): Promise<void> {
  const near = await bringNear(engine, row);
  if (!near.isBrought || near.row.file === null) return;
  await engine.registry.instances.recordBrought(row.id, row.generation, near.row.file);
}

/**
 * Takes a cached copy that has rotted away, into `orphans/`: the store has the file as it was filed. False for the only
 * copy there is. Takes the verbs lock.
 */
export function dropSpoiltCopy(engine: Engine, { id, generation }: InstanceRow): Promise<boolean> {
  return engine.runtimes.use(id, (runtime) =>
    runtime.verbs.runExclusive(() =>
      runtime.exclusive(async () => {
        const row = await engine.registry.instances.get(id);
        if (row === null || row.generation !== generation || row.pending !== null || engine.store === null)
          return false;
        const stored = storedOfFiling(row);
        if (stored === null || row.vfsPath !== stored.address) return false;
        const file = fileOf(engine, row);
        if ((await file.stat()) !== null) await moveToOrphans(engine, row, file);
        return true;
      }),
    ),
  );
}

/** Brings the listing of an archived sandbox where it is not on this disk. False where the store has none either. */
export async function bringListing(engine: Engine, row: InstanceRow): Promise<boolean> {
  const stored = storedOfFiling(row);
  const path = listingPath(engine, row.id);
  if (engine.store === null || stored === null || isThere(path)) return false;
  const name = objectNameOf(stored.address) + LISTING_SUFFIX;
  try {
    await intoPlace(path, stagingFor(engine.config.dataFolder, path), async (unfinished) => {
      await engine.store?.objects.download(name, unfinished, { signal: engine.stop });
    });
    return true;
  } catch (error) {
    // Without a listing the file itself answers, only slower.
    engine.log.debug({ id: row.id, error: messageOf(error) }, 'no listing was brought');
    return false;
  }
}
