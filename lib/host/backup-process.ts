/** Starts a process for each task on backups and waits for its answer. Knows nothing of what a task does. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BackupOrder, BackupReport } from '../backup/messages.ts';
import type { BackupAnswers, BackupTask, BackupWork } from '../backup/work.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { removeTree } from '../base/effects.ts';
import { WinterdockError } from '../base/errors.ts';
import { deserializeError } from '../base/serialized-error.ts';

const ENTRY = fileURLToPath(new URL('./backup-worker.ts', import.meta.url));
/** From util-linux: the kernel ends the process when the thread that started it is gone. */
const SETPRIV = '/usr/bin/setpriv';
const STDERR_TAIL = 2000;

/** Works on backups in processes of their own, which end with the server. */
export function createBackupWork({ config, clock }: { config: Config; clock: Clock }): BackupWork {
  return {
    async run<T extends BackupTask>(
      task: T,
      { progress, signal }: Parameters<BackupWork['run']>[1] = {},
    ): Promise<BackupAnswers[T['kind']]> {
      // Emptied at every start, as the drawers' own.
      const folder = join(config.dataFolder, 'staging', `backup-${randomUUID()}`);
      const order: BackupOrder = { config, aheadMs: clock.now() - Date.now(), folder, task };
      try {
        return (await inProcess(order, progress, signal)) as BackupAnswers[T['kind']];
      } finally {
        await removeTree(folder);
      }
    },
  };
}

function inProcess(
  order: BackupOrder,
  progress: ((done: number, all: number) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<BackupAnswers[BackupTask['kind']]> {
  const before = process.platform === 'linux' && existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL'] : [];
  const [file = '', ...args] = [...before, process.execPath, '--no-warnings', ENTRY];
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(stopped());
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let stderr = '';
    let report: Exclude<BackupReport, { ready: true } | { progress: unknown }> | null = null;
    const abort = () => child.kill('SIGKILL');
    signal?.addEventListener('abort', abort, { once: true });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL);
    });
    child.on('message', (message: BackupReport) => {
      if ('ready' in message) child.send(order);
      else if ('progress' in message) progress?.(message.progress.done, message.progress.all);
      else report = message;
    });
    const settle = (why: string) => {
      signal?.removeEventListener('abort', abort);
      if (report !== null && 'answer' in report) resolve(report.answer);
      else if (report !== null) reject(deserializeError(report.failure));
      else if (signal?.aborted === true) reject(stopped());
      else {
        const cause = new Error(stderr);
        reject(new WinterdockError('internal', `The process that works on backups ended (${why}).`, { cause }));
      }
    };
    child.once('error', (error) => settle(error.message));
    child.once('close', (code, killedBy) => settle(String(killedBy ?? code)));
  });
}

function stopped(): WinterdockError {
  return new WinterdockError('storage_unavailable', 'The work on the backup was broken off.', { retryAfterSeconds: 5 });
}
