/** What the server and a transfer process tell each other. Both are our own: what the process says is small. */
import type { SerializedError } from '../../base/serialized-error.ts';
import type { StoreAddress, StoreConnection } from '../../base/store-url.ts';
import type { DownloadOptions, Transferred } from './object-store.ts';

/** A file to be stored, or an object to be written to a new file (absolute path). */
export interface TransferTask {
  kind: 'upload' | 'download';
  name: string;
  path: string;
  options: Omit<DownloadOptions, 'signal' | 'progress'>;
}

/** The store comes first and once; its credentials are in the process's environment. */
export type ToTransferProcess =
  | { store: StoreAddress; connection: Omit<StoreConnection, 'credentials'> }
  | { task: TransferTask }
  | { abort: true };

export type TransferMessage =
  | { ready: true }
  /** The bytes that have gone so far. Comes while it lives, also when there are no more. */
  | { gone: number }
  | { transferred: Transferred }
  /** What the system said of the local file. */
  | { system: { code: string; syscall: string } }
  | { failure: SerializedError };

const KEYS = ['ready', 'gone', 'transferred', 'system', 'failure'];

/** Throws for what is no message of a transfer process. */
export function parseTransferMessage(message: unknown): TransferMessage {
  if (typeof message !== 'object' || message === null) throw new Error('It is no message.');
  const [key, ...others] = Object.keys(message);
  if (key === undefined || others.length > 0 || !KEYS.includes(key)) throw new Error('It is no such message.');
  return message as TransferMessage;
}
