/**
 * Brings one sandbox back from the server's own replica while the server runs: as itself, as of a moment, or as a new
 * sandbox. What is replaced is kept in `orphans/`. Knows nothing of who may.
 */
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import { createFromFile } from '../bundles/create-from-file.ts';
import type { Transfers } from '../bundles/transfers.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { replicaMissing } from '../replication/no-replica.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import { rowFromBackup } from './restore-one.ts';
import type { BackupAnswers, BackupWork } from './work.ts';

export interface MomentRestorerParts {
  clock: Clock;
  config: Pick<Config, 'dataFolder' | 'store'>;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'fileMade' | 'live' | 'restore'>;
  transfers: Pick<Transfers, 'withFolder'>;
  work: BackupWork;
}

export class MomentRestorer {
  readonly #parts: MomentRestorerParts;

  constructor(parts: MomentRestorerParts) {
    this.#parts = parts;
  }

  /**
   * Replaces the file of a sandbox that is not awake by the newest moment up to `atMs` (epoch milliseconds). `usedMs`:
   * of that moment. `undoMs`: of the moment that it had, which the same way brings back; null: the replica has not all
   * of it. Throws `moment_gone`, `conflict` without a replica and for one that is awake, `gone`, `not_found`,
   * `corrupt`, `quota_exceeded`, `storage_unavailable`; then its file is unchanged.
   */
  async restore(
    id: InstanceId,
    atMs: number,
    cause: AuditContext,
  ): Promise<{ row: InstanceRow; usedMs: number; undoMs: number | null }> {
    const there = await this.#rowOf(id);
    if (there.state === 'deleted') {
      throw new WinterdockError('gone', `The sandbox "${id}" was deleted, and an id is never used again.`, {
        hint: 'Make a new sandbox from its moment.',
      });
    }
    return this.#taking(there, atMs, false, cause, async ({ path, sha256, bytes, timeMs }) => {
      const before = await this.#rowOf(id);
      const { as, behindMs, atMs: newestMs } = this.#parts.sandboxes.live(before).replica;
      const name = `replica as of ${new Date(timeMs).toISOString()}`;
      const row = await this.#parts.sandboxes.restore(id, { name, hash: sha256, bytes, file: path }, cause);
      return { row, usedMs: timeMs, undoMs: as === 'filed' && behindMs === 0 ? newestMs : null };
    });
  }

  /**
   * Makes a new sandbox of what another one, a deleted one too, had at the newest moment up to `atMs`. Returns its row.
   * Throws `moment_gone`, `conflict` without a replica or for a taken name, `not_found`, `corrupt`, `quota_exceeded`.
   */
  async fromMoment(
    id: InstanceId,
    { atMs, name, tenant }: { atMs: number; name: string | null; tenant: string | null },
    cause: AuditContext,
  ): Promise<InstanceRow> {
    const source = await this.#rowOf(id);
    const made = { ...rowFromBackup(source, { id: newId('sb'), isNew: true }), name, lineageParent: id };
    if (tenant !== null && tenant !== source.tenant)
      Object.assign(made, { tenant, workbook: null, workbookVersion: null });
    return this.#taking(source, atMs, true, cause, ({ path, sha256, timeMs }) => {
      const from = `"${id}" as of ${new Date(timeMs).toISOString()}`;
      const line = ledgerEntry(this.#parts, made, cause, 'replica.placed', {
        to: 'created',
        reason: cause.reason === null ? from : `${cause.reason} (${from})`,
      });
      const { dataFolder } = this.#parts.config;
      return createFromFile({ ...this.#parts, dataFolder }, path, sha256, made, line);
    });
  }

  async #rowOf(id: InstanceId): Promise<InstanceRow> {
    const row = await this.#parts.registry.instances.get(id);
    if (row === null) throw new WinterdockError('not_found', `There is no sandbox "${id}".`);
    return row;
  }

  /** Has the file of a moment made in a folder that is removed again. A failure is a line of the ledger. */
  async #taking<T>(
    row: InstanceRow,
    atMs: number,
    isNew: boolean,
    cause: AuditContext,
    use: (taken: BackupAnswers['moment']) => Promise<T>,
  ): Promise<T> {
    const { config, registry, transfers, work } = this.#parts;
    const { replica } = config.store;
    if (replica === null) throw replicaMissing();
    const { url } = replica;
    try {
      return await transfers.withFolder(cause.actor, async (folder) =>
        use(await work.run({ kind: 'moment', url, instance: row.id, tenant: row.tenant, atMs, folder, isNew })),
      );
    } catch (error) {
      await registry.ledger.append([
        ledgerEntry(this.#parts, row, cause, 'replica.restore_failed', { error: publicMessage(error) }),
      ]);
      throw error;
    }
  }
}
