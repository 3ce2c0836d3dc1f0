/**
 * Brings one sandbox back from a backup while the server runs: as itself, in the place of what it has, or as a new one.
 * What is replaced is kept in `orphans/`. Knows nothing of places, or of who may.
 */
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import { createFromFile } from '../bundles/create-from-file.ts';
import type { Transfers } from '../bundles/transfers.ts';
import type { BackupRecord } from '../registry/backups.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import { rowFromBackup } from './restore-one.ts';
import type { BackupRunner } from './runner.ts';
import type { BackupAnswers, BackupWork } from './work.ts';

export interface BackupRestorerParts {
  clock: Clock;
  config: Pick<Config, 'dataFolder'>;
  registry: Registry;
  runner: Pick<BackupRunner, 'ownerOf'>;
  sandboxes: Pick<Sandboxes, 'fileMade' | 'restore'>;
  transfers: Pick<Transfers, 'withFolder'>;
  work: BackupWork;
}

/** What a restore would do. */
export interface RestorePreview {
  holds: BackupAnswers['plan'];
  /** The row that is there under the id; null: there is none. */
  there: InstanceRow | null;
  /** Why it cannot be done as things are; null: it can. */
  refusal: WinterdockError | null;
}

export class BackupRestorer {
  readonly #parts: BackupRestorerParts;

  constructor(parts: BackupRestorerParts) {
    this.#parts = parts;
  }

  /** What a backup holds, and what bringing one sandbox of it back as `as` would meet. Changes nothing. */
  async preview(
    backup: BackupRecord,
    instance: InstanceId | null,
    as: InstanceId | null,
    signal?: AbortSignal,
  ): Promise<RestorePreview> {
    const { registry, runner, work } = this.#parts;
    requireMade(backup);
    const owner = await runner.ownerOf(backup.target);
    const task = { kind: 'plan', target: backup.target, owner, id: backup.id, instance } as const;
    const holds = await work.run(task, signal === undefined ? {} : { signal });
    if (instance === null) return { holds, there: null, refusal: null };
    const there = await registry.instances.get(as ?? instance);
    return { holds, there, refusal: refusalOf(holds, there, as) };
  }

  /**
   * Brings a sandbox back. Without `as` it is itself: its file is replaced where it is there, asleep, and it is made
   * anew where it is not. Returns its row. Throws `conflict` for one that is awake or an id that is taken, `gone` for
   * a deleted one, `not_found`, `missing_file` and `corrupt` of the backup, `storage_unavailable`.
   */
  async restore(
    backup: BackupRecord,
    instance: InstanceId,
    as: InstanceId | null,
    cause: AuditContext,
    signal?: AbortSignal,
  ): Promise<InstanceRow> {
    const { refusal, there } = await this.preview(backup, instance, as, signal);
    const about = there ?? null;
    try {
      if (refusal !== null) throw refusal;
      return await this.#parts.transfers.withFolder(cause.actor, (folder) =>
        this.#bring(backup, instance, as, cause, folder, signal),
      );
    } catch (error) {
      const { registry } = this.#parts;
      await registry.ledger.append([
        ledgerEntry(this.#parts, about, cause, 'backup.restore_failed', {
          reason: `${instance} of ${backup.id}`,
          error: publicMessage(error),
        }),
      ]);
      throw error;
    }
  }

  async #bring(
    backup: BackupRecord,
    instance: InstanceId,
    as: InstanceId | null,
    cause: AuditContext,
    folder: string,
    signal: AbortSignal | undefined,
  ): Promise<InstanceRow> {
    const { config, registry, runner, sandboxes, work } = this.#parts;
    const { id, target } = backup;
    const owner = await runner.ownerOf(target);
    const isNew = as !== null;
    const task = { kind: 'take', target, owner, id, instance, folder, isNew } as const;
    const { path, sha256, bytes, row } = await work.run(task, signal === undefined ? {} : { signal });
    const name = as ?? instance;
    const there = await registry.instances.get(name);
    if (there !== null && !isNew) {
      return sandboxes.restore(name, { name: `backup ${id}`, hash: sha256, bytes, file: path }, cause);
    }
    const from = `backup ${id}${isNew ? `, where it was "${instance}"` : ''}`;
    const made = rowFromBackup(row, { id: name, isNew });
    const line = ledgerEntry(this.#parts, { id: name, tenant: made.tenant }, cause, 'backup.placed', {
      to: 'created',
      reason: cause.reason === null ? from : `${cause.reason} (${from})`,
    });
    try {
      return await createFromFile({ ...this.#parts, dataFolder: config.dataFolder }, path, sha256, made, line);
    } catch (error) {
      if (!isWinterdockError(error) || error.field !== 'name') throw error;
      throw new WinterdockError('conflict', error.message, {
        hint: 'Restore it as a new one: it then has no name.',
        cause: error,
      });
    }
  }
}

function requireMade({ id, state }: BackupRecord): void {
  if (state === 'made') return;
  throw new WinterdockError('conflict', `The backup ${id} is ${state}: nothing can be restored from it.`);
}

function refusalOf(
  { instance }: BackupAnswers['plan'],
  there: InstanceRow | null,
  as: InstanceId | null,
): WinterdockError | null {
  if (instance?.absent != null) return new WinterdockError('not_found', instance.absent);
  if (there === null) return null;
  if (there.state === 'deleted') {
    return new WinterdockError('gone', `The sandbox "${there.id}" was deleted, and an id is never used again.`, {
      hint: 'Restore it as a new one.',
    });
  }
  if (as !== null) return new WinterdockError('conflict', `There is a sandbox "${there.id}" already.`);
  if (there.state === 'active') {
    return new WinterdockError('conflict', `The sandbox "${there.id}" is awake: its file is in use.`, {
      hint: 'Suspend it first, or restore it as a new one.',
    });
  }
  return null;
}
