/**
 * Brings one sandbox back from the server's own replica while the server runs: as itself, as of a moment, or as a new
 * sandbox; and names its moments. What is replaced is kept in `orphans/`, and as a named moment, which an undo brings
 * back. Knows nothing of who may.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import { type AutomaticKind, automaticKindOf, automaticName } from '../base/moment-names.ts';
import { createFromFile } from '../bundles/create-from-file.ts';
import type { Transfers } from '../bundles/transfers.ts';
import type { NamedMoments } from '../copies/named-moments.ts';
import { momentNameTaken, type NamedMomentRow } from '../registry/copies.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow } from '../registry/types.ts';
import { beforeAllMoments } from '../replication/moments/oldest-moment.ts';
import { replicaMissing } from '../replication/no-replica.ts';
import { awake } from '../sandboxes/moves/restore.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { Drawers } from '../storage/drawer.ts';
import { moveFile, stagingFor } from '../storage/files.ts';
import type { Readers, VfsCopy } from '../vfs/types.ts';
import { VOLUMES } from '../vfs/volumes.ts';
import { rowFromBackup } from './restore-one.ts';
import type { BackupAnswers, BackupWork } from './work.ts';

export interface MomentRestorerParts {
  clock: Clock;
  config: Pick<Config, 'dataFolder' | 'store'>;
  drawers: Pick<Drawers, 'snapshot'>;
  named: NamedMoments;
  readers: Pick<Readers, 'check' | 'copy' | 'read'>;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'copyOut' | 'fileMade' | 'live' | 'past' | 'restore'>;
  transfers: Pick<Transfers, 'withFolder'>;
  work: BackupWork;
}

/** Which moment is meant: the newest one up to a time (epoch milliseconds; null: now), or a named one. */
export type WhichMoment = { atMs: number | null } | { name: string };

/** A moment whose file was made. */
type Taken = BackupAnswers['moment'] & {
  /** What it was taken from, as the ledger says it. */
  source: string;
};

interface RestoredMoment {
  row: InstanceRow;
  /** Of the moment, in epoch milliseconds. */
  usedMs: number;
  /** The name of the moment that brings back what it had; null: nothing of that could be kept. */
  undo: string | null;
}

export class MomentRestorer {
  readonly #parts: MomentRestorerParts;

  constructor(parts: MomentRestorerParts) {
    this.#parts = parts;
  }

  /**
   * Replaces the file of a sandbox that is not awake by a moment of it. What it had is a named moment then, which
   * `undo` names, unless its file is damaged or missing. Throws `moment_gone`, `not_found`, `conflict` without a
   * replica and for one that is awake, `not_replicated` when the replica lacks something of what it has, `gone`,
   * `corrupt`, `quota_exceeded`, `storage_unavailable`; then its file is unchanged.
   */
  async restore(id: InstanceId, which: WhichMoment, cause: AuditContext): Promise<RestoredMoment> {
    return this.#restore(await this.#living(id), which, 'before-restore', cause);
  }

  /**
   * Undoes the last restore that was not undone yet: brings back what it replaced. Throws `conflict` when there is
   * none, and what `restore` throws.
   */
  async undo(id: InstanceId, cause: AuditContext): Promise<RestoredMoment> {
    const there = await this.#living(id);
    const last = (await this.#parts.named.of(id)).find(({ tag }) => automaticKindOf(tag) === 'before-restore');
    if (last === undefined) {
      throw new WinterdockError('conflict', `There is no restore of "${id}" to a moment that could be undone.`, {
        hint: 'Restore it to one of its moments instead.',
      });
    }
    const restored = await this.#restore(there, { name: last.tag }, 'before-undo', cause);
    // The next undo takes the one before. One that is left by a failure brings back the same once more.
    if ((await this.#parts.named.find(id, last.tag)) !== null) await this.#parts.named.remove(id, last.tag, cause);
    return restored;
  }

  /**
   * Makes a new sandbox of what another one, a deleted one too, had at a moment. Returns its row. Throws `moment_gone`,
   * `not_found`, `conflict` without a replica or for a taken name, `corrupt`, `quota_exceeded`.
   */
  async fromMoment(
    id: InstanceId,
    which: WhichMoment,
    { name, tenant }: { name: string | null; tenant: string | null },
    cause: AuditContext,
  ): Promise<InstanceRow> {
    const source = await this.#rowOf(id);
    const made = { ...rowFromBackup(source, { id: newId('sb'), isNew: true }), name, lineageParent: id };
    if (tenant !== null && tenant !== source.tenant)
      Object.assign(made, { tenant, workbook: null, workbookVersion: null });
    return this.#taking(source, which, true, cause, ({ path, sha256, timeMs, source: from }) => {
      const what = `"${id}", ${from} as of ${new Date(timeMs).toISOString()}`;
      const line = ledgerEntry(this.#parts, made, cause, 'replica.placed', {
        to: 'created',
        reason: cause.reason === null ? what : `${cause.reason} (${what})`,
      });
      const { dataFolder } = this.#parts.config;
      return createFromFile({ ...this.#parts, dataFolder }, path, sha256, made, line);
    });
  }

  /**
   * Names the newest moment of a sandbox up to `atMs`; null: now, once that is shipped, or at once where it is not
   * shipped as it is now. The same moment once more changes nothing. Throws `conflict` for a name of another moment,
   * one moment too many and, of another time than now, a server without a replica, `moment_gone`, `not_replicated`,
   * `gone`, `not_found`, `quota_exceeded`.
   */
  async name(id: InstanceId, name: string, atMs: number | null, cause: AuditContext): Promise<NamedMomentRow> {
    try {
      return await this.#name(id, name, atMs, cause);
    } catch (error) {
      // Somebody may have named the same moment meanwhile.
      if (atMs === null || !isNameTaken(error)) throw error;
      return this.#name(id, name, atMs, cause);
    }
  }

  async #name(id: InstanceId, name: string, atMs: number | null, cause: AuditContext): Promise<NamedMomentRow> {
    const there = await this.#living(id);
    const { clock, named } = this.#parts;
    const known = await named.find(id, name);
    if (known !== null) {
      if (atMs === null) throw momentNameTaken({ tag: name, source: id });
      if (known.momentMs !== atMs && known.momentMs !== (await this.#parts.sandboxes.past.open(id, atMs, timeOf)))
        throw momentNameTaken({ tag: name, source: id });
      return known;
    }
    if (atMs !== null) return this.#keepMoment(there, name, atMs, cause);
    if (!this.#isShipped(there)) return this.#keepPresent(there, { name, timeMs: clock.now() }, cause);
    const shippedMs = await this.#parts.sandboxes.past.shipped(id);
    // What rests is copied here. What is awake goes on, so its moment is that of the replica.
    if (there.state === 'active') {
      return this.#keepMoment(there, name, null, cause);
    }
    return this.#keepPresent(there, { name, timeMs: shippedMs }, cause);
  }

  /** Throws `not_found`. */
  async remove(id: InstanceId, name: string, cause: AuditContext): Promise<void> {
    await this.#rowOf(id);
    await this.#parts.named.remove(id, name, cause);
  }

  async #restore(
    there: InstanceRow,
    which: WhichMoment,
    kind: AutomaticKind,
    cause: AuditContext,
  ): Promise<RestoredMoment> {
    const { id } = there;
    const { named, sandboxes } = this.#parts;
    if (there.state === 'active') throw awake(there);
    return this.#taking(there, which, false, cause, async ({ path, sha256, bytes, timeMs, source }) => {
      const before = await this.#rowOf(id);
      if (before.state === 'active') throw awake(before);
      const kept = await this.#keepReplaced(before, kind, cause);
      const name = `${source} as of ${new Date(timeMs).toISOString()}`;
      try {
        const { generation } = before;
        const row = await sandboxes.restore(id, { name, hash: sha256, bytes, file: path, generation }, cause);
        await named.trim(id, cause);
        return { row, usedMs: timeMs, undo: kept?.tag ?? null };
      } catch (error) {
        // One that stays is one of the server's own, which go by themselves.
        if (kept !== null) await named.remove(id, kept.tag, cause).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Keeps what a restore is about to replace; null: there is nothing, or it is damaged. */
  async #keepReplaced(row: InstanceRow, kind: AutomaticKind, cause: AuditContext): Promise<NamedMomentRow | null> {
    const { clock, named } = this.#parts;
    const { id } = row;
    if (row.fault !== null || row.vfsPath === null) return null;
    const timeMs = this.#isShipped(row) ? await this.#parts.sandboxes.past.shipped(id) : clock.now();
    for (;;) {
      const taken = (await named.of(id)).map(({ tag }) => tag);
      const name = automaticName(kind, clock.now(), taken);
      try {
        return await this.#keepPresent(row, { name, timeMs }, cause);
      } catch (error) {
        if (isWinterdockError(error) && (error.code === 'corrupt' || error.code === 'missing_file')) return null;
        // Another restore of it is under way. Which of them comes first is for its row to say.
        if (!isNameTaken(error)) throw error;
      }
    }
  }

  /** Whether the replica gets what a sandbox has now: what it does not is on this machine alone, as a copy of it is. */
  #isShipped(row: InstanceRow): boolean {
    if (row.state === 'created' || this.#parts.config.store.replica === null) return false;
    const { replicate } = this.#parts.sandboxes.live(row).replica;
    return replicate !== 'off' && !(replicate === 'filed' && row.state === 'active');
  }

  /** Keeps what a sandbox at rest has now. */
  async #keepPresent(
    row: InstanceRow,
    moment: { name: string; timeMs: number },
    cause: AuditContext,
  ): Promise<NamedMomentRow> {
    const { named, sandboxes } = this.#parts;
    const copy = async (path: string): Promise<VfsCopy> => {
      const copied = await sandboxes.copyOut(row.id, path, { volumes: VOLUMES });
      const { state, generation } = await this.#rowOf(row.id);
      if (state === row.state && generation === row.generation) return copied;
      throw new WinterdockError('conflict', `The sandbox "${row.id}" has moved on meanwhile.`, { hint: 'Try again.' });
    };
    return named.keep(row, moment, copy, cause);
  }

  /** Keeps the newest moment up to a time; null: the newest there is. */
  #keepMoment(row: InstanceRow, name: string, atMs: number | null, cause: AuditContext): Promise<NamedMomentRow> {
    const { config, named, readers } = this.#parts;
    return this.#taking(row, { atMs }, false, cause, ({ path, sha256, bytes, timeMs }) => {
      const move = async (target: string): Promise<VfsCopy> => {
        await moveFile(path, target, stagingFor(config.dataFolder, target));
        const { volumes } = await readers.read({ path: target, mode: 'rest' }, { op: 'volumes' }, row.tenant);
        return { sha256, bytes, volumes };
      };
      return named.keep(row, { name, timeMs }, move, cause);
    });
  }

  async #living(id: InstanceId): Promise<InstanceRow> {
    const row = await this.#rowOf(id);
    if (row.state !== 'deleted') return row;
    throw new WinterdockError('gone', `The sandbox "${id}" was deleted, and an id is never used again.`, {
      hint: 'Make a new sandbox from its moment.',
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
    which: WhichMoment,
    isNew: boolean,
    cause: AuditContext,
    use: (taken: Taken) => Promise<T>,
  ): Promise<T> {
    const { registry, transfers } = this.#parts;
    try {
      return await transfers.withFolder(cause.actor, async (folder) =>
        use(await this.#take(row, which, folder, isNew)),
      );
    } catch (error) {
      await registry.ledger.append([
        ledgerEntry(this.#parts, row, cause, 'replica.restore_failed', { error: publicMessage(error) }),
      ]);
      throw error;
    }
  }

  /** The newest moment up to a time is one of the replica, or a named one that is newer than those. */
  async #take(row: InstanceRow, which: WhichMoment, folder: string, isNew: boolean): Promise<Taken> {
    const { named } = this.#parts;
    if ('name' in which) {
      const moment = await named.get(row.id, which.name);
      return this.#takeNamed(moment, folder, isNew).catch((error: unknown) =>
        this.#insteadOf(row, moment, folder, isNew, error),
      );
    }
    const { atMs } = which;
    const all = await named.of(row.id);
    const newest = all.find(({ momentMs }) => atMs === null || momentMs <= atMs);
    const isOnly = this.#parts.config.store.replica === null;
    if (isOnly && newest === undefined) throw beforeAllMoments(row.id, atMs, all, null);
    if (newest !== undefined && (isOnly || newest.momentMs === atMs))
      return this.#take(row, { name: newest.tag }, folder, isNew);
    try {
      const taken = await this.#takeFromReplica(row, atMs, folder, isNew);
      if (newest === undefined || taken.timeMs >= newest.momentMs) return taken;
    } catch (error) {
      if (!isWinterdockError(error) || error.code !== 'moment_gone') throw error;
      if (newest === undefined) throw beforeAllMoments(row.id, atMs, all, error);
    }
    return this.#take(row, { name: newest.tag }, folder, isNew);
  }

  async #takeFromReplica(row: InstanceRow, atMs: number | null, folder: string, isNew: boolean): Promise<Taken> {
    const { config, work } = this.#parts;
    const { replica } = config.store;
    if (replica === null) throw replicaMissing();
    const whose = { instance: row.id, tenant: row.tenant };
    const taken = await work.run({ kind: 'moment', url: replica.url, ...whose, atMs, folder, isNew });
    return { ...taken, source: 'replica' };
  }

  /** A copy of the file of a named moment; for a new sandbox without the identity of its source. */
  async #takeNamed({ hash, momentMs, tag }: NamedMomentRow, folder: string, isNew: boolean): Promise<Taken> {
    const { drawers, readers } = this.#parts;
    const path = join(folder, 'named.sqlite');
    await drawers.snapshot.fetch(hash, path);
    const { sha256 } = await readers.check(path, { urgent: true });
    if (sha256 !== hash) throw new WinterdockError('corrupt', `The file of the moment "${tag}" is not what was kept.`);
    const source = `moment "${tag}"`;
    if (!isNew) return { path, sha256, bytes: (await stat(path)).size, timeMs: momentMs, source };
    const rebuilt = join(folder, 'named-rebuilt.sqlite');
    const copy = await readers.copy({ path, mode: 'rest' }, rebuilt, { volumes: VOLUMES });
    return { path: rebuilt, sha256: copy.sha256, bytes: copy.bytes, timeMs: momentMs, source };
  }

  /** The same moment of the replica, where that has it still. */
  async #insteadOf(
    row: InstanceRow,
    { momentMs }: NamedMomentRow,
    folder: string,
    isNew: boolean,
    error: unknown,
  ): Promise<Taken> {
    if (!isWinterdockError(error) || (error.code !== 'corrupt' && error.code !== 'missing_file')) throw error;
    if (this.#parts.config.store.replica === null) throw error;
    const instead = await this.#takeFromReplica(row, momentMs, folder, isNew).catch(() => null);
    if (instead?.timeMs === momentMs) return instead;
    throw error;
  }
}

/** Not for one moment too many, nor for a sandbox that moves. */
const isNameTaken = (error: unknown): boolean => isWinterdockError(error) && error.extra.taken !== undefined;

const timeOf = async ({ timeMs }: { timeMs: number }) => timeMs;
