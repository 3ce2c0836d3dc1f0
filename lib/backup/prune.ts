/**
 * Removes backups from a place, in two steps a day apart. A backup that is no longer wanted is retired: its manifest is
 * kept aside under the time of that. What nothing names, a retired one of the last day included, is removed when it is
 * older than that itself. So whoever reads a backup, or is about to name an object again, has a day to do so. Knows
 * nothing of when a backup is wanted.
 */
import { type Clock, systemClock } from '../base/clock.ts';
import { WinterdockError } from '../base/errors.ts';
import { folderPlace } from './folder-place.ts';
import { type BackupManifest, objectsOf, parseBackupManifest } from './manifest.ts';
import type { BackupPlace } from './place.ts';
import { manifestName, manifestsIn } from './store.ts';

/** Nothing is removed before nobody has named it for so long. */
export const GRACE_MS = 24 * 3600 * 1000;

const RETIRED = /^retired\/[0-9A-Za-z.-]{1,80}\.(\d{1,16})\.json$/;
/** In a store a token follows the hash. */
const OBJECT = /^objects\/[0-9a-f]{2}\/([0-9a-f]{64})(?:-[A-Za-z0-9_-]{1,80})?$/;

export interface Pruned {
  /** Backups that were retired, by their ids. */
  backups: string[];
  /** Objects that were removed. */
  objects: number;
  bytes: number;
  /** Backups that are dated ahead of the clock: they are kept, and not judged. */
  ahead: number;
}

/**
 * Retires what `unwanted` says of the backups that are not dated ahead, newest first, and removes what nothing named
 * for a day, unless another writes to the place. Removes nothing while a manifest cannot be read, because its objects
 * are not known: throws `corrupt`. The caller holds the place.
 */
export async function prunePlace(
  place: BackupPlace,
  unwanted: (manifests: readonly BackupManifest[]) => ReadonlySet<string>,
  clock: Clock = systemClock,
): Promise<Pruned> {
  const { manifests, ahead, damaged } = await manifestsIn(place, clock);
  if (damaged.length > 0) {
    throw new WinterdockError('corrupt', `Nothing was removed: ${damaged[0]}`, {
      hint: 'Move that manifest away if it cannot be mended.',
    });
  }
  const ids = unwanted(manifests.slice(0, manifests.length - ahead));
  const gone = manifests.filter(({ id }) => ids.has(id));
  for (const { id } of gone) {
    const text = await place.read(manifestName(id));
    if (text === null) continue;
    await place.write(`retired/${id}.${clock.now()}.json`, text.toString());
    await place.remove(manifestName(id));
  }
  const kept = manifests.filter((one) => !gone.includes(one));
  const removed = await sweep(place, kept, clock);
  return { backups: gone.map(({ id }) => id), ...removed, ahead };
}

/** Removes all backups of a folder (absolute) but the newest `keep`: see prunePlace. */
export function prune(folder: string, keep: number, clock: Clock = systemClock): Promise<Pruned> {
  const unwanted = (manifests: readonly BackupManifest[]) => new Set(manifests.slice(keep).map(({ id }) => id));
  return prunePlace(folderPlace(folder), unwanted, clock);
}

/** Removes objects that neither a backup names nor one that was retired within a day, and the records of older ones. */
async function sweep(
  place: BackupPlace,
  kept: readonly BackupManifest[],
  clock: Clock,
): Promise<Pick<Pruned, 'objects' | 'bytes'>> {
  const before = clock.now() - GRACE_MS;
  const needed = new Set(kept.flatMap((manifest) => [...objectsOf(manifest).keys()]));
  const over: string[] = [];
  for await (const files of place.list('retired/')) {
    for (const { name } of files) {
      const [, retiredMs] = RETIRED.exec(name) ?? [];
      if (retiredMs === undefined) continue;
      if (Number(retiredMs) < before) {
        over.push(name);
        continue;
      }
      const text = await place.read(name);
      if (text === null) continue;
      for (const sha256 of objectsOf(parseBackupManifest(text.toString())).keys()) needed.add(sha256);
    }
  }
  const removed = { objects: 0, bytes: 0 };
  for await (const files of place.list('objects/')) {
    const surplus = files.filter(({ name, atMs }) => {
      const [, sha256] = OBJECT.exec(name) ?? [];
      return sha256 !== undefined && atMs < before && !needed.has(sha256);
    });
    if (surplus.length === 0) continue;
    if (!(await place.isAlone())) return removed;
    for (const { name, bytes } of surplus) {
      await place.remove(name);
      removed.objects += 1;
      removed.bytes += bytes;
    }
  }
  for (const name of over) await place.remove(name);
  return removed;
}
