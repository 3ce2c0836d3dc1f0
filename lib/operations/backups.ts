/**
 * Operations on backups: when they are made, which are there, and what is brought back. Each change is a ledger line.
 */
import type { ActorDirectory } from '../auth/actor-directory.ts';
import type { Caller } from '../auth/caller.ts';
import {
  type BackupSettings,
  readBackupFault,
  readBackupSettings,
  writeBackupSettings,
} from '../backup/backup-settings.ts';
import { hasBackupPassphrase } from '../backup/backup-tasks.ts';
import { nextBackup } from '../backup/due.ts';
import { parseBackupTarget } from '../backup/open-place.ts';
import type { BackupRestorer } from '../backup/restore-beside.ts';
import type { MomentRestorer } from '../backup/restore-moment.ts';
import type { BackupRunner } from '../backup/runner.ts';
import type { BackupWork } from '../backup/work.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import type {
  Backup,
  BackupRestore,
  BackupSettingsAnswer,
  BackupsQuery,
  MakeBackupInput,
  PutBackupSettingsInput,
  RestoreBackupInput,
} from '../contract/schema/backups.ts';
import type { BackupRecord } from '../registry/backups.ts';
import { readCursor, writeCursor } from '../registry/cursor.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { requireTiming } from '../schedules/timing.ts';
import { withActorName, withActorNames } from './actor-names.ts';
import { auditContextOf } from './audit-context.ts';
import type { ListPage } from './list-page.ts';

export interface BackupOperations {
  /** Newest first. */
  listBackups(caller: Caller, query: BackupsQuery): Promise<ListPage<Backup>>;
  getBackup(caller: Caller, id: string): Promise<Backup>;
  /** Answers once it is asked for: it is made in the background. */
  makeBackup(caller: Caller, input: MakeBackupInput): Promise<Backup>;
  /** Restores one drawn sandbox of it to a folder that is removed again. */
  verifyBackup(caller: Caller, id: string): Promise<Backup>;
  /** Brings one sandbox back, or says what a restore would do. */
  restoreBackup(caller: Caller, id: string, input: RestoreBackupInput): Promise<BackupRestore>;
  backupSettings(caller: Caller): Promise<BackupSettingsAnswer>;
  putBackupSettings(caller: Caller, input: PutBackupSettingsInput): Promise<BackupSettingsAnswer>;
}

export interface BackupEngine {
  runner: BackupRunner;
  restorer: BackupRestorer;
  moments: MomentRestorer;
  work: BackupWork;
}

export function backupOperations(parts: {
  auth: { actors: ActorDirectory };
  backups: BackupEngine;
  clock: Clock;
  config: Pick<Config, 'backupPassphrase' | 'dataFolder' | 'keysFolder'>;
  registry: Registry;
}): BackupOperations {
  const { backups, clock, config, registry } = parts;
  const { actors } = parts.auth;
  const { facts } = registry;
  const { runner, restorer, work } = backups;

  const rowOf = async (id: string): Promise<BackupRecord> => {
    const row = await registry.backups.get(id);
    if (row === null) throw new WinterdockError('not_found', `There is no backup "${id}".`);
    return row;
  };
  const shown = (row: BackupRecord): Promise<Backup> => withActorName(actors, 'actor', backupOf(row));
  const settingsAnswer = async (): Promise<BackupSettingsAnswer> => {
    const settings = await readBackupSettings(facts);
    const history = await runner.historyOf(settings);
    const { enabled, target, cron, timezone, keep, withKeys, trialCron } = settings;
    return {
      enabled,
      target,
      cron,
      timezone,
      keep,
      with_keys: withKeys,
      trial_cron: trialCron,
      has_passphrase: hasBackupPassphrase(config, config.backupPassphrase),
      next: nextBackup(settings, history, epochSeconds(clock)),
      last: history.made === null ? null : Math.floor((history.made.begunMs ?? 0) / 1000),
      fault: await readBackupFault(facts),
    };
  };

  return {
    async listBackups(_caller, { state, limit, cursor }) {
      const before = cursor === undefined ? undefined : readCursor(cursor, isPosition)[0];
      const rows = await registry.backups.list(limit + 1, {
        ...(before === undefined ? {} : { before }),
        ...(state === undefined ? {} : { states: [state] }),
      });
      const items = await withActorNames(actors, 'actor', rows.slice(0, limit).map(backupOf));
      const last = items.at(-1);
      return { items, next: rows.length > limit && last !== undefined ? writeCursor([last.id]) : null };
    },

    getBackup: async (_caller, id) => shown(await rowOf(id)),

    async makeBackup(caller, { reason }) {
      const row = await runner.ask(auditContextOf(caller, reason));
      runner.changed();
      return shown(row);
    },

    verifyBackup: async (caller, id) => shown(await runner.try(await rowOf(id), auditContextOf(caller))),

    async restoreBackup(caller, id, { instance, as, reason, dry_run: dry = false }) {
      const row = await rowOf(id);
      if (instance === undefined && as !== undefined) throw invalid('instance', 'is needed with as');
      if (!dry && instance === undefined) {
        throw new WinterdockError('conflict', 'Everything is restored while the server is stopped.', {
          hint: `Stop it, then run: ${commandOf(row)}`,
        });
      }
      if (!dry && (reason ?? '') === '') throw invalid('reason', 'is needed');
      const preview = await restorer.preview(row, instance ?? null, as ?? null);
      const { holds, there, refusal } = preview;
      const done =
        dry || instance === undefined
          ? null
          : await restorer.restore(row, instance, as ?? null, auditContextOf(caller, reason));
      const { instance: one, ...all } = holds;
      const states = Object.fromEntries(Object.entries(all.states).map(([state, n]) => [state, n ?? 0]));
      return {
        backup: id,
        time: Math.floor((row.begunMs ?? 0) / 1000),
        dry_run: dry,
        holds: { ...all, states },
        one:
          one === null || instance === undefined
            ? null
            : {
                instance,
                as: as ?? instance,
                tenant: one.tenant,
                bytes: one.bytes,
                was: one.state,
                now: (done ?? there)?.state ?? null,
                refusal: refusal === null ? null : [refusal.message, refusal.hint].filter(Boolean).join(' '),
                wrong: one.wrong,
              },
        command: commandOf(row),
      };
    },

    backupSettings: settingsAnswer,

    async putBackupSettings(caller, input) {
      const before = await readBackupSettings(facts);
      const after = changed(before, input, config);
      requireTiming({ cron: after.cron, at: null, repeat: null, timezone: after.timezone });
      if (after.trialCron !== null) {
        requireTiming({ cron: after.trialCron, at: null, repeat: null, timezone: after.timezone });
      }
      if (after.enabled && after.target === null) throw invalid('target', 'is needed for a schedule');
      if (after.withKeys && !hasBackupPassphrase(config, config.backupPassphrase)) {
        throw invalid('with_keys', 'needs a passphrase: WB_BACKUP_PASSPHRASE, or the file backup-passphrase.txt');
      }
      // A place that cannot be written to, or is another's, is refused before anything relies on it.
      if (after.target !== null && after.target !== before.target) {
        await work.run({ kind: 'look', target: after.target, owner: await runner.ownerOf(after.target) });
      }
      const isNewTime =
        after.cron !== before.cron ||
        after.timezone !== before.timezone ||
        after.target !== before.target ||
        (after.enabled && !before.enabled);
      const kept: BackupSettings = { ...after, changed: isNewTime ? epochSeconds(clock) : before.changed };
      const said = Object.keys(input).join(' ');
      const line = ledgerEntry(parts, null, auditContextOf(caller, said), 'settings.backups_changed');
      await writeBackupSettings(facts, kept, line, clock);
      runner.changed();
      return settingsAnswer();
    },
  };
}

const isPosition = (position: unknown[]): position is [string] =>
  position.length === 1 && typeof position[0] === 'string';

function changed(
  before: BackupSettings,
  input: PutBackupSettingsInput,
  config: Pick<Config, 'dataFolder'>,
): BackupSettings {
  const { enabled, target, cron, timezone, keep, with_keys: withKeys, trial_cron: trialCron } = input;
  return {
    ...before,
    ...(enabled === undefined ? {} : { enabled }),
    ...(target === undefined ? {} : { target: target === null ? null : parseBackupTarget(target, config) }),
    ...(cron === undefined ? {} : { cron }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(keep === undefined ? {} : { keep }),
    ...(withKeys === undefined ? {} : { withKeys }),
    ...(trialCron === undefined ? {} : { trialCron }),
  };
}

function invalid(path: string, message: string): WinterdockError {
  return new WinterdockError('validation', `${path} ${message}.`, { extra: { errors: [{ path, message }] } });
}

/** What restores the whole of it on an empty machine. */
function commandOf({ target, begunMs }: BackupRecord): string {
  const at = new Date(begunMs ?? 0).toISOString();
  return `npm run restore -- --all --from ${/^[\w:./@+-]+$/.test(target) ? target : JSON.stringify(target)} --at ${at}`;
}

const secondsOf = (ms: number | null) => (ms === null ? null : Math.floor(ms / 1000));

function backupOf(row: BackupRecord): Omit<Backup, 'actor_name'> {
  const { id, state, target, planned, actor, reason, sandboxes, bytes, wrong, keys, error } = row;
  const { begunMs, endedMs, verifiedMs } = row;
  return {
    id,
    state,
    target,
    planned,
    actor,
    reason,
    asked: Math.floor(row.askedMs / 1000),
    begun: secondsOf(begunMs),
    ended: secondsOf(endedMs),
    took_ms: begunMs === null || endedMs === null ? null : Math.max(0, endedMs - begunMs),
    progress: state === 'running' ? { done: row.done, all: row.total } : null,
    sandboxes,
    bytes,
    added_objects: row.addedObjects,
    added_bytes: row.addedBytes,
    wrong,
    keys,
    error,
    verified:
      verifiedMs === null
        ? null
        : { time: Math.floor(verifiedMs / 1000), took_ms: row.verifiedTookMs, error: row.verifiedError },
  };
}
