/**
 * A backup folder: content-addressed objects, each stored once under the SHA-256 of its bytes, and one manifest per
 * backup. A manifest is written after all objects that it names. An interrupted backup therefore leaves earlier ones
 * whole, and the next one does not copy its objects again. Knows nothing of what is in an object.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, systemClock } from '../base/clock.ts';
import {
  chmodFile,
  makeFolder,
  removeTree,
  renameFile,
  syncFile,
  syncFolder,
  unlinkFile,
  writeFile,
} from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { type BackupManifest, type ObjectRef, objectsOf, parseBackupManifest } from './manifest.ts';

/** What a backup is written to. One backup at a time. */
export interface BackupTarget {
  /** The last backup that is there, or null. */
  readonly last: BackupManifest | null;
  /** Whether the object is there already, by name and size. */
  has(object: ObjectRef): boolean;
  /** Path of a new temporary file, which is gone at the latest with `close`. */
  draft(): string;
  /** Takes a draft whose bytes are on disk as an object. */
  keep(draft: string, object: ObjectRef): Promise<void>;
  /** The backup is made once this resolves, and not before. */
  finish(id: string, text: string): Promise<void>;
  /** Removes unfinished files. Idempotent. */
  close(): Promise<void>;
}

const MANIFEST = /^(\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z-[0-9a-f]+)\.json$/;
/** Name of the file that is locked while a backup is written. */
export const LOCK = 'lock.sqlite';
/** Nothing changes an object any more. */
const SEALED = 0o400;

/** The path of an object in a backup folder. */
export function objectPath(folder: string, sha256: string): string {
  return join(folder, 'objects', sha256.slice(0, 2), sha256);
}

/**
 * Opens a backup folder for one more backup, making it when there is none. Throws `conflict` when another backup writes
 * to it.
 */
export async function openFolderTarget(folder: string): Promise<BackupTarget> {
  for (const name of ['objects', 'backups']) await makeFolder(join(folder, name));
  const unlock = lockTarget(folder);
  const drafts = join(folder, 'drafts');
  try {
    await removeTree(drafts);
    await makeFolder(drafts);
  } catch (error) {
    unlock();
    throw error;
  }
  const [last] = (await manifestsIn(folder)).manifests;
  return {
    last: last ?? null,
    has: ({ sha256, bytes }) => statSync(objectPath(folder, sha256), { throwIfNoEntry: false })?.size === bytes,
    draft: () => join(drafts, randomUUID()),
    async keep(draft, { sha256 }) {
      const path = objectPath(folder, sha256);
      await makeFolder(dirname(path));
      await chmodFile(draft, SEALED);
      await renameFile(draft, path);
      await syncFolder(dirname(path));
      await syncFolder(dirname(dirname(path)));
    },
    async finish(id, text) {
      const draft = join(drafts, randomUUID());
      await writeFile(draft, text);
      await syncFile(draft);
      await renameFile(draft, join(folder, 'backups', `${id}.json`));
      await syncFolder(join(folder, 'backups'));
      await syncFolder(folder);
      await syncFolder(dirname(folder));
    },
    async close() {
      await removeTree(drafts);
      unlock();
    },
  };
}

interface FolderManifests {
  /**
   * Newest first. Behind them those dated ahead of the clock: it was set back since, so each of them is older than what
   * was made after that.
   */
  manifests: BackupManifest[];
  /** How many of them are dated ahead. */
  ahead: number;
  damaged: string[];
}

/** The backups in a folder, and the manifests that cannot be read. */
export async function manifestsIn(folder: string, clock: Clock = systemClock): Promise<FolderManifests> {
  const manifests: BackupManifest[] = [];
  const damaged: string[] = [];
  let names: string[];
  try {
    names = await readdir(join(folder, 'backups'));
  } catch (error) {
    throw new WinterdockError('not_found', `There is no backup in ${folder}.`, { cause: error });
  }
  for (const name of names.sort().reverse()) {
    if (!MANIFEST.test(name)) continue;
    try {
      manifests.push(parseBackupManifest(await readFile(join(folder, 'backups', name), 'utf8')));
    } catch (error) {
      damaged.push(`backups/${name}: ${messageOf(error)}`);
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

/**
 * Removes all backups but the newest `keep`, and every object that none of those names. Those dated ahead of the clock
 * are kept until it has come to their date, and do not count: whether they or the clock are wrong is not known. Removes
 * nothing while a manifest cannot be read, because its objects are not known. Returns the counts. The caller holds the
 * folder's lock.
 */
export async function prune(
  folder: string,
  keep: number,
  clock: Clock = systemClock,
): Promise<{ backups: number; objects: number; ahead: number }> {
  const { manifests, ahead, damaged } = await manifestsIn(folder, clock);
  if (damaged.length > 0) {
    throw new WinterdockError('corrupt', `Nothing was removed: ${damaged[0]}`, {
      hint: 'Move that manifest away if it cannot be mended.',
    });
  }
  const gone = manifests.slice(0, manifests.length - ahead).slice(keep);
  for (const { id } of gone) await unlinkFile(join(folder, 'backups', `${id}.json`));
  await syncFolder(join(folder, 'backups'));
  const kept = manifests.filter((one) => !gone.includes(one));
  const needed = new Set(kept.flatMap((manifest) => [...objectsOf(manifest).keys()]));
  let objects = 0;
  for (const part of readdirSync(join(folder, 'objects'))) {
    for (const name of readdirSync(join(folder, 'objects', part))) {
      if (needed.has(name)) continue;
      await unlinkFile(join(folder, 'objects', part, name));
      objects += 1;
    }
  }
  return { backups: gone.length, objects, ahead };
}

/**
 * Holds a folder that a backup is written to by an exclusive transaction, which the kernel lets go when the process is
 * gone, however it went.
 */
export function lockTarget(folder: string): () => void {
  const database = new DatabaseSync(join(folder, LOCK), { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    throw new WinterdockError('conflict', `Another backup is being written to ${folder}.`, { cause: error });
  }
  return () => {
    if (database.isOpen) database.close();
  };
}
