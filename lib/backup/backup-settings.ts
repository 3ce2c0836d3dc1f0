/** When and where the server makes backups, and which it keeps: a value of the registry. Knows no server. */
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { epochSeconds } from '../base/clock.ts';
import { newToken } from '../registry/owner.ts';
import type { Registry } from '../registry/registry.ts';
import type { LedgerEntry } from '../registry/types.ts';
import type { Retention } from './retention.ts';

const SETTINGS = 'backup_settings';
const FAULT = 'backup_fault';
/** The fact with the id of the installation. */
export const INSTALLATION = 'installation';
const ISSUERS = 'backup_issuers';
const MOST_ISSUERS = 50;

const count = z.int().min(0).max(1000);
const settingsSchema = z.object({
  enabled: z.boolean(),
  target: z.string().nullable(),
  cron: z.string(),
  timezone: z.string(),
  keep: z.object({ hourly: count, daily: count, weekly: count, monthly: count }),
  withKeys: z.boolean(),
  trialCron: z.string().nullable(),
  changed: z.int().min(0),
});

export interface BackupSettings {
  /** Whether the schedule makes backups. */
  enabled: boolean;
  /** Absolute path of a folder, or the URL of a store; null: none was named yet. */
  target: string | null;
  /** When a backup is due: five or six fields. */
  cron: string;
  timezone: string;
  keep: Retention;
  /** Whether the key files go with it, encrypted. */
  withKeys: boolean;
  /** When one sandbox is restored to try a backup; null: never by itself. */
  trialCron: string | null;
  /** Epoch seconds of when the schedule became what it is. */
  changed: number;
}

export const FIRST_SETTINGS: BackupSettings = {
  enabled: false,
  target: null,
  cron: '15 * * * *',
  timezone: 'UTC',
  keep: { hourly: 24, daily: 14, weekly: 8, monthly: 12 },
  withKeys: false,
  trialCron: '45 4 * * *',
  changed: 0,
};

type Facts = Pick<Registry, 'facts'>['facts'];

/** Those of the registry. Throws what it throws; a value that is none of this version is as if none were there. */
export async function readBackupSettings(facts: Facts): Promise<BackupSettings> {
  return settingsSchema.catch(FIRST_SETTINGS).parse((await facts.read(SETTINGS)) ?? FIRST_SETTINGS);
}

export async function writeBackupSettings(facts: Facts, settings: BackupSettings, line: LedgerEntry, clock: Clock) {
  await facts.write(SETTINGS, settings, epochSeconds(clock), line);
}

const faultSchema = z.object({
  kind: z.enum(['failed', 'overdue', 'trial']),
  since: z.int(),
  reason: z.string(),
});

const storedFaultSchema = z.object({ fault: faultSchema.nullable() });

/**
 * What is wrong with backups now. `failed`: the last one; `overdue`: none was made when it was due; `trial`: one that
 * was tried did not come back as it was. `since` in epoch seconds.
 */
export type BackupFault = z.infer<typeof faultSchema>;

/** The one that the ledger was told of; null: nothing is wrong. */
export async function readBackupFault(facts: Facts): Promise<BackupFault | null> {
  return storedFaultSchema.catch({ fault: null }).parse((await facts.read(FAULT)) ?? { fault: null }).fault;
}

export async function writeBackupFault(facts: Facts, fault: BackupFault | null, line: LedgerEntry, clock: Clock) {
  await facts.write(FAULT, { fault }, epochSeconds(clock), line);
}

/** The random id of this installation; makes it when there is none. A restored registry has that of its backup. */
export async function installationId(facts: Facts, clock: Clock): Promise<string> {
  const known = z
    .string()
    .nullable()
    .catch(null)
    .parse(await facts.read(INSTALLATION));
  if (known !== null) return known;
  const made = newToken();
  await facts.write(INSTALLATION, made, epochSeconds(clock));
  return made;
}

const issuersSchema = z.array(z.string()).max(MOST_ISSUERS).catch([]);

/** Names of former keys whose backups count as this server's: somebody restored one of them here. */
export async function formerIssuers(facts: Facts): Promise<string[]> {
  return issuersSchema.parse((await facts.read(ISSUERS)) ?? []);
}

/** Remembers who signed a backup that was restored here. */
export async function addFormerIssuer(facts: Facts, issuer: string, clock: Clock): Promise<void> {
  const known = await formerIssuers(facts);
  if (known.includes(issuer)) return;
  await facts.write(ISSUERS, [issuer, ...known].slice(0, MOST_ISSUERS), epochSeconds(clock));
}
