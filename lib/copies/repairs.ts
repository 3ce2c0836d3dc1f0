/**
 * Repairs of a damaged file: download it raw, salvage what is readable into a new sandbox, or restore a snapshot in its
 * place. Owns their ledger lines; knows nothing of HTTP.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isWinterdockError, publicMessage, WinterdockError } from '../base/errors.ts';
import type { InstanceId } from '../base/ids.ts';
import type { Logger } from '../base/log.ts';
import { createFromFile } from '../bundles/create-from-file.ts';
import type { OutgoingStream, Transfers } from '../bundles/transfers.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, LedgerEntry } from '../registry/types.ts';
import { requireInstance } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { SalvageResult } from '../vfs/salvage.ts';
import type { Snapshots } from './snapshots.ts';

export type RawPart = 'file' | 'log';

/** Facts about the raw bytes, known before the first one is sent. */
export interface RawFacts {
  /** A file name; those of a sandbox's file and log match. */
  name: string;
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
  /** Bytes of the log beside the file, 0 without one. The file is complete only with it. */
  logBytes: number;
}

export interface RepairsOptions {
  config: Config;
  clock: Clock;
  log: Logger;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'copyRaw' | 'fileMade' | 'restore'>;
  snapshots: Pick<Snapshots, 'getIntact'>;
  transfers: Transfers;
}

export class Repairs {
  readonly #options: RepairsOptions;

  constructor(options: RepairsOptions) {
    this.#options = options;
  }

  /**
   * The raw file of a sandbox at rest, or the log beside it, with private volumes, deleted bytes and damage; compressed
   * when it is archived. Wakes and opens nothing. Throws `not_found` (also for a missing log), `gone`, `missing_file`,
   * `conflict`, `rate_limited`.
   */
  async raw(
    id: InstanceId,
    part: RawPart,
    cause: AuditContext,
    signal?: AbortSignal,
  ): Promise<{ facts: RawFacts; outgoing: OutgoingStream }> {
    const { transfers, sandboxes, registry } = this.#options;
    const row = await requireInstance(this.#options, id);
    const { result, outgoing } = await this.#recordingFailure(row, cause, 'raw.failed', () =>
      transfers.outbound(cause.actor, (folder) =>
        transfers.withProcess(folder, signal, async (start) => {
          const copied = await sandboxes.copyRaw(id, folder);
          const wanted = part === 'file' ? copied : copied.log;
          if (wanted === null) throw new WinterdockError('not_found', `There is no log beside the file of "${id}".`);
          const { hashed } = await (await start()).run({ kind: 'hash', file: wanted.file });
          const suffix = part === 'file' ? (copied.packed ? '.zst' : '') : (copied.log?.suffix ?? '');
          const facts: RawFacts = {
            name: `${id}.sqlite${suffix}`,
            ...hashed,
            logBytes: copied.log?.bytes ?? 0,
          };
          const what = `${facts.name}, ${facts.bytes} bytes, sha256:${facts.sha256}`;
          const reason = cause.reason === null ? what : `${cause.reason} (${what})`;
          await registry.ledger.append([
            this.#line(row, cause, 'raw.sent', { reason }),
            this.#line(row, cause, 'private.read', { reason: 'in its raw file' }),
          ]);
          return { result: facts, stream: createReadStream(wanted.file), bytes: facts.bytes };
        }),
      ),
    );
    return { facts: result, outgoing };
  }

  /**
   * Makes a new sandbox, in state `created`, from what is readable in the file of one at rest, damaged or not. The old
   * one stays as it is. Throws `not_found`, `gone`, `missing_file`, `corrupt` when nothing is readable, `conflict` (it
   * is running, the file is another's, the id or name is taken), `quota_exceeded`, `rate_limited`; then nothing is
   * made.
   */
  async salvage(
    id: InstanceId,
    made: { id: InstanceId; name: string | null },
    cause: AuditContext,
    signal?: AbortSignal,
  ): Promise<{ row: InstanceRow; salvaged: SalvageResult }> {
    const { transfers, config } = this.#options;
    const source = await requireInstance(this.#options, id);
    const limits = { maxBytes: config.maxSandboxBytes, maxFileBytes: config.maxFileBytes };
    return this.#recordingFailure(source, cause, 'salvage.failed', () =>
      transfers.withFolder(cause.actor, async (folder) => {
        const target = join(folder, 'rebuilt.sqlite');
        const salvaged = await transfers.withProcess(folder, signal, async (start) => {
          const { row, file, packed, log } = await this.#options.sandboxes.copyRaw(id, folder);
          // A log beside a cleanly filed file does not belong to it.
          const withLog = log !== null && row.file?.unsettled === true;
          const identity = row.file?.identity ?? null;
          const job = { kind: 'salvage', file, packed, folder, target, withLog, identity, limits } as const;
          return (await (await start()).run(job)).salvaged;
        });
        const taken = await transfers.hashed(target, salvaged);
        const row = await this.#createSalvaged(source, made, target, taken, cause);
        return { row, salvaged: taken };
      }),
    );
  }

  async #createSalvaged(
    source: InstanceRow,
    { id, name }: { id: InstanceId; name: string | null },
    file: string,
    salvaged: SalvageResult,
    cause: AuditContext,
  ): Promise<InstanceRow> {
    const { config, registry } = this.#options;
    const { recovered, lostCount, sha256 } = salvaged;
    const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`;
    const what = `${files(recovered)} recovered, ${lostCount} lost`;
    const row = await createFromFile(
      { ...this.#options, dataFolder: config.dataFolder },
      file,
      sha256,
      {
        id,
        tenant: source.tenant,
        name,
        ephemeral: false,
        policy: source.policy,
        keepHot: false,
        hotToWarmSeconds: null,
        idleToSuspendSeconds: null,
        idleToFreezeSeconds: null,
        labels: {},
        workbook: null,
        lineageBlueprint: null,
        lineageSnapshot: null,
        lineageParent: source.id,
      },
      this.#line({ id, tenant: source.tenant }, cause, 'instance.created', {
        to: 'created',
        reason: `salvaged from ${source.id}: ${what}`,
      }),
    );
    const outcome = `into ${id}: ${what}`;
    const reason = cause.reason === null ? outcome : `${cause.reason} (${outcome})`;
    await registry.ledger.append([this.#line(source, cause, 'instance.salvaged', { reason })]);
    return row;
  }

  /**
   * Replaces a sandbox's file with a snapshot of the same tenant; the old file is kept in `orphans/`. Throws
   * `not_found` and `conflict` for the snapshot, and what `Sessions.restore` throws.
   */
  async restore(id: InstanceId, snapshot: string, cause: AuditContext): Promise<InstanceRow> {
    const row = await requireInstance(this.#options, id);
    const { tenant, hash, bytes } = await this.#options.snapshots.getIntact(snapshot);
    if (tenant !== row.tenant) {
      throw new WinterdockError('conflict', `The snapshot "${snapshot}" is of another tenant than "${id}".`, {
        hint: 'Make a new sandbox from it instead.',
      });
    }
    return this.#options.sandboxes.restore(id, { name: snapshot, hash, bytes }, cause);
  }

  /** Runs `work`; a failure gets a ledger line of `type`. */
  async #recordingFailure<T>(row: InstanceRow, cause: AuditContext, type: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isWinterdockError(error) || error.code === 'internal') {
        this.#options.log.error({ id: row.id, err: error }, type);
      }
      await this.#options.registry.ledger.append([this.#line(row, cause, type, { error: publicMessage(error) })]);
      throw error;
    }
  }

  #line(row: Pick<InstanceRow, 'id' | 'tenant'>, cause: AuditContext, type: string, extra: Partial<LedgerEntry> = {}) {
    return ledgerEntry(this.#options, row, cause, type, extra);
  }
}
