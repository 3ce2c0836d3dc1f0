/** Contract schemas of backups: when they are made, which are there, and what is brought back. Safe for the browser. */
import { z } from 'zod';
import { actorNameSchema } from './actors.ts';
import { instanceIdSchema, slugSchema } from './ids.ts';

const epoch = z.int().min(0).max(253_402_300_799);
const count = z.int().min(0);
const kept = z.int().min(0).max(1000);
const reason = z.string().trim().max(1000);
const cron = z.string().trim().min(1).max(200);

const BACKUP_STATES = ['asked', 'running', 'made', 'failed', 'removed'] as const;

const retentionSchema = z.strictObject({ hourly: kept, daily: kept, weekly: kept, monthly: kept });

export const backupSchema = z
  .object({
    id: z.string(),
    /** `removed`: it is no longer in its target. */
    state: z.enum(BACKUP_STATES),
    /** A folder of the server's machine, or the URL of a store. */
    target: z.string(),
    /** The time of the schedule that it is for; null: somebody asked for it. */
    planned: epoch.nullable(),
    actor: z.string(),
    actor_name: actorNameSchema,
    reason: z.string().nullable(),
    asked: epoch,
    /** Of the moment that it is of. */
    begun: epoch.nullable(),
    ended: epoch.nullable(),
    took_ms: count.nullable(),
    /** Of one under way: sandboxes copied, and how many there are. */
    progress: z.object({ done: count, all: count }).nullable(),
    /** What it would restore. */
    sandboxes: count.nullable(),
    bytes: count.nullable(),
    /** What it added to the target: the rest was there. */
    added_objects: count.nullable(),
    added_bytes: count.nullable(),
    /** How many sandboxes or copies were not sound when they were copied. */
    wrong: count.nullable(),
    /** Whether the key files are in it, encrypted. */
    keys: z.boolean(),
    /** Why it failed. */
    error: z.string().nullable(),
    /** The last time that one sandbox of it was restored to try it; `error`: what was not as it was backed up. */
    verified: z.object({ time: epoch, took_ms: count.nullable(), error: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'Backup' });
export type Backup = z.infer<typeof backupSchema>;

export const backupsQuerySchema = z.strictObject({
  state: z.enum(BACKUP_STATES).optional(),
  limit: z.coerce.number<number | string>().int().min(1).max(500).default(100),
  cursor: z.string().max(1200).optional(),
});
export type BackupsQuery = z.infer<typeof backupsQuerySchema>;

export const makeBackupSchema = z.strictObject({ reason: reason.optional() });
export type MakeBackupInput = z.infer<typeof makeBackupSchema>;

/**
 * `instance`: the sandbox to bring back; without it everything is meant, which a running server can only show. `as`: it
 * becomes a new sandbox of that id; without it, itself. `dry_run` changes nothing.
 */
export const restoreBackupSchema = z.strictObject({
  instance: instanceIdSchema.optional(),
  as: instanceIdSchema.optional(),
  reason: reason.optional(),
  dry_run: z.boolean().optional(),
});
export type RestoreBackupInput = z.infer<typeof restoreBackupSchema>;

export const backupRestoreSchema = z
  .object({
    backup: z.string(),
    /** Of the moment that the backup is of. */
    time: epoch,
    dry_run: z.boolean(),
    /**
     * What the whole backup would restore: sandboxes by state, copies, bytes; what lived in memory, is missing,
     * unsound.
     */
    holds: z.object({
      states: z.record(z.string(), count),
      copies: count,
      bytes: count,
      memory: count,
      missing: count,
      unsound: count,
      keys: z.boolean(),
    }),
    /** Of the one sandbox: what it was, what it is now (null: there is none), what becomes of what it has. */
    one: z
      .object({
        instance: slugSchema,
        as: slugSchema,
        tenant: slugSchema,
        bytes: count,
        was: z.string(),
        now: z.string().nullable(),
        /** Why it cannot be done as it is; null: it can. */
        refusal: z.string().nullable(),
        /** What was not sound when it was backed up. */
        wrong: z.string().nullable(),
      })
      .nullable(),
    /** The command that restores everything, with the server stopped. */
    command: z.string(),
  })
  .meta({ id: 'BackupRestore' });
export type BackupRestore = z.infer<typeof backupRestoreSchema>;

export const backupSettingsSchema = z
  .object({
    enabled: z.boolean(),
    target: z.string().nullable(),
    cron: z.string(),
    timezone: z.string(),
    keep: retentionSchema,
    with_keys: z.boolean(),
    trial_cron: z.string().nullable(),
    /** Whether the server has a passphrase to encrypt key files with. */
    has_passphrase: z.boolean(),
    /** When the next backup is due; null: none is. */
    next: epoch.nullable(),
    /** Of the moment that the newest backup is of; null: there is none. */
    last: epoch.nullable(),
    /** What is wrong with backups now; null: nothing. */
    fault: z.object({ kind: z.enum(['failed', 'overdue', 'trial']), since: epoch, reason: z.string() }).nullable(),
  })
  .meta({ id: 'BackupSettings' });
export type BackupSettingsAnswer = z.infer<typeof backupSettingsSchema>;

/** What is absent stays as it is. `target`: an absolute path outside the data folder, or the URL of a store. */
export const putBackupSettingsSchema = z.strictObject({
  enabled: z.boolean().optional(),
  target: z.string().trim().min(1).max(2000).nullable().optional(),
  cron: cron.optional(),
  timezone: z.string().trim().min(1).max(100).optional(),
  keep: retentionSchema.optional(),
  with_keys: z.boolean().optional(),
  trial_cron: cron.nullable().optional(),
});
export type PutBackupSettingsInput = z.infer<typeof putBackupSettingsSchema>;
