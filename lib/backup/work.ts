/**
 * The work on backups that takes long: it is done in a process of its own, so that no call waits for it. Knows the
 * tasks and their answers; lib/host/backup-process.ts starts the process, lib/host/backup-worker.ts is it.
 */
import type { InstanceId } from '../base/ids.ts';
import type { BackupContent } from '../registry/backups.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { PlaceOwner } from './claim-place.ts';
import { lastBackupOf } from './last-backup.ts';
import { type BackupManifest, unreadableIn } from './manifest.ts';
import type { Retention } from './retention.ts';
import type { SoundFile } from './sound-file.ts';

/** The place of backups, and who asks for it. */
interface AtPlace {
  target: string;
  owner: PlaceOwner;
}

export interface MakeTask extends AtPlace {
  kind: 'make';
  id: string;
  withKeys: boolean;
  keep: Retention;
  timezone: string;
  /** Ids of backups that the retention leaves alone: people asked for them a short while ago. */
  spared: readonly string[];
}

/** Makes the place the owner's, and says which backups of it are there. */
interface LookTask extends AtPlace {
  kind: 'look';
}

/** Restores one drawn sandbox to a folder that is removed again. */
export interface TrialTask extends AtPlace {
  kind: 'trial';
  id: string;
}

/** Brings the file of one sandbox, plain and checked, to a new file. */
export interface TakeTask extends AtPlace {
  kind: 'take';
  id: string;
  instance: InstanceId;
  /** Absolute path of a folder for it. */
  folder: string;
  /** It becomes another sandbox, without the identity of its source. */
  isNew: boolean;
}

/** Says what a restore of everything, or of one sandbox, would bring. */
export interface PlanTask extends AtPlace {
  kind: 'plan';
  id: string;
  instance: InstanceId | null;
}

/** Brings the file of one sandbox as of the newest moment of a replica up to a time, plain and checked. */
export interface MomentTask {
  kind: 'moment';
  /** Of the replica. */
  url: string;
  instance: InstanceId;
  /** Whose it is. */
  tenant: string;
  /** Epoch milliseconds; null: now. */
  atMs: number | null;
  /** Absolute path of a folder for it. */
  folder: string;
  /** It becomes another sandbox, without the identity of its source. */
  isNew: boolean;
}

export type BackupTask = MakeTask | LookTask | TrialTask | TakeTask | PlanTask | MomentTask;

/** A backup in its place, as its manifest says. */
export type PlacedBackup = { id: string; begunMs: number; madeMs: number } & BackupContent;

/** What is in a place. */
export interface PlaceContent {
  /** The owner's backups. */
  own: PlacedBackup[];
  /** Ids of all, those that others have signed and those that cannot be read included. */
  ids: string[];
}

export interface BackupAnswers {
  make: {
    backup: PlacedBackup;
    /** What is not sound in the source, a sentence each: some of them. */
    wrong: string[];
    place: PlaceContent;
    /** How many objects the retention removed, and their bytes. */
    removed: { objects: number; bytes: number };
    /** Why it removed nothing; null: it did. */
    pruneError: string | null;
  };
  look: PlaceContent;
  trial: {
    /** Null: the backup holds no file of a sandbox. */
    instance: InstanceId | null;
    tenant: string | null;
    bytes: number;
    tookMs: number;
    /** What was not as it was backed up. */
    error: string | null;
  };
  take: SoundFile & {
    /** Its row as the backup has it. */
    row: InstanceRow;
  };
  moment: SoundFile & {
    /** Of the moment, in epoch milliseconds. */
    timeMs: number;
  };
  plan: {
    states: Partial<Record<string, number>>;
    copies: number;
    bytes: number;
    memory: number;
    missing: number;
    unsound: number;
    keys: boolean;
    /** Of the one sandbox that was asked for. */
    instance: {
      state: string;
      tenant: string;
      bytes: number;
      /** Why there is no file of it; null: there is one. */
      absent: string | null;
      wrong: string | null;
    } | null;
  };
}

/** Does one task. Rejects with its error; with `signal` it is broken off, and what it had begun is left unfinished. */
export interface BackupWork {
  run<T extends BackupTask>(
    task: T,
    options?: { progress?: (done: number, all: number) => void; signal?: AbortSignal },
  ): Promise<BackupAnswers[T['kind']]>;
}

/** A backup as its manifest says. */
export function placedBackup(manifest: BackupManifest, added = { objects: 0, bytes: 0 }): PlacedBackup {
  const { sandboxes, bytes, keys, wrong } = lastBackupOf(manifest, '', unreadableIn(manifest).length);
  return {
    id: manifest.id,
    begunMs: manifest.begun_ms,
    madeMs: manifest.made_ms,
    sandboxes,
    bytes,
    addedObjects: added.objects,
    addedBytes: added.bytes,
    wrong,
    keys,
  };
}
