/**
 * Backups that the server makes, as rows: who asked, how far one is, what came of it. The bytes, and what is in them,
 * are in the target; one that was pruned there is `removed`. Knows nothing of how a backup is made.
 */
import type { LedgerEntry } from './types.ts';

/**
 * `asked`: it begins when its turn comes. `running`: a host makes it. `made`: its manifest is in the target. `failed`:
 * it is not. `removed`: it was, until the retention removed it.
 */
export const BACKUP_STATES = ['asked', 'running', 'made', 'failed', 'removed'] as const;
export type BackupState = (typeof BACKUP_STATES)[number];

/** What a backup holds and added to its target. */
export interface BackupContent {
  /** Sandboxes that were not deleted. */
  sandboxes: number;
  bytes: number;
  addedObjects: number;
  addedBytes: number;
  wrong: number;
  keys: boolean;
}

export interface BackupRecord {
  id: string;
  state: BackupState;
  /** Absolute path of a folder, or the URL of a store. */
  target: string;
  /** Epoch seconds of the time of the schedule that it is for; null: somebody asked for it. */
  planned: number | null;
  actor: string;
  reason: string | null;
  /** Epoch milliseconds, as all times here. */
  askedMs: number;
  /** Of the moment that it is of. */
  begunMs: number | null;
  endedMs: number | null;
  attempts: number;
  done: number;
  total: number;
  sandboxes: number | null;
  bytes: number | null;
  addedObjects: number | null;
  addedBytes: number | null;
  wrong: number | null;
  /** Whether the key files are in it. */
  keys: boolean;
  error: string | null;
  verifiedMs: number | null;
  verifiedTookMs: number | null;
  verifiedError: string | null;
}

export type NewBackup = Pick<BackupRecord, 'id' | 'target' | 'planned' | 'actor' | 'reason' | 'askedMs'>;

/** How a try of one ended. */
type BackupTrial = Pick<BackupRecord, 'verifiedMs' | 'verifiedTookMs' | 'verifiedError'>;

export interface BackupStore {
  /**
   * Adds one that is to be made, with its ledger line. Null, and nothing is added, while another is `asked` or
   * `running`.
   */
  ask(backup: NewBackup, ledger: LedgerEntry): Promise<BackupRecord | null>;
  get(id: string): Promise<BackupRecord | null>;
  /** Newest first, those before the id `before`. `states`: only in one of these. */
  list(limit: number, options?: { before?: string; states?: readonly BackupState[] }): Promise<BackupRecord[]>;
  /** The one that is `asked` or `running`, or null. */
  open(): Promise<BackupRecord | null>;
  /** Begins an attempt at one that is open, with its line. False when it is not open any more. */
  begin(id: string, begunMs: number, ledger: LedgerEntry): Promise<boolean>;
  /** How far it is. Survives a kill with the next commit. */
  progress(id: string, done: number, total: number): Promise<void>;
  /** It is made: one that is open or failed, or was not known. False when it was made before. */
  made(backup: NewBackup & BackupContent & { begunMs: number; endedMs: number }, ledger: LedgerEntry): Promise<boolean>;
  /** It is not. False when it has ended already. */
  failed(id: string, endedMs: number, error: string, ledger: LedgerEntry): Promise<boolean>;
  /** One that was made was tried. */
  tried(id: string, trial: BackupTrial, ledger: LedgerEntry): Promise<void>;
  /** Those that were made are not in their target any more. */
  removed(ids: readonly string[], ledger: LedgerEntry): Promise<void>;
  /** Forgets `failed` and `removed` ones but for the newest `keep`. */
  forget(keep: number): Promise<void>;
}

/** A backup that was asked for. */
export const UNBEGUN_BACKUP = {
  state: 'asked',
  begunMs: null,
  endedMs: null,
  attempts: 0,
  done: 0,
  total: 0,
  sandboxes: null,
  bytes: null,
  addedObjects: null,
  addedBytes: null,
  wrong: null,
  keys: false,
  error: null,
  verifiedMs: null,
  verifiedTookMs: null,
  verifiedError: null,
} as const satisfies Omit<BackupRecord, keyof NewBackup>;

/** What the making of one says, without what was said when it was asked for. */
export function backupContentOf(made: Parameters<BackupStore['made']>[0]) {
  const { begunMs, endedMs, sandboxes, bytes, addedObjects, addedBytes, wrong, keys } = made;
  return { begunMs, endedMs, sandboxes, bytes, addedObjects, addedBytes, wrong, keys };
}
