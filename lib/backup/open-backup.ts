/**
 * Opens an existing backup for reading: chooses one of several, and yields its objects as verified files. Changes
 * nothing in it.
 */
import { join } from 'node:path';
import { makeFolder, removeTree, unlinkFile } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { isThere } from '../base/is-there.ts';
import { refuseFormerFile } from '../registry/sqlite/former-history.ts';
import { sha256Of } from '../storage/files.ts';
import { folderPlace } from './folder-place.ts';
import type { BackupManifest, ObjectRef } from './manifest.ts';
import { type BackupPlace, objectName } from './place.ts';
import { momentInWords, type ReplicaReport } from './replica-report.ts';
import { manifestsIn } from './store.ts';
import { readTar } from './tar.ts';
import { isFolder } from './verify.ts';

export interface OpenedBackup {
  /** Of a replica it changes as objects are made ready: what a sandbox's file is, is known then. */
  readonly manifest: BackupManifest;
  /** What is told of a replica; null for a backup. */
  readonly replica: ReplicaReport | null;
  /** Backups with an unreadable manifest. One of them may be newer. */
  readonly passedOver: string[];
  /** Makes the objects ready; those of a tar are unpacked. */
  prepare(objects: ObjectRef[]): Promise<void>;
  /** Path of a verified object. Throws `corrupt` or `missing_file` with `whose`, the owner, in the message. */
  path(object: ObjectRef, label: string): Promise<string>;
  /**
   * Path of an object that was made for this restore, verified and on disk, which the caller moves to its place; null
   * when it stays and has to be copied.
   */
  take(object: ObjectRef): string | null;
  /** Removes unpacked objects. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the newest backup in a folder, or the one with the latest date up to `atMs`; or the one in a tar file, whose
 * objects are unpacked to `tmpFolder` (absolute, made for it). Throws `not_found` when there is none.
 */
export async function openBackup(from: string, tmpFolder: string, atMs: number | null): Promise<OpenedBackup> {
  if (!isThere(from)) throw new WinterdockError('not_found', `There is no backup at ${from}.`);
  return isFolder(from) ? openNewest(folderPlace(from), tmpFolder, atMs) : openTar(from, tmpFolder, atMs);
}

/** What the file of a sandbox comes from, in words. */
export function restoredFrom({ manifest, replica }: OpenedBackup, id: InstanceId): string {
  return replica === null ? `backup ${manifest.id}` : momentInWords(replica, id);
}

const early = ({ begun_ms }: BackupManifest, atMs: number | null) => atMs === null || begun_ms <= atMs;

/** Opens the newest backup in a place, or the one with the latest date up to `atMs`: see openBackup. */
export async function openNewest(place: BackupPlace, tmpFolder: string, atMs: number | null): Promise<OpenedBackup> {
  const { manifests, damaged } = await manifestsIn(place);
  const inOrder = atMs === null ? manifests : manifests.toSorted((a, b) => b.begun_ms - a.begun_ms);
  const manifest = inOrder.find((one) => early(one, atMs));
  if (manifest === undefined) {
    const [why] = damaged;
    const upTo = atMs === null ? '' : ` up to ${new Date(atMs).toISOString()}`;
    throw new WinterdockError(
      'not_found',
      `There is no backup${upTo} in ${place.name}.${why === undefined ? '' : ` ${why}`}`,
    );
  }
  return { ...openPlaced(place, manifest, tmpFolder), passedOver: damaged };
}

/** Opens one backup of a place. What lies on this machine is read there; all else is brought to `tmpFolder`. */
export function openPlaced(place: BackupPlace, manifest: BackupManifest, tmpFolder: string): OpenedBackup {
  const known = new Set<string>();
  const paths = new Map<string, string | null>();
  const bring = async ({ sha256 }: ObjectRef): Promise<string | null> => {
    const path = paths.get(sha256);
    if (path !== undefined) return path;
    const brought = join(tmpFolder, sha256);
    // Half of it may lie there, of a restore that was killed.
    await unlinkFile(brought);
    const found = await place.fetch(objectName(sha256), brought);
    paths.set(sha256, found);
    return found;
  };
  return {
    manifest,
    replica: null,
    passedOver: [],
    take: () => null,
    async prepare(objects) {
      for (const object of objects) await bring(object);
    },
    async path(object, label) {
      return proved(known, (await bring(object)) ?? join(tmpFolder, object.sha256), object, label);
    },
    close: () => removeTree(tmpFolder),
  };
}

async function openTar(path: string, tmpFolder: string, atMs: number | null): Promise<OpenedBackup> {
  const { manifest } = await readTar(path);
  if (!early(manifest, atMs)) {
    throw new WinterdockError('not_found', `The backup in ${path} is of ${new Date(manifest.begun_ms).toISOString()}.`);
  }
  const at = (sha256: string) => join(tmpFolder, sha256);
  const known = new Set<string>();
  const unpacked = new Set<string>();
  return {
    manifest,
    replica: null,
    passedOver: [],
    take: () => null,
    async prepare(objects) {
      const wanted = new Set(objects.map(({ sha256 }) => sha256).filter((sha256) => !unpacked.has(sha256)));
      if (wanted.size === 0) return;
      // Half of an object may lie there, of a restore that was killed.
      if (unpacked.size === 0) await removeTree(tmpFolder);
      await makeFolder(tmpFolder);
      await readTar(path, (sha256) => (wanted.has(sha256) ? at(sha256) : null));
      for (const sha256 of wanted) unpacked.add(sha256);
    },
    path: (object, label) => proved(known, at(object.sha256), object, label),
    close: () => removeTree(tmpFolder),
  };
}

/** Verifies an object once. Every file that is made from it is compared with its hash too. */
async function proved(known: Set<string>, path: string, { sha256 }: ObjectRef, label: string): Promise<string> {
  if (known.has(sha256)) return path;
  if (!isThere(path)) {
    throw new WinterdockError('missing_file', `The backup lacks objects/${sha256}, which is ${label}.`);
  }
  if ((await sha256Of(path)) === sha256) {
    known.add(sha256);
    return path;
  }
  throw new WinterdockError('corrupt', `In the backup objects/${sha256} is damaged, which is ${label}.`, {
    hint: 'Restore an older backup with --at, or what is sound of it one sandbox at a time with --instance.',
  });
}

/** Throws `conflict` for a backup whose registry is too old to be carried over. Its registry must be prepared. */
export async function requireRestorable({ manifest, path }: OpenedBackup): Promise<void> {
  refuseFormerFile(await path(manifest.registry, 'the registry'), `The backup ${manifest.id}`);
}

/** Removes a database and the log and journal beside it. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm', '-journal']) await unlinkFile(path + suffix);
}
