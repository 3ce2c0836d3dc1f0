/** What the server and the process that works on backups say to one another. Both are ours, and of one version. */
import type { Config } from '../base/config.ts';
import type { SerializedError } from '../base/serialized-error.ts';
import type { BackupAnswers, BackupTask } from './work.ts';

export interface BackupOrder {
  config: Config;
  /** Milliseconds that the server's clock is ahead of the system's. */
  aheadMs: number;
  /** Absolute path of a folder that is made for the work, and removed with it. */
  folder: string;
  task: BackupTask;
}

export type BackupReport =
  | { ready: true }
  | { progress: { done: number; all: number } }
  | { answer: BackupAnswers[BackupTask['kind']] }
  | { failure: SerializedError };

/** Throws for what is no order. */
export function parseBackupOrder(message: unknown): BackupOrder {
  if (typeof message === 'object' && message !== null && 'task' in message) return message as BackupOrder;
  throw new Error('This is no task of a backup process.');
}
