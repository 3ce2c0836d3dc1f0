/** Wires the backups that the server makes: the process that does the work, what decides, what brings back. */
import { BackupRestorer, type BackupRestorerParts } from '../backup/restore-beside.ts';
import { MomentRestorer, type MomentRestorerParts } from '../backup/restore-moment.ts';
import { BackupRunner, type BackupRunnerParts } from '../backup/runner.ts';
import type { Config } from '../base/config.ts';
import type { Signer } from '../base/signing.ts';
import { NamedMoments, type NamedMomentsParts } from '../copies/named-moments.ts';
import { lastEpoch } from '../ledger/epoch.ts';
import type { BackupEngine } from '../operations/backups.ts';
import { createBackupWork } from './backup-process.ts';

/** The epoch of a ledger that never began another. */
const FIRST_EPOCH = 1;

export function createBackups(
  parts: Omit<BackupRunnerParts, 'work' | 'trusted' | 'epoch'> &
    Omit<BackupRestorerParts, 'runner' | 'work'> &
    Omit<MomentRestorerParts, 'work' | 'named'> &
    NamedMomentsParts & { config: Config; signer: Signer },
): BackupEngine {
  const { registry, signer } = parts;
  const work = createBackupWork(parts);
  const epoch = async () => (await lastEpoch(registry))?.epoch ?? FIRST_EPOCH;
  const runner = new BackupRunner({ ...parts, work, trusted: signer.trusted, epoch });
  const moments = new MomentRestorer({ ...parts, work, named: new NamedMoments(parts) });
  return { runner, restorer: new BackupRestorer({ ...parts, runner, work }), moments, work };
}
