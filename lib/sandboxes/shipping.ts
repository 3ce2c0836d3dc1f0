/**
 * What the rooms of sandboxes tell the replica of files (lib/replication/replica-of-files.ts). What it throws fails
 * nothing: it is logged, and the replica begins anew with the whole file, for it finds that it lacks something.
 */
import type { InstanceId } from '../base/ids.ts';
import { isThereNow } from '../base/strangers-file.ts';
import type { FileRecord, InstanceRow } from '../registry/types.ts';
import type { ReplicaOfFiles } from '../replication/replica-of-files.ts';
import { absolutePath, type Engine, livePath } from './engine.ts';
import { localAddressOf } from './files/file-locations.ts';
import { type LeftInstead, land } from './moves/live-folder-landing.ts';
import { settleFile } from './recovery/settle-file.ts';

type Context = Pick<Engine, 'replica' | 'log'>;

/** Tells the replica something. Returns what it answers; null without one, and when it failed. */
export function tellReplica<T>(engine: Context, id: InstanceId, tell: (replica: ReplicaOfFiles) => T): T | null {
  if (engine.replica === null) return null;
  try {
    return tell(engine.replica);
  } catch (error) {
    engine.log.warn({ id, err: error }, 'the replica failed');
    return null;
  }
}

/** The same of what takes the replica a while. */
export async function tellReplicaAndWait(
  engine: Context,
  id: InstanceId,
  tell: (replica: ReplicaOfFiles) => Promise<void>,
): Promise<void> {
  await tellReplica(engine, id, tell)?.catch((error: unknown) => {
    engine.log.warn({ id, err: error }, 'the replica failed');
  });
}

/**
 * Says that a process is about to open the file (absolute) of a row. Returns whether its commits are shipped: not where
 * the replica could not prepare that.
 */
export function tellOpening(engine: Context, row: InstanceRow, file: string, isNew: boolean): boolean {
  const isPrepared = tellReplica(engine, row.id, (replica) => {
    replica.opening(row, file, { isNew });
    return replica.ships(row);
  });
  return isPrepared ?? false;
}

/** Before the last process of a sandbox puts its file to rest: whether its log has another name. */
export function keepLog(engine: Context, id: InstanceId): boolean {
  const second = tellReplica(engine, id, (replica) => {
    replica.closing(id);
    return replica.secondName(id);
  });
  return second !== null;
}

/** Lands the folder of a sandbox whose processes have ended, and has what they left of the log shipped. */
export async function landShipped(engine: Engine, row: InstanceRow): Promise<LeftInstead> {
  const instead = await land(engine, row);
  await tellReplicaAndWait(engine, row.id, (replica) => replica.landed(row));
  return instead;
}

/**
 * After a process has closed the file: recovers the log that it left beside it, where the replica had given that no
 * other name. Returns the identity of the file then; null when it left none.
 */
export async function settleLeftLog(engine: Engine, row: InstanceRow): Promise<string | null> {
  if (engine.replica === null || !isThereNow(`${absolutePath(engine, livePath(row.id))}-wal`)) return null;
  return settleFile(engine, row);
}

/** Says that a file is at rest, where its row says, by default with the row's record. */
export function tellRested(engine: Engine, row: InstanceRow, file: FileRecord | null = row.file): void {
  const address = localAddressOf(engine, row.vfsPath) ?? livePath(row.id);
  tellReplica(engine, row.id, (replica) => replica.rested(row, address, file));
}
