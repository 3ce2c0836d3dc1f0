/**
 * SQLite's `quick_check` of the registry's file. It takes seconds for a large file, so it runs outside the server's
 * thread.
 */
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';

const BUSY_MS = 5000;
const WORKER = new URL('./quick-check-worker.ts', import.meta.url);

/** `ok`, or the first fault. Blocks; throws SQLite's errors. */
export function quickCheck(path: string): string {
  // A read-only connection would leave its -wal and -shm behind.
  const client = new Database(path, { fileMustExist: true, timeout: BUSY_MS });
  try {
    client.pragma('query_only = ON');
    return String(client.prepare('PRAGMA quick_check(1)').pluck().get());
  } finally {
    client.close();
  }
}

/** Checks the file at `path` in its own thread. When `signal` aborts, the thread ends and the promise rejects. */
export async function quickCheckInThread(path: string, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted();
  const worker = new Worker(WORKER, { workerData: path });
  const stop = () => void worker.terminate();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('The check ended without an answer.')));
    });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
