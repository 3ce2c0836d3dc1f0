/**
 * The backups in a place: content-addressed objects, each stored once under the SHA-256 of its bytes, and one manifest
 * per backup. A manifest is written after all objects that it names. An interrupted backup therefore leaves earlier
 * ones whole, and the next one does not copy its objects again. Knows nothing of what is in an object, or of folders.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { folderPlace } from './folder-place.ts';
import { type BackupManifest, type ObjectRef, parseBackupManifest } from './manifest.ts';
import { type BackupPlace, objectName } from './place.ts';

/** What a backup is written to. One backup at a time. */
export interface BackupTarget {
  /** The last backup that is there, or null. */
  readonly last: BackupManifest | null;
  /**
   * Whether the object is there already, by name and size. What is reused is asked for again by `missing`, before the
   * manifest is written.
   */
  has(object: ObjectRef): Promise<boolean>;
  /** Those that are not there now. */
  missing(objects: readonly ObjectRef[]): Promise<ObjectRef[]>;
  /** Path of a new temporary file, which is gone at the latest with `close`. */
  draft(): string;
  /** Takes a draft whose bytes are on disk as an object. */
  keep(draft: string, object: ObjectRef): Promise<void>;
  /**
   * Copies an object of the store at `url` into the place, where that is the same store. False, or absent: it is not.
   * Throws `missing_file`.
   */
  copyWithin?(url: string, from: string, object: ObjectRef): Promise<boolean>;
  /** The backup is made once this resolves, and not before. */
  finish(id: string, text: string): Promise<void>;
  /** Removes unfinished files. Idempotent. */
  close(): Promise<void>;
}

const MANIFEST = /^backups\/(\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z-[0-9a-f]+)\.json$/;
/** Objects asked for at the same time. */
const ASKED_AT_ONCE = 16;

/** The name of a manifest in a place. */
export function manifestName(id: string): string {
  return `backups/${id}.json`;
}

/** Opens a backup folder for one more backup, making it when there is none: see openTarget. */
export function openFolderTarget(folder: string): Promise<BackupTarget> {
  return openTarget(folderPlace(folder));
}

/** Opens a place for one more backup. Throws `conflict` when another backup writes to it. */
export async function openTarget(place: BackupPlace): Promise<BackupTarget> {
  const release = await place.hold();
  try {
    const drafts = await place.drafts();
    const [last] = (await manifestsIn(place)).manifests;
    return {
      last: last ?? null,
      has: async ({ sha256, bytes }) => (await place.bytesOf(objectName(sha256))) === bytes,
      async missing(objects) {
        const gone: ObjectRef[] = [];
        for (let at = 0; at < objects.length; at += ASKED_AT_ONCE) {
          const some = objects.slice(at, at + ASKED_AT_ONCE);
          const sizes = await Promise.all(some.map(({ sha256 }) => place.bytesOf(objectName(sha256))));
          gone.push(...some.filter(({ bytes }, index) => sizes[index] !== bytes));
        }
        return gone;
      },
      draft: () => join(drafts, randomUUID()),
      keep: (draft, object) => place.keep(draft, objectName(object.sha256), object),
      copyWithin: async (url, from, object) =>
        (await place.copyWithin?.(url, from, objectName(object.sha256), object)) ?? false,
      finish: (id, text) => place.write(manifestName(id), text),
      async close() {
        try {
          await place.close();
        } finally {
          release();
        }
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}

export interface PlacedManifests {
  /**
   * Newest first. Behind them those dated ahead of the clock: it was set back since, so each of them is older than what
   * was made after that.
   */
  manifests: BackupManifest[];
  /** How many of them are dated ahead. */
  ahead: number;
  damaged: string[];
}

/**
 * The backups in a place, or in a folder by its absolute path, and the manifests that cannot be read.
 */
export async function manifestsIn(from: string | BackupPlace, clock: Clock = systemClock): Promise<PlacedManifests> {
  const place = typeof from === 'string' ? folderPlace(from) : from;
  const manifests: BackupManifest[] = [];
  const damaged: string[] = [];
  for (const id of (await manifestIdsIn(place)).sort().reverse()) {
    const name = manifestName(id);
    try {
      const text = await place.read(name);
      if (text === null) continue;
      const manifest = parseBackupManifest(text.toString());
      if (manifestName(manifest.id) !== name) throw new Error(`it is that of the backup ${manifest.id}`);
      manifests.push(manifest);
    } catch (error) {
      if (!(error instanceof Error) || ('code' in error && error.code !== 'corrupt')) throw error;
      damaged.push(`${name}: ${messageOf(error)}`);
    }
  }
  const now = clock.now();
  const ahead = manifests.filter(({ begun_ms }) => begun_ms > now);
  return {
    manifests: [...manifests.filter(({ begun_ms }) => begun_ms <= now), ...ahead],
    ahead: ahead.length,
    damaged,
  };
}

/** The ids of the manifests in a place, whether they can be read or not. */
export async function manifestIdsIn(place: BackupPlace): Promise<string[]> {
  const ids: string[] = [];
  for await (const some of place.list('backups/'))
    ids.push(...some.flatMap(({ name }) => MANIFEST.exec(name)?.[1] ?? []));
  return ids;
}
