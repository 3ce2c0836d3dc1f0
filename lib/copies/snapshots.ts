/**
 * Snapshots: immutable copies of a sandbox, taken in any state without waking it. They outlive it and can seed others.
 * Knows nothing of HTTP.
 */
import { type Clock, epochSeconds } from '../base/clock.ts';
import { publicMessage, WinterdockError } from '../base/errors.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type { SnapshotFilter, SnapshotRow } from '../registry/copies.ts';
import { carriedNames } from '../registry/environments.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { InstanceRow, RowPage } from '../registry/types.ts';
import { elapsedMs, requireInstance } from '../sandboxes/engine.ts';
import type { AuditContext, Sandboxes } from '../sandboxes/sandboxes.ts';
import type { ReadAnswer, ReadRequest } from '../vfs/types.ts';
import { VOLUME_CONTRACTS, VOLUMES } from '../vfs/volumes.ts';
import { DEFAULT_POLICY } from '../workers/protocol/policies.ts';
import type { Copies } from './copies.ts';
import { type SeededAs, type Seeding, seededAs } from './seeding.ts';

interface RestoreRequest extends SeededAs {
  /** Default: the snapshot's. */
  tenant?: string;
  /** 1 to 1 000; default 1. */
  count?: number;
  name?: string;
  /** Default: that of the sandbox that the snapshot was made from. */
  policy?: string;
  start?: boolean;
}

export interface Snapshots {
  /**
   * Copies what a sandbox holds at one moment: every volume that survives a resume. Stops and wakes nothing. Throws
   * `not_found`, `gone`, `corrupt`, `missing_file`, `storage_unavailable`, and `conflict` for a `:memory:` sandbox.
   */
  take(instance: InstanceId, tag: string | null, cause: AuditContext): Promise<SnapshotRow>;
  /** Throws `not_found`, also for a deleted one. */
  get(id: string): Promise<SnapshotRow>;
  /** The same, after checking that its file is present and unchanged. Throws `not_found`, `missing_file`, `corrupt`. */
  getIntact(id: string): Promise<SnapshotRow>;
  /** Answers one read of what is in it. Throws `not_found`, `missing_file`, `corrupt`. */
  read<R extends ReadRequest>(id: string, request: R): Promise<Extract<ReadAnswer, { op: R['op'] }>>;
  list(filter: SnapshotFilter, limit: number, cursor?: string): Promise<RowPage<SnapshotRow>>;
  /** Sandboxes that came from it keep what they have. Throws `not_found`. */
  delete(id: string, cause: AuditContext): Promise<void>;
  /** New sandboxes, all or none. Throws `not_found`, `conflict`, `corrupt`, `missing_file`, `validation`. */
  restore(id: string, request: RestoreRequest, cause: AuditContext): Promise<InstanceRow[]>;
}

/** The volumes in a snapshot. */
const SNAPSHOT_VOLUMES = VOLUMES.filter((volume) => VOLUME_CONTRACTS[volume].survivesResume);

/** Makes them. */
export function createSnapshots(parts: {
  clock: Clock;
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'copyOut'>;
  copies: Copies;
  seeding: Seeding;
}): Snapshots {
  const { clock, registry, sandboxes, copies, seeding } = parts;

  const get = async (id: string): Promise<SnapshotRow> => {
    const row = await registry.copies.snapshot(id);
    if (row !== null && row.deleted === null && row.momentMs === null) return row;
    throw new WinterdockError('not_found', `There is no snapshot "${id}".`);
  };

  const getIntact = async (id: string): Promise<SnapshotRow> => {
    const row = await get(id);
    await copies.requireIntact('snapshot', id, row);
    return row;
  };

  return {
    async take(instance, tag, cause) {
      const started = performance.now();
      const source = await requireInstance(parts, instance);
      let taken: SnapshotRow;
      try {
        taken = await copies.keep(
          'snapshot',
          (path) => sandboxes.copyOut(instance, path, { volumes: SNAPSHOT_VOLUMES }),
          async (content) => {
            const row: SnapshotRow = {
              ...content,
              id: newId('snap'),
              tenant: source.tenant,
              source: instance,
              tag,
              created: epochSeconds(clock),
              actor: cause.actor,
              deleted: null,
              momentMs: null,
            };
            const summary = `${row.id}, sha256:${row.hash}, ${row.bytes} bytes`;
            await registry.copies.addSnapshot(
              row,
              ledgerEntry(parts, source, cause, 'snapshot.taken', { reason: summary, tookMs: elapsedMs(started) }),
            );
            return row;
          },
        );
      } catch (error) {
        await registry.ledger.append([
          ledgerEntry(parts, source, cause, 'snapshot.failed', { error: publicMessage(error) }),
        ]);
        throw error;
      }
      const names = carriedNames(await registry.environments.of(instance));
      const owner = { kind: 'snapshot', owner: taken.id, tenant: taken.tenant } as const;
      await registry.environments.want(owner, names, { now: taken.created, actor: cause.actor });
      return taken;
    },
    get,
    getIntact,
    async read(id, request) {
      const row = await get(id);
      return copies.read('snapshot', row.hash, request, row.tenant);
    },
    list: async (filter, limit, cursor) => registry.copies.snapshots({ ...filter, isTaken: true }, limit, cursor),
    async delete(id, cause) {
      const row = await get(id);
      const entry = ledgerEntry(parts, { id: row.source, tenant: row.tenant }, cause, 'snapshot.deleted', {
        reason: id,
      });
      if (!(await registry.copies.deleteSnapshot(id, epochSeconds(clock), entry))) await get(id);
      await copies.sweep();
    },
    async restore(id, request, cause) {
      const row = await getIntact(id);
      const source = await registry.instances.get(row.source);
      return seeding.seed(
        { snapshot: id },
        {
          tenant: request.tenant ?? row.tenant,
          count: request.count ?? 1,
          name: request.name ?? null,
          policy: request.policy ?? source?.policy ?? DEFAULT_POLICY,
          lineage: { blueprint: null, snapshot: id, parent: row.source },
          // Its components' state is in the snapshot's memory.
          ...(isDockedIn(source, request.tenant ?? row.tenant) ? { docking: source } : {}),
          start: request.start ?? false,
          ...seededAs(request),
        },
        cause,
      );
    },
  };
}

/** A workbook is its tenant's own, and stays as long as a sandbox that is not deleted is docked to it. */
function isDockedIn(source: InstanceRow | null, tenant: string): source is InstanceRow {
  return source !== null && source.workbookVersion !== null && source.state !== 'deleted' && source.tenant === tenant;
}
