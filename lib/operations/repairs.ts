/**
 * Operations on damaged files: the raw bytes, salvage, and putting a snapshot or a moment of the replica in their
 * place; and new sandboxes of moments.
 */
import type { Caller } from '../auth/caller.ts';
import type { WhichMoment } from '../backup/restore-moment.ts';
import type { Clock } from '../base/clock.ts';
import { type InstanceId, newId } from '../base/ids.ts';
import type {
  FromMomentInput,
  RawQuery,
  RestoreInstanceInput,
  SalvageInput,
  UndoRestoreInput,
} from '../contract/schema/repairs.ts';
import type { Instance, Restored, RestoredMoment, SalvageAnswer } from '../contract/schema.ts';
import type { Repairs } from '../copies/repairs.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sandboxes } from '../sandboxes/sandboxes.ts';
import { auditContextOf } from './audit-context.ts';
import type { BackupEngine } from './backups.ts';
import { endOfMoment } from './moments.ts';
import { createInstanceSerializer } from './serializer.ts';
import type { SizedStream } from './streams.ts';

/** What is known of raw bytes before the first of them goes. */
interface RawFacts {
  name: string;
  bytes: number;
  sha256: string;
  logBytes: number;
}

export interface RepairOperations {
  /** The file of a sandbox that is not awake, or the log beside it, byte for byte. Wakes and opens nothing. */
  raw(
    caller: Caller,
    id: InstanceId,
    query: RawQuery,
    signal?: AbortSignal,
  ): Promise<{ facts: RawFacts; outgoing: SizedStream }>;
  /** A new sandbox of what is readable of its file, and what is not. Its file is left as it is. */
  salvage(caller: Caller, id: InstanceId, input: SalvageInput, signal?: AbortSignal): Promise<SalvageAnswer>;
  /**
   * Puts a snapshot, or one of its moments, in the place of its file; what was there is kept aside. It keeps its state
   * and loses its fault. With a moment it answers what undoes it.
   */
  restoreInstance(caller: Caller, id: InstanceId, input: RestoreInstanceInput): Promise<Restored>;
  /** Brings back what the last restore to a moment replaced; the next one undoes the restore before. */
  undoRestore(caller: Caller, id: InstanceId, input: UndoRestoreInput): Promise<RestoredMoment>;
  /** A new sandbox of what one had at a moment of the replica; a deleted one too. */
  instanceFromMoment(caller: Caller, id: InstanceId, input: FromMomentInput): Promise<Instance>;
}

export function repairOperations(parts: {
  registry: Registry;
  sandboxes: Pick<Sandboxes, 'live'>;
  clock: Clock;
  repairs: Repairs;
  backups: Pick<BackupEngine, 'moments'>;
}): RepairOperations {
  const { repairs } = parts;
  const { moments } = parts.backups;
  const { serialize } = createInstanceSerializer(parts);
  const restored = async ({
    row,
    usedMs,
    undo,
  }: Awaited<ReturnType<typeof moments.undo>>): Promise<RestoredMoment> => ({
    instance: await serialize(row),
    used: usedMs / 1000,
    undo: undo === null ? null : { moment: undo },
  });
  return {
    raw: (caller, id, { part, reason }, signal) => repairs.raw(id, part, auditContextOf(caller, reason), signal),
    async salvage(caller, id, { id: own, name, reason }, signal) {
      const made = { id: own ?? newId('sb'), name: name ?? null };
      const { row, salvaged } = await repairs.salvage(id, made, auditContextOf(caller, reason), signal);
      return {
        instance: await serialize(row),
        recovered: salvaged.recovered,
        recovered_bytes: salvaged.recoveredBytes,
        lost: salvaged.lost,
        lost_count: salvaged.lostCount,
        list: salvaged.list,
      };
    },
    async restoreInstance(caller, id, { snapshot, time, moment, reason }) {
      const audit = auditContextOf(caller, reason);
      if (snapshot !== undefined) return serialize(await repairs.restore(id, snapshot, audit));
      return restored(await moments.restore(id, whichMoment({ time, moment }), audit));
    },
    undoRestore: async (caller, id, { reason }) => restored(await moments.undo(id, auditContextOf(caller, reason))),
    async instanceFromMoment(caller, id, { time, moment, name = null, tenant = null, reason }) {
      const which = whichMoment({ time, moment });
      return serialize(await moments.fromMoment(id, which, { name, tenant }, auditContextOf(caller, reason)));
    },
  };
}

function whichMoment({ time, moment }: { time?: number | undefined; moment?: string | undefined }): WhichMoment {
  return moment === undefined ? { atMs: endOfMoment(time ?? 0) } : { name: moment };
}
