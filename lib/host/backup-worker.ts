/**
 * The process that does the long work on backups. It has the server's own rights and environment and opens no file of a
 * guest: readers behind walls do. It does one task and ends, at the latest with its server.
 */
import { getPriority, setPriority } from 'node:os';
import { runBackupTask } from '../backup/backup-tasks.ts';
import { type BackupOrder, type BackupReport, parseBackupOrder } from '../backup/messages.ts';
import { removeTree } from '../base/effects.ts';
import { serializeError } from '../base/serialized-error.ts';
import { createDrawers } from './drawers.ts';
import { createReadersAlone } from './helpers.ts';

const NICENESS = 5;
const PROGRESS_MS = 250;

const send = (report: BackupReport) => process.send?.(report);

async function carryOut({ config, aheadMs, folder, task }: BackupOrder): Promise<BackupReport> {
  let toldMs = 0;
  try {
    const answer = await runBackupTask(
      {
        config,
        drawers: createDrawers(config),
        clock: { now: () => Date.now() + aheadMs },
        folder,
        passphrase: process.env.WB_BACKUP_PASSPHRASE || null,
        readersFor: (writable) => createReadersAlone(config, { writable }),
        progress(done, all) {
          const now = performance.now();
          if (now - toldMs < PROGRESS_MS && done < all) return;
          toldMs = now;
          send({ progress: { done, all } });
        },
      },
      task,
    );
    return { answer };
  } catch (error) {
    return { failure: serializeError(error, 'The work on the backup broke off.') };
  } finally {
    await removeTree(folder);
  }
}

process.umask(0o077);
setPriority(process.pid, Math.min(19, getPriority(process.pid) + NICENESS));
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.once('message', (message) => {
  void carryOut(parseBackupOrder(message)).then((report) => {
    process.send?.(report, undefined, undefined, () => process.exit(0));
  });
});
send({ ready: true });
