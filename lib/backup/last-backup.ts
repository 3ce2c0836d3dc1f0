/** Records a backup in the registry: the last one's facts and a ledger line. Knows nothing of how it was made. */
import { basename } from 'node:path';
import { z } from 'zod';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { Thresholds } from '../registry/types.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import type { BackupManifest } from './manifest.ts';

const NAME = 'backup';

const lastBackupSchema = z.object({
  /** Epoch seconds of the moment that it holds. */
  time: z.int(),
  sandboxes: z.int(),
  bytes: z.int(),
  /** Whether the key files are in it. */
  keys: z.boolean(),
  /** How many sandboxes or copies were not sound. */
  wrong: z.int(),
  /** Name of the folder or file that it was written to. */
  to: z.string(),
});
export type LastBackup = z.infer<typeof lastBackupSchema>;

/** What is known of the last backup, or null when none was ever made of this registry. */
export async function readLastBackup(facts: Registry['facts']): Promise<LastBackup | null> {
  return lastBackupSchema
    .nullable()
    .catch(null)
    .parse(await facts.read(NAME));
}

/** What a manifest says of itself for the record; `to` is the path that it was written to. */
export function lastBackupOf(manifest: BackupManifest, to: string, wrong: number): LastBackup {
  return {
    time: Math.floor(manifest.begun_ms / 1000),
    sandboxes: manifest.rows.filter(({ state }) => state !== 'deleted').length,
    bytes: manifest.rows.reduce((sum, { object }) => sum + (object?.bytes ?? 0), manifest.registry.bytes),
    keys: manifest.keys.object !== null,
    wrong,
    to: basename(to),
  };
}

/** Keeps it in the registry. */
export async function keepLastBackup(facts: Registry['facts'], last: LastBackup, clock: Clock): Promise<void> {
  await facts.write(NAME, last, epochSeconds(clock));
}

/**
 * Records a backup in the registry, whether a server runs or not. Throws the errors of its database, and refuses one of
 * another version: a start of the server migrates it, a backup never does.
 */
export async function recordBackup(
  driver: RegistryDriver,
  last: LastBackup,
  { id, migrations }: Pick<BackupManifest, 'id' | 'migrations'>,
  clock: Clock,
  thresholds: Thresholds,
): Promise<void> {
  if (migrations !== driver.knownMigrations()) throw new Error('It is of another version of Winterdock.');
  const registry = await driver.open({ clock, thresholds });
  try {
    await keepLastBackup(registry.facts, last, clock);
    const reason = `${id}: ${last.sandboxes} sandboxes${last.keys ? ', and the key files, encrypted' : ''}`;
    await registry.ledger.append([
      ledgerEntry({ clock }, null, systemAudit('operator', 'cli'), 'backup.made', { reason }),
    ]);
  } finally {
    await registry.close();
  }
}
