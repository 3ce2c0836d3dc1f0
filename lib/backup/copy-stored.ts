/**
 * Copies what of a sandbox is in the object store alone: its local copy gave way to others. A backup never refers to an
 * object of a drawer, which goes when the sandbox moves. Knows nothing of rows that have their file here.
 */
import { objectNameOf, parseCloudAddress } from '../base/cloud-address.ts';
import { unlinkFile } from '../base/effects.ts';
import { isWinterdockError } from '../base/errors.ts';
import type { InstanceRow, StoredObject } from '../registry/types.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { FileMoved, objectAt } from './copy-file.ts';
import type { BackupRow, ObjectRef } from './manifest.ts';
import type { BackupTarget } from './store.ts';

export interface StoredParts {
  target: BackupTarget;
  /** Opens the store below the drawers; null: none is set. */
  cold: (() => Promise<ObjectStore>) | null;
  before: ReadonlyMap<string, BackupRow>;
  added(object: ObjectRef): void;
}

/** The object that a row names as its file; null: its file is elsewhere, or not stored. */
export function storedFileOf({ vfsPath, stored }: Pick<InstanceRow, 'vfsPath' | 'stored'>): StoredObject | null {
  return stored !== null && parseCloudAddress(vfsPath) !== null && stored.address === vfsPath ? stored : null;
}

/**
 * Copies an object of the store into the backup: within the store where that is one and the same, by way of this
 * machine otherwise. What the last backup has of the very same object is not read again. Returns the object, and
 * whether it is packed; null: the store has it no more. Throws `storage_unavailable` when the store does not say.
 */
export async function copyStored(
  { target, cold, before, added }: StoredParts,
  id: string,
  { address, sha256, bytes }: StoredObject,
): Promise<{ object: ObjectRef; packed: boolean } | null> {
  const packed = parseCloudAddress(address)?.kind === 'archive';
  const last = before.get(id);
  if (last?.stored === address && last.object !== null && (await target.has(last.object))) {
    return { object: last.object, packed };
  }
  // Of a packed one the hash that is known is that of what it expands to.
  const known = packed ? null : { sha256, bytes };
  if (known !== null && (await target.has(known))) return { object: known, packed };
  if (cold === null) return null;
  const object = await copyObject({ target, cold, added }, objectNameOf(address), known, { bytes, sha256, packed });
  return object === null ? null : { object, packed };
}

/**
 * Copies the file of a snapshot or a blueprint that is in the store alone. Null: it has it no more. Throws as
 * copyStored.
 */
export function copyStoredCopy(
  { target, added }: Pick<StoredParts, 'target' | 'added'>,
  cold: () => Promise<ObjectStore>,
  name: string,
  known: ObjectRef,
): Promise<ObjectRef | null> {
  return copyObject({ target, cold, added }, name, known, { ...known, packed: false });
}

/** `known`: the object as it will be, where that is known before its bytes are. */
async function copyObject(
  { target, cold, added }: Pick<StoredParts, 'target' | 'added'> & { cold: () => Promise<ObjectStore> },
  name: string,
  known: ObjectRef | null,
  as: { bytes: number; sha256: string; packed: boolean },
): Promise<ObjectRef | null> {
  const store = await cold();
  const draft = target.draft();
  try {
    if (known !== null && (await target.copyWithin?.(store.url, name, known)) === true) {
      added(known);
      return known;
    }
    await store.download(name, draft, as);
    const object = await objectAt(draft);
    if (!(await target.has(object))) {
      await target.keep(draft, object);
      added(object);
    }
    return object;
  } catch (error) {
    if (!isWinterdockError(error)) throw error;
    if (error.code === 'missing_file') return null;
    // Wrong bytes came twice: a wake may have replaced it meanwhile, which the caller finds out.
    if (error.code === 'corrupt') throw new FileMoved(error.message, { cause: error });
    throw error;
  } finally {
    await unlinkFile(draft);
  }
}
